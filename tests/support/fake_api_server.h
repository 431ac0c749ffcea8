// Enough of a Kubernetes API server for lists and watches of nodes, pods, claims and the kinds of any API group, and
// for all the ways in which they fail.
//
// Objects get a resourceVersion when they are put; a list is cut into pages as asked and is of one version; a watch
// replays what happened after its version and goes on. What is written to it (PATCH, POST) is taken and kept as
// requests, no more, unless keep_node_patches() was called. Bookmarks, ends and faults come when the test says so.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/scripted_http_server.h"

namespace berth::testing {

inline const std::string kNodesPath = "/api/v1/nodes";
inline const std::string kPodsPath = "/api/v1/pods";
inline const std::string kClaimsPath = "/api/v1/persistentvolumeclaims";
inline const std::string kFluidPath = "/apis/data.fluid.io/v1alpha1";  // of the group; its kinds are below
inline const std::string kDatasetsPath = kFluidPath + "/datasets";

// A Node with so many GPUs; a Pod that asks for so many, bound if `node` is not empty. UID "uid-<name>".
nlohmann::json make_node(const std::string& name, int gpus = 8);
nlohmann::json make_pod(const std::string& ns, const std::string& name, int gpus = 1, const std::string& node = "");

struct ApiRequest {
  std::string path;
  std::map<std::string, std::string> query;
  std::string authorization;
  std::string method = "GET";
  std::string body = {};
  [[nodiscard]] bool watch() const { return query.contains("watch"); }
};

// An answer given instead of the real one.
struct ApiFault {
  int status = 500;
  std::string body = {};
  std::vector<std::string> headers = {};
  bool silent = false;  // no answer at all, the connection stays open
};

class FakeApiServer {
 public:
  explicit FakeApiServer(std::optional<ServerTls> tls = {});
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  [[nodiscard]] std::string url() const;
  void stop();     // breaks all connections
  void restart();  // after stop(), on the same port

  // Adds or replaces; watches see ADDED or MODIFIED. The path is that of the collection, and tells the object's kind.
  void put(const std::string& path, nlohmann::json object);
  void remove(const std::string& path, const std::string& key);  // "name" or "namespace/name"
  // As remove(), but without a trace in the log: what a watcher that was away never hears of.
  void remove_silently(const std::string& path, const std::string& key);
  // Older versions than the newest are no longer kept: watches from them and unfinished lists get 410.
  void compact();
  void set_gone_in_stream(bool in_stream);  // 410 as an event in an accepted watch instead of as the status

  // To the watches of a path that are open now, in order with the events.
  void bookmark(const std::string& path);
  void send_raw(const std::string& path, std::string bytes);
  void end_watches(const std::string& path);
  void cut_watches(const std::string& path, std::string last_bytes);

  // From now on merge patches change the Node; 409 if they name another UID, 404 if there is none.
  void keep_node_patches();
  // The Node as it is, null if there is none.
  [[nodiscard]] nlohmann::json node(const std::string& name) const;

  // Serves these kinds of an API group ("/apis/data.fluid.io/v1alpha1", {"datasets"}) and no others of it; none: not
  // even the group. Watches on those that go end.
  void serve(const std::string& group_path, const std::set<std::string>& resources);
  void serve_fluid(const std::set<std::string>& resources) { serve(kFluidPath, resources); }

  // The next requests that match are answered thus, one fault each.
  void fail_next(const std::string& path, ApiFault fault, bool watch);
  // All requests for the path are answered thus; nullopt: as they should be.
  void fail_always(const std::string& path, std::optional<ApiFault> fault);
  // 401 for all requests without this bearer token.
  void require_token(std::string token);
  // Asked first how a request is answered, without a lock, on the connection's thread; nullopt: as it should be.
  void answer_first(std::function<std::optional<ApiFault>(const ApiRequest&)> answer);
  // An object as it was put last; nullopt if there is none.
  [[nodiscard]] std::optional<nlohmann::json> find(const std::string& path, const std::string& key) const;
  // Called before every request is answered, on the connection's thread.
  void on_request(std::function<void(const ApiRequest&)> callback);

  [[nodiscard]] std::vector<ApiRequest> requests() const;
  [[nodiscard]] std::size_t requests(const std::string& path, bool watch) const;
  // Waits until so many requests of this kind have come; false after 30 s.
  bool wait_for_requests(const std::string& path, bool watch, std::size_t count) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::testing
