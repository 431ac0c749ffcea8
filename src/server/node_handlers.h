// The admin port's answers about nodes and their GPUs.
//
// Thread-safe: handlers run on many threads at once, each on one snapshot. Nothing is changed.
#pragma once

#include "berth/server/extender_handlers.h"
#include "berth/server/http_server.h"

namespace berth::server {

// Adds GET /api/v1/nodes.
void add_node_routes(HttpServer& server, const ExtenderContext& context);

}  // namespace berth::server
