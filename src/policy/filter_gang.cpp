#include "berth/policy/filters.h"

namespace berth::policy {

model::Reason filter_gang(const NodeView& node) {
  return node.gang_fits ? model::Reason::kNone : model::Reason::kGangTopology;
}

}  // namespace berth::policy
