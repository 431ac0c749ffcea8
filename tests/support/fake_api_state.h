// What the fake API server keeps, and how it answers; for its own sources.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/api_kinds.h"
#include "support/fake_api_server.h"

namespace berth::testing {

using nlohmann::json;

struct Entry {
  enum class Kind { kEvent, kBookmark, kRaw, kEnd, kCut } kind = Kind::kEvent;
  std::string path;
  std::uint64_t version = 0;
  std::string bytes;
};

inline std::string key_of(const json& object) {
  const json& metadata = object.at("metadata");
  const std::string name = metadata.at("name");
  return metadata.contains("namespace") ? metadata.at("namespace").get<std::string>() + "/" + name : name;
}

// "/apis/data.fluid.io/v1alpha1" of what is below it; empty for the core API.
inline std::string group_of(const std::string& path) {
  if (!path.starts_with("/apis/")) return {};
  return std::count(path.begin(), path.end(), '/') > 3 ? path.substr(0, path.rfind('/')) : path;
}

// "data.fluid.io/v1alpha1" of "/apis/data.fluid.io/v1alpha1/datasets".
inline std::string version_of(const std::string& path) {
  const std::string group = group_of(path);
  return group.empty() ? "v1" : group.substr(std::string("/apis/").size());
}

inline std::string event_line(const std::string& type, const json& object) {
  return json{{"type", type}, {"object", object}}.dump() + "\n";
}

inline std::string status_of(int code, const std::string& message) {
  return json{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"}, {"message", message}, {"code", code}}
      .dump();
}

inline std::size_t number(const std::map<std::string, std::string>& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? 0 : std::stoul(found->second);
}

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

}  // namespace berth::testing
