#include <algorithm>

#include "berth/policy/filters.h"

namespace berth::policy {

bool enough_suitable(const model::PodRequest& pod, const NodeView& node) {
  const model::NodeState& state = *node.state;
  const model::GpuMask suitable = suitable_gpus(pod, node) & model::mask_all(static_cast<int>(node.uses->size()));
  if (suitable == 0) return false;
  return pod.gpus == 0 || model::count(state.free_known ? suitable & state.free : suitable) >= pod.gpus;
}

model::Reason filter_gpu_product(const model::PodRequest& pod, const NodeView& node) {
  const auto& allowed = pod.gpu_products;
  if (allowed.empty()) return model::Reason::kNone;
  if (node.uses != nullptr && node.state->told_apart()) {
    return enough_suitable(pod, node) ? model::Reason::kNone : model::Reason::kGpuProductMismatch;
  }
  const bool found = std::find(allowed.begin(), allowed.end(), node.state->node->gpu_product) != allowed.end();
  return found ? model::Reason::kNone : model::Reason::kGpuProductMismatch;
}

}  // namespace berth::policy
