#include <algorithm>

#include "berth/model/part_placement.h"
#include "berth/policy/node_view.h"

namespace berth::policy {
namespace {

using model::GpuMask;
using model::GpuUse;

// Where nobody tells a node's partitions apart, that it has such is all there is to know: the scheduler counts them.
bool partitions_listed(const model::PodRequest& pod, const model::NodeState& state) {
  if (state.told_apart()) return true;
  return std::ranges::all_of(pod.parts.mig, [&](const model::MigDemand& wanted) {
    return std::ranges::any_of(state.node->mig, [&](const model::MigDemand& there) {
      return there.profile == wanted.profile && there.count >= wanted.count;
    });
  });
}

std::int32_t fresh_gpus(const std::vector<GpuUse>& uses) {
  return static_cast<std::int32_t>(
      std::ranges::count_if(uses, [](const GpuUse& use) { return use.healthy && !use.mig && model::untouched(use); }));
}

std::optional<model::PartPlacement> place(const model::PodRequest& pod, const model::NodeState& state,
                                          const std::vector<GpuUse>& uses, GpuMask suitable) {
  if (suitable == ~GpuMask{0}) return model::place_parts(pod.parts, uses, state.machine.get(), state.shape.get());
  std::vector<GpuUse> allowed = uses;
  for (std::size_t gpu = 0; gpu < allowed.size(); ++gpu) {
    if (!model::contains(suitable, static_cast<int>(gpu))) allowed[gpu].healthy = false;
  }
  return model::place_parts(pod.parts, allowed, state.machine.get(), state.shape.get());
}

// A share that needs a fresh GPU, on a node where all are alike and no one is shared.
PartFit fit_alike(const model::PodRequest& pod, const NodeView& node) {
  const model::NodeState& state = *node.state;
  PartFit fit;
  if (pod.parts.gpus == 0) return fit;
  fit.fits = node.unused() >= pod.parts.gpus && model::share_fits(pod.parts, {.memory_mib = state.gpu_memory_mib()});
  fit.unpromised = fit.fits && node.unpromised() >= pod.parts.gpus;
  return fit;
}

}  // namespace

PartFit fit_parts(const model::PodRequest& pod, const NodeView& node) {
  const model::NodeState& state = *node.state;
  if (!pod.parts.any()) return {};
  constexpr PartFit kNone{.fits = false, .unpromised = false};
  if (!pod.parts.mig.empty() && !partitions_listed(pod, state)) return kNone;
  if (node.uses == nullptr) {
    // Partitions make a node's GPUs differ: where a machine is told and its GPUs don't, it has none.
    return pod.parts.mig.empty() || !state.told_apart() ? fit_alike(pod, node) : kNone;
  }
  const GpuMask suitable = suitable_gpus(pod, node);
  const auto placed = place(pod, state, *node.uses, suitable);
  if (!placed) return kNone;
  PartFit fit;
  fit.gpus = placed->gpus;
  // Entries that hold GPUs without naming them need as many fresh ones.
  const std::int32_t opened = model::count(placed->fresh & placed->gpus);
  const std::int32_t fresh = fresh_gpus(*node.uses) - opened;
  const std::int32_t counted = std::max(0, node.firm_others - model::count(node.firm_gpus));
  if (opened > 0 && fresh < counted) return kNone;
  fit.unpromised = opened == 0 || fresh >= counted + node.soft_others;
  if (fit.unpromised && node.expected != nullptr)
    fit.unpromised = place(pod, state, *node.expected, suitable).has_value();
  return fit;
}

}  // namespace berth::policy
