#include "berth/policy/filters.h"

namespace berth::policy {

model::Reason filter_gpu_count(const model::PodRequest& pod, const NodeView& node, GpuCountMode mode) {
  if (pod.gpus == 0 || node.unused() >= pod.gpus) return model::Reason::kNone;
  if (node.unused() + node.firm_others >= pod.gpus) return model::Reason::kReserved;
  return mode == GpuCountMode::kEnforce ? model::Reason::kInsufficientGpu : model::Reason::kNone;
}

}  // namespace berth::policy
