#include <algorithm>

#include "berth/policy/filters.h"

namespace berth::policy {

model::Reason filter_gpu_product(const model::PodRequest& pod, const NodeView& node) {
  const auto& allowed = pod.gpu_products;
  if (allowed.empty()) return model::Reason::kNone;
  const bool found = std::find(allowed.begin(), allowed.end(), node.state->node->gpu_product) != allowed.end();
  return found ? model::Reason::kNone : model::Reason::kGpuProductMismatch;
}

}  // namespace berth::policy
