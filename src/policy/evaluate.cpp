#include "evaluate.h"

#include <algorithm>
#include <unordered_set>

#include "berth/policy/filters.h"
#include "berth/policy/scores.h"

namespace berth::policy {
namespace {

using model::Reason;
using model::Slot;

// What the pod's datasets and ledger mean for each slot, worked out once for a query.
class SlotFacts {
 public:
  explicit SlotFacts(const Query& query) : datasets_(query.pod.datasets.size()) {
    const model::Snapshot& snapshot = query.snapshot;
    if (datasets_ > 0) {
      coverage_.assign(snapshot.index->slots(), 0);
      held_.assign(snapshot.index->slots(), 0);
    }
    const double enough = query.pod.min_coverage.value_or(0);
    for (const model::WantedDataset& dataset : query.pod.datasets) {
      const model::DatasetPlacement* placement = snapshot.placement(dataset.ref);
      if (placement == nullptr) continue;
      for (const auto& holder : placement->holders) {
        coverage_[holder.slot] += static_cast<double>(holder.coverage) / static_cast<double>(datasets_);
        if (holder.coverage > 0 && static_cast<double>(holder.coverage) >= enough) ++held_[holder.slot];
      }
    }
    for (const auto& [uid, entry] : *snapshot.ledger) {
      const bool firm = entry.kind == model::EntryKind::kFirm;
      if (uid != query.pod.uid && !(firm && entry.priority < query.pod.priority)) continue;
      auto& credit = firm ? firm_credit_ : soft_credit_;
      if (credit.empty()) credit.assign(snapshot.index->slots(), 0);
      credit[entry.slot] += entry.gpus;
    }
  }

  [[nodiscard]] NodeView view(const model::NodeState& state, Slot slot) const {
    NodeView view{&state, state.firm, state.soft, 0, true};
    if (datasets_ > 0) {
      view.coverage = coverage_[slot];
      view.holds_all = held_[slot] == datasets_;
    }
    if (!firm_credit_.empty()) view.firm_others -= firm_credit_[slot];
    if (!soft_credit_.empty()) view.soft_others -= soft_credit_[slot];
    return view;
  }

 private:
  std::size_t datasets_;
  std::vector<double> coverage_;  // by slot
  std::vector<std::size_t> held_;
  std::vector<std::int32_t> firm_credit_;  // GPUs of entries that hold nothing against this pod; empty if none
  std::vector<std::int32_t> soft_credit_;
};

// A part that is off for this pod is off here too, else the unknown would beat everything known.
Evaluated unknown_node(std::uint32_t name, const model::PodRequest& pod, const Settings& settings) {
  Evaluated result;
  result.name = name;
  result.holds_all = false;
  const bool topology_counts = pod.gpus > 0 && pod.topology_policy != model::TopologyPolicy::kNone;
  result.parts = weigh({0, topology_counts ? kNeutral : 0, kNeutral, 0}, settings.weights);
  return result;
}

}  // namespace

Evaluation evaluate(const Query& query, const Settings& settings) {
  Evaluation result;
  if (query.pod.invalid) {
    result.rejected.reserve(query.names.size());
    for (std::uint32_t name = 0; name < query.names.size(); ++name) {
      result.rejected.push_back({name, query.snapshot.find(query.names[name]), Reason::kInvalidPolicy});
    }
    return result;
  }
  result.fitting.reserve(query.names.size());
  const SlotFacts facts(query);
  const bool required = query.pod.requires_any_dataset(query.now);
  const bool hard_rule = query.pod.has_hard_rule(query.now);
  std::vector<bool> seen(query.snapshot.index->slots());
  std::unordered_set<std::string_view> unknown;

  for (std::uint32_t name = 0; name < query.names.size(); ++name) {
    const Slot slot = query.snapshot.find(query.names[name]);
    if (slot == model::kNoSlot) {
      if (!unknown.insert(query.names[name]).second) continue;
      if (hard_rule) {
        result.rejected.push_back({name, model::kNoSlot, Reason::kNodeUnknown});
      } else {
        result.fitting.push_back(unknown_node(name, query.pod, settings));
      }
      continue;
    }
    if (seen[slot]) continue;
    seen[slot] = true;

    const NodeView node = facts.view(query.snapshot.at(slot), slot);
    const auto gpu_set = choose_gpus(query.pod, node);
    Reason reason = filter_gpu_count(query.pod, node, settings.gpu_count);
    if (reason == Reason::kNone) reason = filter_gpu_product(query.pod, node);
    if (reason == Reason::kNone) reason = filter_gpu_memory(query.pod, node);
    if (reason == Reason::kNone) reason = filter_topology(query.pod, node, gpu_set);
    if (reason == Reason::kNone) reason = filter_dataset(query.pod, node, required);
    if (reason != Reason::kNone) {
      result.rejected.push_back({name, slot, reason});
      continue;
    }
    Evaluated fits;
    fits.name = name;
    fits.slot = slot;
    fits.rank = query.snapshot.index->rank(slot);
    fits.fit = query.pod.gpus == 0 || node.unpromised() >= query.pod.gpus ? 2 : node.unused() >= query.pod.gpus ? 1 : 0;
    fits.holds_all = node.holds_all;
    fits.used = node.state->gpus - node.unpromised();
    fits.gpus_free = std::max(0, node.unused());
    fits.gpu_set = gpu_set.value_or(0);
    fits.coverage = query.pod.datasets.empty() ? 0 : node.coverage;
    fits.parts = weigh(
        {score_locality(query.pod, node), score_topology(query.pod, node, gpu_set), score_packing(query.pod, node), 0},
        settings.weights);
    result.fitting.push_back(fits);
  }
  return result;
}

bool Better::operator()(const Evaluated& a, const Evaluated& b) const {
  if (a.fit != b.fit) return a.fit > b.fit;
  if (a.parts.total != b.parts.total) return a.parts.total > b.parts.total;
  if (a.used != b.used) return a.used > b.used;
  if (a.rank != b.rank) return a.rank < b.rank;
  return query_.names[a.name] < query_.names[b.name];
}

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
  for (const Evaluated& node : ranked) {
    model::Candidate candidate;
    candidate.node = query.names[node.name];
    candidate.parts = node.parts;
    candidate.gpus_free = node.gpus_free;
    candidate.gpu_set = node.gpu_set;
    candidate.coverage = node.coverage;
    decision.candidates.push_back(std::move(candidate));
  }
  decision.rejected.reserve(rejected.size());
  for (const Rejected& node : rejected) decision.rejected.push_back({node.slot, node.reason});
  return decision;
}

}  // namespace berth::policy
