#include "berth/policy/scores.h"

namespace berth::policy {
namespace {

constexpr double kBandwidthShare = 0.8;

}  // namespace

double score_topology(const model::PodRequest& pod, const NodeView& node,
                      const std::optional<model::GpuMask>& gpu_set) {
  if (pod.gpus == 0 || pod.topology_policy == model::TopologyPolicy::kNone) return 0;
  if (pod.gpus == 1) return 1;
  const model::NodeState& state = *node.state;
  // The same for an empty node as for a used one: what is not known must not draw pods to break up empty machines.
  if (!state.shape || !state.free_known) return kNeutral;
  if (!gpu_set) return 0;
  const model::GpuShape& shape = *state.shape;
  const auto gpus = static_cast<int>(pod.gpus);
  const auto best = shape.table.best(model::mask_all(shape.table.gpus()), gpus);
  if (!best) return 0;
  const double bandwidth = static_cast<double>(shape.table.quality(*gpu_set).bottleneck) /
                           static_cast<double>(shape.table.quality(*best).bottleneck);
  const int touched = shape.numa_nodes(*gpu_set);
  const double numa = touched == 0 ? 1 : static_cast<double>(shape.fewest_numa_nodes(gpus)) / touched;
  return kBandwidthShare * bandwidth + (1 - kBandwidthShare) * numa;
}

}  // namespace berth::policy
