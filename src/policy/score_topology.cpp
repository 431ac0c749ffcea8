#include "berth/policy/scores.h"

namespace berth::policy {
namespace {

constexpr double kBandwidthShare = 0.8;

}  // namespace

double score_topology(const model::PodRequest& pod, const NodeView& node,
                      const std::optional<model::GpuMask>& gpu_set) {
  if (pod.topology_policy == model::TopologyPolicy::kNone) return 0;
  if (pod.gpus == 1 || (pod.gpus == 0 && pod.parts.any())) return 1;
  if (pod.gpus == 0) return pod.resource_claims ? kNeutral : 0;
  const model::NodeState& state = *node.state;
  // The same for an empty node as for a used one: what is not known must not draw pods to break up empty machines.
  if (!state.shape || !state.free_known) return kNeutral;
  if (!gpu_set) return 0;
  const model::BestSetTable& table = state.shape->table;
  const auto gpus = static_cast<int>(pod.gpus);
  const double bandwidth =
      static_cast<double>(table.quality(*gpu_set).bottleneck) / table.best_quality(gpus).bottleneck;
  const int touched = table.numa_nodes(*gpu_set);
  const double numa = touched == 0 ? 1 : static_cast<double>(table.fewest_numa_nodes(gpus)) / touched;
  return kBandwidthShare * bandwidth + (1 - kBandwidthShare) * numa;
}

}  // namespace berth::policy
