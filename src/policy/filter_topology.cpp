#include "berth/policy/filters.h"

namespace berth::policy {

model::Reason filter_topology(const model::PodRequest& pod, const NodeView& node,
                              const std::optional<model::GpuMask>& gpu_set) {
  if (pod.topology_policy != model::TopologyPolicy::kRestricted || pod.gpus == 0 || gpu_set) {
    return model::Reason::kNone;
  }
  const model::NodeState& state = *node.state;
  const bool known = state.shape && state.free_known;
  const bool whole_free_node = state.used == 0 && node.firm_others == 0 && state.gpus >= pod.gpus;
  return !known && whole_free_node ? model::Reason::kNone : model::Reason::kTopologyRestricted;
}

}  // namespace berth::policy
