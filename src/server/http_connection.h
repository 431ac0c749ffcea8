// Serves one connection from its first request to its end, on one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "berth/server/http_server.h"
#include "http_body.h"
#include "http_routes.h"

namespace berth::server {

// What all connections of a server share.
struct HttpShared {
  explicit HttpShared(HttpServerOptions from) : options(std::move(from)), budget(options.max_bodies_bytes) {}

  void count(HttpFailure failure) {
    failures[static_cast<std::size_t>(failure)].fetch_add(1, std::memory_order_relaxed);
  }

  const HttpServerOptions options;
  HttpRoutes routes;
  BodyBudget budget;
  std::atomic<bool> draining{false};
  std::array<std::atomic<std::uint64_t>, kHttpFailureCount> failures{};
};

// Returns when the connection is over; `socket` is then still open.
void serve_connection(HttpShared& shared, const HttpSocket& socket);

// A whole 503 that ends the connection, for where no thread can be given to it.
std::string_view busy_answer();

}  // namespace berth::server
