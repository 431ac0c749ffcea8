#include "support/fake_api_server.h"

#include "support/fake_api_state.h"

namespace berth::testing {

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
