#include <algorithm>

#include "evaluate.h"

namespace berth::policy {
namespace {

using model::DatasetPlacement;

// A dataset that exists nowhere has a null placement.
std::vector<const DatasetPlacement*> placements(const Query& query) {
  std::vector<const DatasetPlacement*> found;
  found.reserve(query.pod.datasets.size());
  for (const model::WantedDataset& wanted : query.pod.datasets) found.push_back(query.snapshot.placement(wanted.ref));
  return found;
}

model::DatasetShare share_of(const DatasetPlacement* placement, model::Slot slot) {
  if (placement == nullptr) return {};
  const auto found = std::ranges::lower_bound(placement->holders, slot, {}, &DatasetPlacement::Holder::slot);
  if (found == placement->holders.end() || found->slot != slot) return {};
  return {found->coverage, found->source, found->observed};
}

}  // namespace

model::Decision describe(const Query& query, model::Verb verb, std::span<const Evaluated> ranked,
                         std::size_t candidate_count, std::span<const Rejected> rejected) {
  model::Decision decision;
  decision.verb = verb;
  decision.pod = query.pod;
  decision.at = query.now;
  decision.snapshot_version = query.snapshot.version;
  decision.attempt = query.attempt;
  decision.asked = query.names.size();
  decision.one_node = query.names.size() == 1;
  decision.index = query.snapshot.index;
  decision.candidate_count = candidate_count;
  if (!ranked.empty()) decision.winner = query.names[ranked.front().name];
  ranked = ranked.first(std::min(ranked.size(), model::kKeptCandidates));
  decision.candidates.reserve(ranked.size());
  const std::vector<const DatasetPlacement*> datasets = placements(query);
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    if (datasets[i] == nullptr) decision.unknown_datasets.push_back(query.pod.datasets[i].ref.to_string());
  }
  for (const Evaluated& node : ranked) {
    model::Candidate candidate;
    candidate.node = query.names[node.name];
    candidate.parts = node.parts;
    candidate.gpus_free = node.gpus_free;
    candidate.gpu_set = node.gpu_set;
    candidate.coverage = node.coverage;
    candidate.load_seconds = node.load_seconds;
    candidate.saved_seconds = node.saved_seconds;
    candidate.shares.reserve(datasets.size());
    for (const DatasetPlacement* placement : datasets) candidate.shares.push_back(share_of(placement, node.slot));
    decision.candidates.push_back(std::move(candidate));
  }
  decision.rejected.reserve(rejected.size());
  for (const Rejected& node : rejected) decision.rejected.push_back({node.slot, node.reason});
  return decision;
}

void show_placements(model::Decision& decision, const Query& query, std::span<const Evaluated> ranked,
                     const std::optional<LedgerCredit>& ledger) {
  if (!ledger || (query.pod.gpus == 0 && !query.pod.parts.any())) return;
  for (std::size_t i = 0; i < decision.candidates.size(); ++i) {
    // Between equal sets of whole GPUs only the one that will be asked for first is worth the search.
    const bool exact = ranked[i].slot != model::kNoSlot && (i == 0 || query.pod.parts.any());
    if (!exact) continue;
    auto placement = place_gpus(query.pod, ledger->view(ranked[i].slot));
    if (!placement) continue;
    decision.candidates[i].gpu_set = placement->gpus;
    decision.candidates[i].mig_slots = std::move(placement->slots);
  }
}

}  // namespace berth::policy
