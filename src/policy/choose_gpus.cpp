#include "berth/policy/node_view.h"

namespace berth::policy {

std::optional<model::GpuMask> choose_gpus(const model::PodRequest& pod, const NodeView& node) {
  const model::NodeState& state = *node.state;
  if (pod.gpus < 1 || pod.gpus > model::kMaxGpus || !state.shape || !state.free_known) return std::nullopt;
  const model::BestSetTable& table = state.shape->table;
  model::GpuMask free = state.free;
  // More firm GPUs than are free leave nothing.
  if (node.firm_others > 0) free &= ~table.best(free, node.firm_others).value_or(free);
  if (node.soft_others > 0) {
    const model::GpuMask left = free & ~table.best(free, node.soft_others).value_or(free);
    // Soft entries reject nothing: when they would leave too little, the pod is judged as if they were not there.
    if (model::count(left) >= pod.gpus) free = left;
  }
  const auto gpus = static_cast<int>(pod.gpus);
  if (pod.topology_policy == model::TopologyPolicy::kRestricted) return state.shape->best_connected(free, gpus);
  return state.shape->table.best(free, gpus);
}

}  // namespace berth::policy
