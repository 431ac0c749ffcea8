// The wire of an API server that a program plays: HTTP/1.1 on loopback, and watches.
//
// What the collections hold is the caller's business: all requests but watches go to its handler. Watches are served
// here, from the events that the caller publishes: those after the resourceVersion asked for, then every further one,
// until timeoutSeconds have passed; a version whose successors are no longer kept is told 410 in the stream.
//
// Thread-safe. There is a thread for each connection, on which the handler is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"

namespace berth::kube {

// The value of a query parameter, as it is written; empty if absent.
std::string_view query_parameter(std::string_view target, std::string_view name);
// Of a parameter that is a number; `otherwise` if it is none.
std::uint64_t query_number(std::string_view target, std::string_view name, std::uint64_t otherwise);

struct ServedRequest {
  std::string_view method;
  std::string_view path;
  std::string_view target;  // path and query
  std::string_view body;
};

struct ServedAnswer {
  int status = 200;
  std::string body = {};
};

class WatchServer {
 public:
  using Handler = std::function<ServedAnswer(const ServedRequest&)>;

  // `collections` are the paths that can be watched ("/api/v1/pods"). Of each the last `kept_events` are kept.
  WatchServer(std::vector<std::string> collections, Handler handler, std::size_t kept_events = 20'000);
  // Ends all connections. The handler may be called until then.
  ~WatchServer();
  WatchServer(const WatchServer&) = delete;
  WatchServer& operator=(const WatchServer&) = delete;

  // The port, a free one.
  core::Result<std::uint16_t> start();

  // An event of collections[collection]. `event` is the JSON of a watch event that has this version, with a line end;
  // versions grow. Waits while a watcher is slow to read.
  void publish(std::size_t collection, std::uint64_t version, std::string_view event);
  // To those who watch now, and not kept: a bookmark.
  void tell(std::size_t collection, std::string_view event);
  [[nodiscard]] std::size_t watchers(std::size_t collection) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::kube
