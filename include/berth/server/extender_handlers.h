// Answers kube-scheduler's Filter and Prioritize calls from the newest snapshot.
//
// Thread-safe: handlers run on many threads at once. The hot path does no I/O; who won is told to `state`
// after the answer is on the wire.
#pragma once

#include <functional>
#include <memory>

#include "berth/core/clock.h"
#include "berth/model/decision.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"
#include "berth/policy/settings.h"
#include "berth/server/decision_log.h"
#include "berth/server/http_server.h"
#include "berth/server/metrics.h"
#include "berth/state/cluster_state.h"

namespace berth::server {

// Everything outlives the server.
struct ExtenderContext {
  state::ClusterState& state;
  DecisionLog& decisions;
  Metrics& metrics;
  const core::Clock& clock;
  policy::Settings settings;
  model::PodDefaults defaults;
  model::ResourceNames resources;
  // Told of every decision but those about one node, once the answer is out; may be empty.
  std::function<void(std::shared_ptr<const model::Decision>)> decided = {};
};

// Adds POST /filter and POST /prioritize.
void add_extender_routes(HttpServer& server, const ExtenderContext& context);

}  // namespace berth::server
