// The parts of a node's score, one file each, every one in [0, 1] and higher for better.
//
// Thread-safe: pure functions. What the parts mean and how they are weighed: docs/configuration.md, "weights".
#pragma once

#include <optional>

#include "berth/model/decision.h"
#include "berth/model/gpu_set.h"
#include "berth/policy/node_view.h"
#include "berth/policy/settings.h"

namespace berth::policy {

// Value of a part about which nothing is known.
inline constexpr double kNeutral = 0.5;

// What loading the pod's datasets and images here costs beside the best node: docs/configuration.md, "Loading time".
struct BestLoading {
  double least_seconds = 0;     // on the best node that fits
  double local_seconds = 0;     // where everything is on the node itself
  double step_seconds = 0.001;  // a difference below it decides nothing
};
// Whole steps by which the node is slower than the best one; negative where it is faster.
double steps_behind(double load_seconds, const BestLoading& best);
// 1 on the best node and on those that lose less than a step to it; one half where as much is lost as a complete copy
// takes to read; 0 where less than a step is saved over a node that has nothing near.
double score_locality(double steps_behind, double saved_seconds, const BestLoading& best);
// Four fifths: bottleneck bandwidth of the set over the best that the empty machine offers for that count; one fifth:
// the fewest NUMA nodes that could do over those touched. 1 for one GPU, and for shares and partitions; 0 for a pod
// without GPUs or with the policy `none`; neutral for one that asks for devices by ResourceClaims.
double score_topology(const model::PodRequest& pod, const NodeView& node, const std::optional<model::GpuMask>& gpu_set);
// What the placement costs the requests that are likely to come (packing.h) beside what it would cost if each class
// lost no more than the pod takes: clean² / (clean² + cost²), so 1 where it costs nothing. A pod without GPUs costs
// nothing on nodes without; neutral for one that asks for devices by ResourceClaims, and before anything is known.
double score_packing(double cost, double clean);

// What a node loses of its total for pods that could not run there lately, in [0, 1): half of what is left for each
// that others owned, three quarters for each of this pod's owner, 63 of 64 parts at most. `on_node` and `of_owner` are
// NodeState::failures and its part in Snapshot::failures.
double score_failures(double on_node, double of_owner);

// Weighted mean of the parts into `total`, less what `failures` takes; proximity counts only where nodes differ by the
// gang.
model::ScoreParts weigh(model::ScoreParts parts, const model::Weights& weights, bool gang = false);

}  // namespace berth::policy
