#include "berth/policy/recommend.h"

#include <algorithm>
#include <cmath>

#include "berth/policy/what_if.h"
#include "pod_data.h"

namespace berth::policy {
namespace {

using model::Reason;

std::string slurm_name_of(const model::Snapshot& snapshot, const std::string& name) {
  const model::Slot slot = snapshot.find(name);
  if (slot == model::kNoSlot) return name;
  const auto& node = snapshot.at(slot).node;
  return node && !node->slurm_name.empty() ? node->slurm_name : name;
}

// Nodes that hold at least one of the pod's datasets.
std::size_t count_warm(const model::Snapshot& snapshot, const model::PodRequest& pod) {
  std::vector<bool> warm(snapshot.index->slots());
  for (const model::WantedDataset& dataset : pod.datasets) {
    const model::DatasetPlacement* placement = snapshot.placement(dataset.ref);
    if (placement == nullptr) continue;
    for (const auto& holder : placement->holders) {
      if (holds_enough(holder, pod)) warm[holder.slot] = true;
    }
  }
  return static_cast<std::size_t>(std::count(warm.begin(), warm.end(), true));
}

std::vector<std::string> unknown_datasets(const model::Snapshot& snapshot, const model::PodRequest& pod) {
  std::vector<std::string> unknown;
  for (const model::WantedDataset& dataset : pod.datasets) {
    if (snapshot.dataset_id(dataset.ref) == model::kNoDataset) unknown.push_back(dataset.ref.to_string());
  }
  return unknown;
}

// A name that exists nowhere comes first: it has to be mended before anything else can help.
Reason reason_of(const model::Recommendation& advice) {
  if (!advice.unknown_datasets.empty()) return Reason::kDatasetUnknown;
  if (advice.datasets.empty()) return Reason::kNone;
  if (advice.warm_nodes == 0) return Reason::kDatasetNotCached;
  const bool lacking = std::any_of(advice.rejected.begin(), advice.rejected.end(),
                                   [](const auto& rejected) { return rejected.reason == Reason::kDatasetNotCached; });
  return advice.nodes.empty() && lacking ? Reason::kDatasetNotCached : Reason::kNone;
}

std::string list_for_slurm(const std::vector<model::AdvisedNode>& nodes) {
  const bool any_fits = std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return node.fits; });
  std::vector<std::string> names;
  for (const model::AdvisedNode& node : nodes) {
    if (node.fits || !any_fits) names.push_back(node.slurm_name);
  }
  return slurm_node_list(std::move(names));
}

}  // namespace

std::vector<std::int32_t> affinity_weights(const std::vector<model::Candidate>& best_first, std::int64_t gpus) {
  constexpr std::int32_t kMostWeight = 100;
  std::vector<std::int32_t> weights;
  weights.reserve(best_first.size());
  for (const model::Candidate& node : best_first) {
    if (weights.empty()) {
      weights.push_back(kMostWeight);
      continue;
    }
    const double best = best_first.front().parts.total;
    const double share = best > 0 ? std::clamp(node.parts.total / best, 0.0, 1.0) : 1;
    const auto graded = node.gpus_free < gpus ? 1 : static_cast<std::int32_t>(std::floor((kMostWeight - 1) * share));
    weights.push_back(std::clamp(graded, 1, weights.back()));
  }
  return weights;
}

model::Recommendation recommend(const AdviceQuery& query, const Settings& settings) {
  // The order of all nodes is wanted, not what would be handed on.
  Settings whole = settings;
  whole.coarse = Coarse::kOff;
  const auto names = all_names(query.snapshot);
  const auto decisions = what_if({query.snapshot, query.pod, names, 1, query.now}, whole);
  model::Explanation told = model::explain(decisions);

  model::Recommendation advice;
  advice.at = query.now;
  advice.snapshot_version = query.snapshot.version;
  advice.gpus = query.pod.gpus;
  advice.datasets = std::move(told.datasets);
  advice.unknown_datasets = unknown_datasets(query.snapshot, query.pod);
  advice.ignored_keys = std::move(told.ignored_keys);
  advice.required = query.pod.requires_any_dataset(query.now);
  advice.warm_nodes = count_warm(query.snapshot, query.pod);
  advice.candidate_count = told.candidate_count;
  told.candidates.resize(std::min({told.candidates.size(), query.nodes, kMostAdvised}));
  const auto weights = affinity_weights(told.candidates, query.pod.gpus);
  for (std::size_t i = 0; i < told.candidates.size(); ++i) {
    model::Candidate& candidate = told.candidates[i];
    const bool fits = candidate.gpus_free >= query.pod.gpus;
    std::string slurm_name = slurm_name_of(query.snapshot, candidate.node);
    advice.nodes.push_back({std::move(candidate), std::move(slurm_name), fits, weights[i]});
  }
  advice.rejected = std::move(told.rejected);
  for (auto& rejected : advice.rejected) rejected.nodes.clear();
  advice.reason = reason_of(advice);
  advice.slurm_node_list = list_for_slurm(advice.nodes);
  if (query.warm) advice.warm = advise_warming(query, *query.warm);
  return advice;
}

}  // namespace berth::policy
