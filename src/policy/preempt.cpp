#include "berth/policy/preempt.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "clear_node.h"
#include "settle.h"

namespace berth::policy {
namespace {

using model::PreemptionCandidate;
using model::Reason;
using model::Slot;
using model::Victim;

// A node that can be cleared.
struct Cleared {
  PreemptionCandidate candidate;
  std::optional<std::int64_t> highest_priority;  // of its victims; nullopt if not known
  double topology = 0;                           // part of the score
  std::int64_t lost_minutes = 0;
  std::size_t added = 0;
  std::size_t spared = 0;
};

bool elsewhere(const PreemptionCandidate& candidate) {
  return std::ranges::any_of(candidate.victims,
                             [&](const Victim& one) { return one.whole && one.node != candidate.node; });
}

// UIDs of the pods that hold GPUs on some node.
class HoldersOfAll {
 public:
  explicit HoldersOfAll(const model::Snapshot& snapshot) : snapshot_(snapshot) {}
  bool has(std::string_view uid) {
    if (!filled_) fill();
    return uids_.contains(uid);
  }

 private:
  void fill() {
    filled_ = true;
    for (const auto& block : snapshot_.blocks) {
      for (const model::NodeState& state : *block) {
        if (!state.occupants) continue;
        for (const model::Occupant& pod : *state.occupants) uids_.insert(pod.uid);
      }
    }
  }
  const model::Snapshot& snapshot_;
  std::unordered_set<std::string_view> uids_;
  bool filled_ = false;
};

// The scheduler's victims of a node, as far as we know them.
struct Known {
  std::vector<std::size_t> pods;  // by victim; kMostOccupants: holds no GPU
  OccupantSet set;
  bool others = false;  // one holds no GPU
};

std::optional<std::int64_t> priority_of(const Victim& victim, std::size_t pod, const NodeVictims& pods) {
  if (pod < pods.size()) return pods.pod(pod).priority;
  if (victim.whole) return victim.priority;
  return std::nullopt;
}

// The victims in order of importance: the scheduler's as it has them, those that are added among them. Where the
// priority of one isn't known, the added ones go before it.
Cleared clear(const PreemptionCandidate& offered, const Known& known, const Clearing& clearing,
              const NodeVictims& pods) {
  Cleared result;
  result.candidate.node = offered.node;
  std::vector<std::pair<Victim, std::size_t>> list;
  for (std::size_t i = 0; i < offered.victims.size(); ++i) {
    const std::size_t pod = known.pods[i];
    if (pod < pods.size() && !clearing.victims[pod]) {
      ++result.spared;
    } else {
      list.emplace_back(offered.victims[i], pod);
    }
  }
  OccupantSet added = clearing.victims & ~known.set;
  result.added = added.count();
  for (const std::size_t pod : pods.by_importance()) {
    if (!added[pod]) continue;
    const model::Occupant& one = pods.pod(pod);
    const auto behind = std::ranges::find_if(list, [&](const auto& other) {
      const auto priority = priority_of(other.first, other.second, pods);
      return !priority || *priority < one.priority;
    });
    list.insert(behind, {Victim{one.uid, false, {}, 0, {}}, pod});
  }
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (clearing.victims[i]) result.lost_minutes += pods.lost_minutes(i);
  }
  if (!list.empty()) result.highest_priority = priority_of(list.front().first, list.front().second, pods);
  // The scheduler's own count stands where its victims do: it sees pods that we don't.
  result.candidate.budget_violations = offered.budget_violations;
  if (result.added > 0 || result.spared > 0) {
    // To spare a pod ends one violation at most.
    const auto least = offered.budget_violations - static_cast<std::int64_t>(result.spared);
    result.candidate.budget_violations = std::max({std::int64_t{0}, least, pods.violations(clearing.victims)});
  }
  for (auto& [victim, pod] : list) result.candidate.victims.push_back(std::move(victim));
  result.topology = clearing.node.parts.topology;
  return result;
}

class Preemption {
 public:
  Preemption(const PreemptionQuery& query, const Settings& settings)
      : query_(query), settings_(settings), supposed_(query.snapshot), holders_(query.snapshot) {}

  PreemptionOutcome decide() {
    suppose();
    for (const PreemptionCandidate& candidate : query_.offered) judge(candidate);
    answer();
    return std::move(outcome_);
  }

