#include <algorithm>
#include <array>

#include "berth/model/decision.h"

namespace berth::model {

std::optional<DatasetShare> together(const Candidate& candidate) {
  std::optional<DatasetShare> all;
  for (const DatasetShare& share : candidate.shares) {
    if (share.observed == core::WallTime{}) continue;
    if (!all) all = share;
    all->source = std::max(all->source, share.source);
    all->observed = std::min(all->observed, share.observed);
  }
  if (all) all->coverage = static_cast<float>(candidate.coverage);
  return all;
}

Explanation explain(const PodDecisions& decisions, Detail detail) {
  const Decision* filter = decisions.filter.get();
  const Decision* prioritize = decisions.prioritize.get();
  if (filter != nullptr && prioritize != nullptr && prioritize->at < filter->at) prioritize = nullptr;
  const Decision& first = filter != nullptr ? *filter : *prioritize;
  const Decision& last = prioritize != nullptr ? *prioritize : *filter;

  Explanation told;
  told.pod = last.pod.ns + "/" + last.pod.name;
  told.uid = last.pod.uid;
  told.gpus = last.pod.gpus;
  for (const WantedDataset& dataset : last.pod.datasets) told.datasets.push_back(dataset.ref.to_string());
  told.unknown_datasets = last.unknown_datasets;
  told.ignored_keys = last.pod.ignored_keys;
  told.gang = last.pod.gang.name;
  if (!last.pod.policy.empty()) told.policy = last.pod.ns + "/" + last.pod.policy;
  told.at = last.at;
  told.attempt = first.attempt;
  told.snapshot_version = last.snapshot_version;
  told.snapshot_age = last.snapshot_age;
  told.asked = first.asked;
  told.winner = last.winner;
  told.error = last.error;
  if (last.pod.invalid) told.error = last.pod.invalid->to_string();
  told.prioritized = prioritize != nullptr;
  told.candidate_count = last.candidate_count;
  if (detail == Detail::kAll) told.candidates = last.candidates;
  if (filter != nullptr) told.filter_took = filter->took;
  if (prioritize != nullptr) told.prioritize_took = prioritize->took;

  std::array<Explanation::Rejected, kReasonCount> by_reason;
  for (const Rejection& node : first.rejected) {
    Explanation::Rejected& rejected = by_reason[static_cast<std::size_t>(node.reason)];
    rejected.reason = node.reason;
    ++rejected.count;
    if (detail == Detail::kCounts) continue;
    rejected.nodes.push_back(node.slot == kNoSlot ? "(unknown)" : first.index->name(node.slot));
  }
  for (Explanation::Rejected& rejected : by_reason) {
    if (rejected.count > 0) told.rejected.push_back(std::move(rejected));
  }
  return told;
}

}  // namespace berth::model
