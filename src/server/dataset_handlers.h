// The admin port's answers about data: which datasets there are and where, and where a job should go for them.
//
// Thread-safe: handlers run on many threads at once, each on one snapshot. Nothing is changed or kept.
#pragma once

#include "berth/server/extender_handlers.h"
#include "berth/server/http_server.h"

namespace berth::server {

// Adds GET /api/v1/datasets and POST /api/v1/recommend.
void add_dataset_routes(HttpServer& server, const ExtenderContext& context);

}  // namespace berth::server
