// How the fake API server answers requests.
#include "support/fake_api_state.h"

namespace berth::testing {

void FakeApiServer::State::answer(HttpExchange& exchange) {
  const ApiRequest request{exchange.path, exchange.query, exchange.headers["authorization"], exchange.method,
                           exchange.body};
  std::function<void(const ApiRequest&)> before;
  std::function<std::optional<ApiFault>(const ApiRequest&)> first;
  {
    const std::lock_guard lock(mutex);
    before = callback;
    first = first_answer;
  }
  if (before) before(request);
  std::unique_lock lock(mutex);
  requests.push_back(request);
  changed.notify_all();
  if (first) {
    lock.unlock();
    if (const auto given = first(request)) {
      if (given->silent) return exchange.wait_until_closed();
      return exchange.respond(given->status, given->body, given->headers);
    }
    lock.lock();
  }
  const auto planned = std::find_if(faults.begin(), faults.end(), [&](const Planned& plan) {
    return plan.path == request.path && plan.watch == request.watch();
  });
  if (planned != faults.end()) {
    const ApiFault fault = planned->fault;
    faults.erase(planned);
    lock.unlock();
    if (fault.silent) return exchange.wait_until_closed();
    return exchange.respond(fault.status, fault.body, fault.headers);
  }
  if (!token.empty() && request.authorization != "Bearer " + token) {
    return exchange.respond(401, status_of(401, "Unauthorized"));
  }
  if (const auto standing = standing_faults.find(request.path); standing != standing_faults.end()) {
    const ApiFault fault = standing->second;
    lock.unlock();
    if (fault.silent) return exchange.wait_until_closed();
    return exchange.respond(fault.status, fault.body, fault.headers);
  }
  const bool is_node = exchange.path.starts_with(kNodesPath + "/");
  if (is_node && (exchange.method == "GET" || keep_node_patches)) {
    return answer_node(exchange, exchange.path.substr(kNodesPath.size() + 1));
  }
  if (exchange.method != "GET") return exchange.respond(200, "{}");
  if (!serves(exchange.path)) {
    return exchange.respond(404, status_of(404, "the server could not find the requested resource"));
  }
  if (const auto group = served.find(exchange.path); group != served.end()) {
    return exchange.respond(200, resource_list(version_of(exchange.path), group->second));
  }
  request.watch() ? watch(exchange, lock) : list(exchange, lock);
}

void FakeApiServer::State::answer_node(HttpExchange& exchange, const std::string& name) {
  const auto found = objects[kNodesPath].find(name);
  if (found == objects[kNodesPath].end())
    return exchange.respond(404, status_of(404, "node \"" + name + "\" not found"));
  if (exchange.method != "GET") {
    const json change = json::parse(exchange.body);
    json object = found->second;
    object.merge_patch(change);
    if (object["metadata"]["uid"] != found->second["metadata"]["uid"]) {
      return exchange.respond(409, status_of(409, "the UID in the precondition is not that of the object"));
    }
    put(kNodesPath, object);
  }
  exchange.respond(200, objects[kNodesPath][name].dump());
}

void FakeApiServer::State::list(HttpExchange& exchange, std::unique_lock<std::mutex>& lock) {
  std::uint64_t at = version;
  std::vector<json> items;
  if (const std::size_t continued = number(exchange.query, "continue"); continued != 0) {
    const auto found = unfinished.find(continued);
    if (found == unfinished.end() || found->second.first < oldest) {
      return exchange.respond(410, status_of(410, "The provided continue parameter is too old"));
    }
    std::tie(at, items) = std::move(found->second);
    unfinished.erase(found);
  } else {
    for (const auto& [key, object] : objects[exchange.path]) items.push_back(object);
  }
  const std::size_t limit = number(exchange.query, "limit");
  json metadata = {{"resourceVersion", std::to_string(at)}};
  if (limit > 0 && items.size() > limit) {
    const std::uint64_t next = next_list++;
    metadata["continue"] = std::to_string(next);
    const auto rest = items.begin() + static_cast<std::ptrdiff_t>(limit);
    unfinished[next] = {at, {rest, items.end()}};
    items.resize(limit);
  }
  const json page = {{"kind", kind_of(exchange.path) + "List"},
                     {"apiVersion", version_of(exchange.path)},
                     {"metadata", metadata},
                     {"items", items}};
  lock.unlock();
  exchange.respond(200, page.dump());
}

void FakeApiServer::State::watch(HttpExchange& exchange, std::unique_lock<std::mutex>& lock) {
  const std::uint64_t from = number(exchange.query, "resourceVersion");
  const bool is_gone = from < oldest;
  if (is_gone && !gone_in_stream) return exchange.respond(410, status_of(410, "too old resource version"));
  const std::size_t opened_at = log.size();
  lock.unlock();
  exchange.begin_stream();
  if (is_gone) {
    exchange.chunk(event_line("ERROR", json::parse(status_of(410, "too old resource version"))));
    return exchange.end_stream();
  }
  lock.lock();
  for (std::size_t i = 0;; ++i) {
    changed.wait(lock, [&] { return stopping || i < log.size(); });
    if (stopping) return exchange.cut();
    const Entry entry = log[i];
    const bool past = i < opened_at && (entry.kind != Entry::Kind::kEvent || entry.version <= from);
    if (entry.path != exchange.path || past) continue;
    if (!send(exchange, entry, lock)) return;
  }
}

bool FakeApiServer::State::send(HttpExchange& exchange, const Entry& entry, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  bool open = true;
  switch (entry.kind) {
    case Entry::Kind::kEnd:
      exchange.end_stream();
      open = false;
      break;
    case Entry::Kind::kCut:
      if (!entry.bytes.empty()) exchange.chunk(entry.bytes);
      exchange.cut();
      open = false;
      break;
    default:
      open = exchange.chunk(entry.bytes);
  }
  lock.lock();
  return open;
}

FakeApiServer::FakeApiServer(std::optional<ServerTls> tls) : state_(std::make_unique<State>()) {
  state_->tls = std::move(tls);
  state_->start();
}

FakeApiServer::~FakeApiServer() { stop(); }

}  // namespace berth::testing
