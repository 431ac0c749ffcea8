#include "berth/server/preempt_handler.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>

#include "berth/codec/extender_response.h"
#include "berth/codec/preemption.h"
#include "berth/policy/preempt.h"

namespace berth::server {
namespace {

// Of nodes that were dropped, for one log line.
constexpr std::size_t kMostTold = 8;

void log_preemption(const model::PodRequest& pod, std::size_t offered, const policy::PreemptionOutcome& outcome) {
  if (!spdlog::should_log(spdlog::level::debug)) return;
  std::string nodes;
  for (const auto& [node, reason] : outcome.rejected) {
    if (&node - &outcome.rejected.front().first >= static_cast<std::ptrdiff_t>(kMostTold)) break;
    nodes += (nodes.empty() ? ", not " : ", ") + node + " (" + std::string(model::to_string(reason)) + ")";
  }
  spdlog::debug("preemption for {}/{}: {} of {} nodes, {} outranked, {} victims added, {} spared{}", pod.ns, pod.name,
                outcome.answer.size(), offered, outcome.outranked, outcome.added, outcome.spared, nodes);
  for (const auto& one : outcome.answer) {
    std::string victims;
    for (const auto& victim : one.victims) victims += ' ' + victim.uid;
    spdlog::debug("preemption for {}/{}: {} without{}", pod.ns, pod.name, one.node, victims);
  }
}

HttpResponse handle(HttpRequest& http, const ExtenderContext& context) {
  const auto started = context.clock.now();
  HttpResponse response;
  const auto request = codec::read_preemption_request(http.body, context.resources);
  if (!request) {
    context.metrics.count_preemption_refused();
    response.status = 400;
    codec::write_error(response.body, request.error().to_string());
    return response;
  }
  const auto snapshot = context.state.snapshots().load();
  model::PodRequest pod = model::make_request(request->pod, context.defaults);
  model::resolve_claims(pod, *snapshot);
  model::apply_policy(pod, *snapshot, context.defaults);
  policy::PreemptionOutcome outcome;
  if (!pod.ours()) {
    context.metrics.count_untouched();
    outcome = policy::pass_preemption(request->candidates);
  } else if (!snapshot->ready) {
    // There is no way to say so, and an error would let an ignorable extender's scheduler evict all the same.
    context.metrics.count_not_ready();
  } else {
    outcome = policy::decide_preemption({*snapshot, pod, request->candidates, context.clock.wall()}, context.settings);
    log_preemption(pod, request->candidates.size(), outcome);
  }
  codec::write_preemption_answer(response.body, outcome.answer);
  context.metrics.observe_preemption(outcome, context.clock.now() - started);
  return response;
}

}  // namespace

void add_preempt_route(HttpServer& server, const ExtenderContext& context) {
  server.post("/preempt", [&context](HttpRequest& request) { return handle(request, context); });
}

}  // namespace berth::server
