// The admin port: health, readiness, metrics, version, and the JSON API behind `berth explain` and the dashboard.
//
// Thread-safe: handlers run on many threads at once.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "berth/server/extender_handlers.h"
#include "berth/server/http_server.h"

namespace berth::server {

struct SourceStatus {
  std::string name;       // "file cluster.json", "API server https://10.0.0.1:6443"
  bool connected = true;  // false: we answer from what we have
  std::string why;        // why not connected or not yet synced, empty if it is both
};

// Everything outlives the server.
struct AdminContext {
  const ExtenderContext& extender;
  std::string version;
  std::function<SourceStatus()> source;
  const std::atomic<bool>& draining;  // /readyz says no from then on
};

void add_admin_routes(HttpServer& server, const AdminContext& context);

}  // namespace berth::server
