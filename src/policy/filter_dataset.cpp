#include "berth/policy/filters.h"

namespace berth::policy {

model::Reason filter_dataset(const NodeView& node) {
  return node.holds_required ? model::Reason::kNone : model::Reason::kDatasetNotCached;
}

}  // namespace berth::policy
