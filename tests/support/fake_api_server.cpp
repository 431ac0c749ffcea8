#include "support/fake_api_server.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "support/api_kinds.h"

namespace berth::testing {
namespace {

using nlohmann::json;

struct Entry {
  enum class Kind { kEvent, kBookmark, kRaw, kEnd, kCut } kind = Kind::kEvent;
  std::string path;
  std::uint64_t version = 0;
  std::string bytes;
};

std::string key_of(const json& object) {
  const json& metadata = object.at("metadata");
  const std::string name = metadata.at("name");
  return metadata.contains("namespace") ? metadata.at("namespace").get<std::string>() + "/" + name : name;
}

// "/apis/data.fluid.io/v1alpha1" of what is below it; empty for the core API.
std::string group_of(const std::string& path) {
  if (!path.starts_with("/apis/")) return {};
  return std::count(path.begin(), path.end(), '/') > 3 ? path.substr(0, path.rfind('/')) : path;
}

// "data.fluid.io/v1alpha1" of "/apis/data.fluid.io/v1alpha1/datasets".
std::string version_of(const std::string& path) {
  const std::string group = group_of(path);
  return group.empty() ? "v1" : group.substr(std::string("/apis/").size());
}

std::string event_line(const std::string& type, const json& object) {
  return json{{"type", type}, {"object", object}}.dump() + "\n";
}

std::string status_of(int code, const std::string& message) {
  return json{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"}, {"message", message}, {"code", code}}
      .dump();
}

std::size_t number(const std::map<std::string, std::string>& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? 0 : std::stoul(found->second);
}

}  // namespace

struct FakeApiServer::State {
  std::optional<ServerTls> tls;
  std::uint16_t port = 0;
  std::unique_ptr<ScriptedHttpServer> server;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool stopping = false;
  std::uint64_t version = 100;
  std::uint64_t oldest = 0;
  bool keep_node_patches = false;
  bool gone_in_stream = false;
  std::string token;
  std::map<std::string, std::map<std::string, json>> objects;                       // by path and key
  std::map<std::uint64_t, std::pair<std::uint64_t, std::vector<json>>> unfinished;  // version and items, by token
  std::uint64_t next_list = 1;
  std::vector<Entry> log;
  std::vector<ApiRequest> requests;
  struct Planned {
    std::string path;
    bool watch;
    ApiFault fault;
  };
  std::vector<Planned> faults;
  std::map<std::string, ApiFault> standing_faults;      // by path
  std::map<std::string, std::set<std::string>> served;  // resources, by the path of their group; none is empty
  std::function<void(const ApiRequest&)> callback;
  std::function<std::optional<ApiFault>(const ApiRequest&)> first_answer;

  void start() {
    server = std::make_unique<ScriptedHttpServer>([this](HttpExchange& exchange) { answer(exchange); }, tls, port);
    port = server->port();
  }

  void append(Entry entry) {
    log.push_back(std::move(entry));
    changed.notify_all();
  }

  void answer(HttpExchange& exchange);
  void put(const std::string& path, json object);
  void answer_node(HttpExchange& exchange, const std::string& name);
  void list(HttpExchange& exchange, std::unique_lock<std::mutex>& lock);
  void watch(HttpExchange& exchange, std::unique_lock<std::mutex>& lock);
  bool send(HttpExchange& exchange, const Entry& entry, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool serves(const std::string& path) const {
    const std::string group = group_of(path);
    if (group.empty()) return path == kNodesPath || path == kPodsPath || path == kClaimsPath;
    const auto found = served.find(group);
    if (found == served.end()) return false;
    return path == group || found->second.contains(path.substr(group.size() + 1));
  }
};

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

std::string FakeApiServer::url() const {
  return (state_->tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(state_->port);
}

void FakeApiServer::stop() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
  }
  state_->server.reset();
}

void FakeApiServer::restart() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = false;
  }
  state_->start();
}

void FakeApiServer::State::put(const std::string& path, json object) {
  object["metadata"]["resourceVersion"] = std::to_string(++version);
  object.emplace("kind", kind_of(path));
  object.emplace("apiVersion", version_of(path));
  auto& place = objects[path][key_of(object)];
  const char* type = place.is_null() ? "ADDED" : "MODIFIED";
  place = object;
  append({Entry::Kind::kEvent, path, version, event_line(type, object)});
}

void FakeApiServer::put(const std::string& path, json object) {
  const std::lock_guard lock(state_->mutex);
  state_->put(path, std::move(object));
}