 private:
  // Where all members of a gang must be together, the others may have to evict pods as well.
  void suppose() {
    if (query_.pod.gang_topology.required) {
      for (Slot slot = 0; slot < query_.snapshot.index->slots(); ++slot) suppose(slot);
    } else {
      for (const PreemptionCandidate& candidate : query_.offered) suppose(query_.snapshot.find(candidate.node));
    }
  }
  void suppose(Slot slot) {
    if (slot == model::kNoSlot) return;
    const OccupantSet gone = NodeClearing::evictable(query_.snapshot.at(slot), query_.pod);
    if (gone.any()) supposed_.evict(slot, gone);
  }

  // nullopt if a victim is on another node: a pod group's pods may be, and the scheduler refuses an answer with one.
  std::optional<Known> known_victims(const PreemptionCandidate& candidate, const NodeVictims& pods) {
    Known known;
    for (const Victim& victim : candidate.victims) {
      const std::size_t pod = pods.find(victim.uid);
      known.pods.push_back(pod);
      if (pod < pods.size()) {
        known.set.set(pod);
        continue;
      }
      if (!victim.whole && holders_.has(victim.uid)) return std::nullopt;
      known.others = true;
    }
    return known;
  }

  void judge(const PreemptionCandidate& candidate) {
    if (elsewhere(candidate)) {
      ++outcome_.misplaced;
      return;
    }
    const Slot slot = query_.snapshot.find(candidate.node);
    if (slot == model::kNoSlot) return judge_unknown(candidate);
    NodeClearing node(query_, settings_, supposed_, slot);
    const auto known = known_victims(candidate, node.pods());
    if (!known) {
      ++outcome_.misplaced;
      return;
    }
    const auto clearing = node.choose(known->set, known->others);
    if (!clearing && node.why_not() == Reason::kNone) {
      ++outcome_.misplaced;
      return;
    }
    if (!clearing) {
      outcome_.rejected.emplace_back(candidate.node, node.why_not());
      return;
    }
    cleared_.push_back(clear(candidate, *known, *clearing, node.pods()));
  }

  // The scheduler may know a node before we do.
  void judge_unknown(const PreemptionCandidate& candidate) {
    if (query_.pod.has_hard_rule(query_.now)) {
      outcome_.rejected.emplace_back(candidate.node, Reason::kNodeUnknown);
    } else if (candidate.victims.empty()) {
      ++outcome_.misplaced;
    } else {
      cleared_.push_back({candidate, std::nullopt});
    }
  }

  void answer() {
    const auto first_by_scheduler = [](const Cleared& one) {
      return std::pair(one.candidate.budget_violations, *one.highest_priority);
    };
    const auto key = [&](const Cleared& one) {
      return std::tuple_cat(first_by_scheduler(one), std::tuple(-one.topology, one.lost_minutes));
    };
    const Cleared* best = nullptr;
    for (const Cleared& one : cleared_) {
      if (one.highest_priority && (best == nullptr || key(one) < key(*best))) best = &one;
    }
    for (const Cleared& one : cleared_) {
      const bool ranked = one.highest_priority && !settings_.other_filtering_extender;
      if (ranked && key(*best) < key(one)) {
        ++outcome_.outranked;
        continue;
      }
      outcome_.added += one.added;
      outcome_.spared += one.spared;
      outcome_.answer.push_back(one.candidate);
    }
  }

  const PreemptionQuery& query_;
  const Settings& settings_;
  Hypothesis supposed_;
  HoldersOfAll holders_;
  std::vector<Cleared> cleared_;
  PreemptionOutcome outcome_;
};

}  // namespace

PreemptionOutcome decide_preemption(const PreemptionQuery& query, const Settings& settings) {
  const model::Snapshot snapshot = settled(query.snapshot, query.pod.uid);
  return Preemption({snapshot, query.pod, query.offered, query.now}, settings).decide();
}

PreemptionOutcome pass_preemption(std::span<const PreemptionCandidate> offered) {
  PreemptionOutcome outcome;
  for (const PreemptionCandidate& candidate : offered) {
    if (candidate.victims.empty() || elsewhere(candidate)) {
      ++outcome.misplaced;
    } else {
      outcome.answer.push_back(candidate);
    }
  }
  return outcome;
}

}  // namespace berth::policy
