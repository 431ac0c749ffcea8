#include "berth/policy/filters.h"

namespace berth::policy {

model::Reason filter_dataset(const model::PodRequest& pod, const NodeView& node, bool required) {
  if (!required || pod.datasets.empty() || node.holds_all) return model::Reason::kNone;
  return model::Reason::kDatasetNotCached;
}

}  // namespace berth::policy
