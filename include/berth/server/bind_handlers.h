// Answers kube-scheduler's Bind calls.
//
// Thread-safe: handlers run on many threads at once, each waiting for its own call to the API server.
#pragma once

#include "berth/control/binder.h"
#include "berth/core/clock.h"
#include "berth/server/decision_log.h"
#include "berth/server/http_server.h"
#include "berth/server/metrics.h"

namespace berth::server {

// Everything outlives the server.
struct BindContext {
  control::Binder& binder;
  Metrics& metrics;
  const core::Clock& clock;
};

// Adds POST /bind.
void add_bind_routes(HttpServer& server, const BindContext& context);

// What Filter was told of the pod last, if it was the pod of this UID.
control::Binder::FindRequest requests_of(const DecisionLog& decisions);

}  // namespace berth::server
