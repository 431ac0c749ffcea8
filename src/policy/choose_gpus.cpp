#include "berth/policy/node_view.h"

namespace berth::policy {

std::optional<model::GpuMask> choose_gpus(const model::PodRequest& pod, const NodeView& node) {
  const model::NodeState& state = *node.state;
  if (pod.gpus < 1 || pod.gpus > model::kMaxGpus || !state.shape || !state.free_known) return std::nullopt;
  model::GpuMask free = state.free;
  const int promised = node.firm_others + node.soft_others;
  if (promised > 0) {
    const auto taken = state.shape->table.best(free, promised);
    // Soft entries reject nothing: when they would leave too little, the pod is judged as if they were not there.
    if (taken && model::count(free & ~*taken) >= pod.gpus) free &= ~*taken;
  }
  const auto gpus = static_cast<int>(pod.gpus);
  if (pod.topology_policy == model::TopologyPolicy::kRestricted) return state.shape->best_connected(free, gpus);
  return state.shape->table.best(free, gpus);
}

}  // namespace berth::policy
