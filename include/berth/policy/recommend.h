// Advice for a job that is not submitted yet, worked out as its pod would be placed now.
//
// Thread-safe, pure: nothing is told to the ledger, so that two askers may be sent to the same GPUs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/advice.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"
#include "berth/policy/settings.h"

namespace berth::policy {

// As many as a decision keeps.
inline constexpr std::size_t kMostAdvised = model::kKeptCandidates;

struct AdviceQuery {
  const model::Snapshot& snapshot;
  const model::PodRequest& pod;           // its claims resolved
  std::size_t nodes = 10;                 // at most, up to kMostAdvised
  std::optional<model::DatasetRef> warm;  // advise on warming this dataset, too
  core::WallTime now{};
};

// The nodes are those of what_if over the whole cluster, in the same order.
model::Recommendation recommend(const AdviceQuery& query, const Settings& settings);

// Where the job could start soonest if the dataset were warm: now, where enough GPUs are neither held nor promised;
// else when enough of the pods there have reached their deadline or expected end. A job that is restricted to connected
// GPUs waits for the whole node, since nobody knows which GPUs will be freed. Equal times: nodes with a ready worker of
// the dataset first, then the greater coverage, then the lower name.
model::WarmAdvice advise_warming(const AdviceQuery& query, const model::DatasetRef& dataset);

// The weights of the terms of a node affinity: 100 for the best, falling with the total score, 1 where the GPUs are not
// free. kube-scheduler's NodeAffinity adds the weights that match and scales the sums of all nodes to 0..100.
std::vector<std::int32_t> affinity_weights(const std::vector<model::Candidate>& best_first, std::int64_t gpus);

// "n[001-003,007],login": a host list as Slurm writes it (slurm.conf(5), NodeName), ascending, each name once. Only
// numbers at the end of names are put in brackets; a range keeps the width of its first number. Names that a host list
// can't hold are left out.
std::string slurm_node_list(std::vector<std::string> names);

}  // namespace berth::policy