void FakeApiServer::keep_node_patches() {
  const std::lock_guard lock(state_->mutex);
  state_->keep_node_patches = true;
}

json FakeApiServer::node(const std::string& name) const {
  const std::lock_guard lock(state_->mutex);
  const auto& nodes = state_->objects[kNodesPath];
  const auto found = nodes.find(name);
  return found == nodes.end() ? json() : found->second;
}

void FakeApiServer::remove(const std::string& path, const std::string& key) {
  const std::lock_guard lock(state_->mutex);
  json object = state_->objects[path].at(key);
  state_->objects[path].erase(key);
  object["metadata"]["resourceVersion"] = std::to_string(++state_->version);
  state_->append({Entry::Kind::kEvent, path, state_->version, event_line("DELETED", object)});
}

void FakeApiServer::remove_silently(const std::string& path, const std::string& key) {
  const std::lock_guard lock(state_->mutex);
  state_->objects[path].erase(key);
  ++state_->version;
}

void FakeApiServer::compact() {
  const std::lock_guard lock(state_->mutex);
  state_->oldest = ++state_->version;
}

void FakeApiServer::set_gone_in_stream(bool in_stream) {
  const std::lock_guard lock(state_->mutex);
  state_->gone_in_stream = in_stream;
}

void FakeApiServer::bookmark(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  const json object = {{"kind", kind_of(path)},
                       {"apiVersion", version_of(path)},
                       {"metadata", {{"resourceVersion", std::to_string(state_->version)}}}};
  state_->append({Entry::Kind::kBookmark, path, state_->version, event_line("BOOKMARK", object)});
}

void FakeApiServer::send_raw(const std::string& path, std::string bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->append({Entry::Kind::kRaw, path, 0, std::move(bytes)});
}

void FakeApiServer::end_watches(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  state_->append({Entry::Kind::kEnd, path, 0, {}});
}

void FakeApiServer::cut_watches(const std::string& path, std::string last_bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->append({Entry::Kind::kCut, path, 0, std::move(last_bytes)});
}

void FakeApiServer::serve(const std::string& group_path, const std::set<std::string>& resources) {
  const std::lock_guard lock(state_->mutex);
  for (const std::string& name : state_->served[group_path]) {
    if (resources.contains(name)) continue;
    state_->objects.erase(group_path + "/" + name);
    state_->append({Entry::Kind::kEnd, group_path + "/" + name, 0, {}});
  }
  state_->served[group_path] = resources;
  if (resources.empty()) state_->served.erase(group_path);
}

void FakeApiServer::fail_always(const std::string& path, std::optional<ApiFault> fault) {
  const std::lock_guard lock(state_->mutex);
  state_->standing_faults.erase(path);
  if (!fault) return;
  if (fault->body.empty()) fault->body = status_of(fault->status, "planned");
  state_->standing_faults[path] = std::move(*fault);
}

void FakeApiServer::fail_next(const std::string& path, ApiFault fault, bool watch) {
  const std::lock_guard lock(state_->mutex);
  if (fault.body.empty()) fault.body = status_of(fault.status, "planned");
  state_->faults.push_back({path, watch, std::move(fault)});
}

void FakeApiServer::require_token(std::string token) {
  const std::lock_guard lock(state_->mutex);
  state_->token = std::move(token);
}

void FakeApiServer::on_request(std::function<void(const ApiRequest&)> callback) {
  const std::lock_guard lock(state_->mutex);
  state_->callback = std::move(callback);
}

void FakeApiServer::answer_first(std::function<std::optional<ApiFault>(const ApiRequest&)> answer) {
  const std::lock_guard lock(state_->mutex);
  state_->first_answer = std::move(answer);
}

std::optional<json> FakeApiServer::find(const std::string& path, const std::string& key) const {
  const std::lock_guard lock(state_->mutex);
  const auto& objects = state_->objects[path];
  const auto found = objects.find(key);
  return found == objects.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ApiRequest> FakeApiServer::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

std::size_t FakeApiServer::requests(const std::string& path, bool watch) const {
  const auto all = requests();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const ApiRequest& request) {
    return request.path == path && request.watch() == watch;
  }));
}

bool FakeApiServer::wait_for_requests(const std::string& path, bool watch, std::size_t count) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::seconds(30), [&] {
    const auto found = std::count_if(state_->requests.begin(), state_->requests.end(), [&](const ApiRequest& request) {
      return request.path == path && request.watch() == watch;
    });
    return static_cast<std::size_t>(found) >= count;
  });
}

}  // namespace berth::testing
