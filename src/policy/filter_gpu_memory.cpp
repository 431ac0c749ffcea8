#include "berth/policy/filters.h"

namespace berth::policy {

model::Reason filter_gpu_memory(const model::PodRequest& pod, const NodeView& node) {
  const bool enough = node.state->node->gpu_memory_mib >= pod.min_gpu_memory_mib;
  return enough ? model::Reason::kNone : model::Reason::kGpuMemoryTooSmall;
}

}  // namespace berth::policy
