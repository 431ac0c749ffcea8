// An HTTP/1.1 server for kube-scheduler and for people, behind which cpp-httplib is hidden.
//
// What kube-scheduler's Go client needs (extender/v1 over net/http): TCP_NODELAY, keep-alive longer than its 90 s,
// always Content-Length, an answer for every connection of a burst while others sit idle, and `Connection: close` on
// the way out.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"

namespace berth::server {

struct HttpRequest {
  std::string_view path;
  std::string body;  // moved in, with spare capacity of at least 64 bytes for the JSON parser
  // Value of a query parameter, decoded; empty if absent.
  std::function<std::string(std::string_view name)> query;
};

struct HttpResponse {
  int status = 200;
  std::string body;
  // kube-scheduler ignores the type; a bare application/json would make cpp-httplib compress the answer.
  std::string content_type = "application/json; charset=utf-8";
  // Run on the same thread once the answer is on the wire, before the next request of the connection is read; not run
  // if the client has gone. May be empty.
  std::function<void()> after{};
};

using HttpHandler = std::function<HttpResponse(HttpRequest&)>;

// What the server answers by itself, without or in place of a handler.
enum class HttpFailure : std::uint8_t {
  kMalformed,        // 400 and other refusals of what was sent
  kNotFound,         // 404
  kMethod,           // 405
  kTooLarge,         // 413
  kTimeout,          // 408: the client stalled in the middle of a request
  kBodiesFull,       // 503: max_bodies_bytes is used up
  kConnectionsFull,  // 503: max_connections is used up, or the system gives no thread
  kHandler,          // 500: a handler threw
  kMemory,           // 503, or a connection that ended without an answer: the system gives no memory
};
inline constexpr std::size_t kHttpFailureCount = 9;
std::string_view to_string(HttpFailure failure);  // "malformed", "not_found", ... as in the metric's label

struct HttpCounters {
  std::size_t open_connections = 0;
  std::size_t bodies_bytes = 0;                             // of request bodies in work now
  std::uint64_t accepted = 0;                               // connections taken so far
  std::array<std::uint64_t, kHttpFailureCount> failures{};  // so far, by HttpFailure
};

struct HttpServerOptions {
  std::string name = "extender";  // in logs and metrics
  std::string address = "127.0.0.1:0";
  std::size_t max_body_bytes = 16U << 20U;     // more: 413
  std::size_t max_bodies_bytes = 256U << 20U;  // all bodies in work together; more: 503
  std::size_t max_connections = 2048;          // one thread each
  std::chrono::milliseconds keep_alive{120'000};
  std::chrono::milliseconds body_timeout{30'000};  // from first byte of a request to its last, and for its answer
};

// Thread-safe after start(). Handlers run on many threads at once.
class HttpServer {
 public:
  explicit HttpServer(HttpServerOptions options);
  // Drains for a few seconds unless drain() was called, and waits for handlers to return.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Before start(). Another method on a known path is answered 405, an unknown path 404, both with {"error": ...}.
  void get(std::string path, HttpHandler handler);
  void post(std::string path, HttpHandler handler);
  // Takes every path that begins with `prefix` and has no handler of its own.
  void get_prefix(std::string prefix, HttpHandler handler);

  // Binds and listens; returns the port. kUnavailable if the address is taken or not ours.
  core::Result<std::uint16_t> start();
  // Takes no more connections, answers what is in flight with `Connection: close`, closes idle connections, and returns
  // when all threads are done. When `deadline` is over it cuts what is left and returns without waiting for that.
  void drain(std::chrono::milliseconds deadline);

  // "GET /healthz" and so on, in order; "GET /nodes/*" for a prefix.
  [[nodiscard]] std::vector<std::string> routes() const;
  [[nodiscard]] std::size_t open_connections() const;
  [[nodiscard]] HttpCounters counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::server
