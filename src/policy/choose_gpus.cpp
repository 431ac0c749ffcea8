#include <algorithm>
#include <array>

#include "berth/model/part_placement.h"
#include "berth/policy/ledger_credit.h"
#include "berth/policy/node_view.h"

namespace berth::policy {
namespace {

using model::GpuMask;

// GPUs that firm entries hold without saying which.
std::int32_t counted_only(const NodeView& node) { return std::max(0, node.firm_others - model::count(node.firm_gpus)); }

// What a pod that asks for whole GPUs may choose from.
GpuMask free_for(const model::PodRequest& pod, const NodeView& node) {
  const model::NodeState& state = *node.state;
  GpuMask free = state.free & ~node.firm_gpus;
  // More firm GPUs than are free leave nothing.
  free &= ~likely_taken(state, free, counted_only(node));
  if (node.soft_others > 0) {
    const GpuMask left = free & ~likely_taken(state, free, node.soft_others);
    // Soft entries reject nothing: when they would leave too little, the pod is judged as if they were not there.
    if (model::count(left & suitable_gpus(pod, node)) >= pod.gpus) free = left;
  }
  return free & suitable_gpus(pod, node);
}

bool which_are_free(const model::PodRequest& pod, const model::NodeState& state) {
  return pod.gpus >= 1 && pod.gpus <= model::kMaxGpus && state.shape && state.free_known;
}

bool restricted(const model::PodRequest& pod) { return pod.topology_policy == model::TopologyPolicy::kRestricted; }

}  // namespace

GpuMask suitable_gpus(const model::PodRequest& pod, const NodeView& node) {
  const bool any_memory = pod.min_gpu_memory_mib <= 0;
  if ((any_memory && pod.gpu_products.empty()) || node.uses == nullptr || !node.state->told_apart()) {
    return ~GpuMask{0};
  }
  const auto& gpus = node.state->machine->gpus;
  GpuMask suitable = 0;
  for (std::size_t gpu = 0; gpu < node.uses->size() && gpu < gpus.size(); ++gpu) {
    const std::string& product = gpus[gpu].product.empty() ? node.state->node->gpu_product : gpus[gpu].product;
    const bool large = any_memory || (*node.uses)[gpu].memory_mib >= pod.min_gpu_memory_mib;
    const bool named =
        pod.gpu_products.empty() || std::ranges::find(pod.gpu_products, product) != pod.gpu_products.end();
    if (large && named) suitable |= GpuMask{1} << gpu;
  }
  return suitable;
}

std::optional<GpuMask> choose_gpus(const model::PodRequest& pod, const NodeView& node) {
  const model::NodeState& state = *node.state;
  if (!which_are_free(pod, state)) return std::nullopt;
  const auto gpus = static_cast<int>(pod.gpus);
  const GpuMask free = free_for(pod, node);
  return restricted(pod) ? state.shape->best_connected(free, gpus) : state.shape->table.best(free, gpus);
}

std::optional<model::GpuPlacement> place_gpus(const model::PodRequest& pod, const NodeView& node) {
  const model::NodeState& state = *node.state;
  model::GpuPlacement placement;
  if (pod.gpus > 0) {
    if (!which_are_free(pod, state)) return std::nullopt;
    const auto set = model::best_refined(*state.shape, state.machine.get(), free_for(pod, node),
                                         static_cast<int>(pod.gpus), restricted(pod), state.busy);
    if (!set) return std::nullopt;
    placement.gpus = *set;
  }
  if (!pod.parts.any()) return pod.gpus > 0 ? std::optional(placement) : std::nullopt;
  if (node.uses == nullptr && !state.free_known) return std::nullopt;
  std::vector<model::GpuUse> uses = node.uses != nullptr ? *node.uses : uses_of(state);
  const GpuMask free = state.free & ~node.firm_gpus;
  const GpuMask barred = (node.uses == nullptr ? node.firm_gpus : 0) | likely_taken(state, free, counted_only(node));
  const GpuMask suitable = suitable_gpus(pod, node);
  for (std::size_t gpu = 0; gpu < uses.size(); ++gpu) {
    if (model::contains(barred, static_cast<int>(gpu))) model::count_whole(uses[gpu]);
    if (!model::contains(suitable, static_cast<int>(gpu))) uses[gpu].healthy = false;  // for partitions, too
  }
  const auto parts = model::place_parts(pod.parts, uses, state.machine.get(), state.shape.get());
  if (!parts) return std::nullopt;
  placement.gpus |= parts->gpus;
  placement.slots.assign(parts->taken().begin(), parts->taken().end());
  return placement.empty() ? std::nullopt : std::optional(placement);
}

}  // namespace berth::policy
