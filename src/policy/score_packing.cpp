#include <algorithm>

#include "berth/policy/scores.h"

namespace berth::policy {

double score_packing(const model::PodRequest& pod, const NodeView& node, const PartFit& parts) {
  if (pod.gpus == 0 && pod.parts.any()) return parts.packing;
  if (pod.gpus == 0 && pod.resource_claims) return kNeutral;
  const std::int32_t gpus = node.state->gpus;
  if (gpus <= 0) return pod.gpus == 0 ? 1 : 0;
  const double taken = static_cast<double>(gpus - node.unpromised()) + static_cast<double>(pod.gpus);
  return std::clamp(taken / static_cast<double>(gpus), 0.0, 1.0);
}

}  // namespace berth::policy
