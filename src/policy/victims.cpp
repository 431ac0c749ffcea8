#include "victims.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <string_view>
#include <tuple>

namespace berth::policy {
namespace {

using model::Label;
using model::Occupant;

// A share of a GPU counts by its part of the time, and at least a little.
double weight(const Occupant& pod) {
  const double share = pod.parts.gpus * std::max(0.1, pod.parts.milli / static_cast<double>(model::kWholeMilli));
  double partitions = 0;
  for (const model::MigDemand& demand : pod.parts.mig) partitions += demand.count / 7.0;
  return pod.gpus + share + partitions;
}

std::int64_t minutes_lost(const Occupant& pod, core::WallTime now) {
  if (pod.started == core::WallTime{}) return 0;
  const auto since = std::max(pod.started, pod.saved);
  const auto lost =
      std::chrono::duration<double, std::ratio<60>>(std::max(now - since, core::WallTime::duration::zero()));
  return static_cast<std::int64_t>(lost.count() * weight(pod));
}

// Labels by which controllers number their pods.
bool numbers(std::string_view key) { return key.ends_with("index") || key.ends_with("pod-name"); }

bool same_labels(const std::vector<Label>& a, const std::vector<Label>& b) {
  return std::ranges::equal(
      a, b, [](const Label& x, const Label& y) { return x.key == y.key && (x.value == y.value || numbers(x.key)); });
}

// Whether kube-scheduler counts an eviction of the pod against the budget: to it, an empty selector selects nothing.
bool counts(const model::DisruptionBudget& budget, const Occupant& pod) {
  return budget.ns == pod.ns && !budget.selector.empty() && budget.matches(pod.labels) &&
         std::ranges::find(budget.disrupted, pod.name) == budget.disrupted.end();
}

// A pod that has not started counts as starting now.
core::WallTime start_of(const Occupant& pod) {
  return pod.started == core::WallTime{} ? core::WallTime::max() : pod.started;
}

}  // namespace

NodeVictims::NodeVictims(const model::Snapshot& snapshot, const model::NodeState& state, core::WallTime now) {
  if (!state.occupants) return;
  const std::size_t known = std::min(state.occupants->size(), kMostOccupants);
  for (std::size_t i = 0; i < known; ++i) {
    pods_.push_back(&(*state.occupants)[i]);
    lost_.push_back(minutes_lost(*pods_[i], now));
  }
  by_importance_.resize(known);
  std::iota(by_importance_.begin(), by_importance_.end(), std::size_t{0});
  std::ranges::sort(by_importance_, [this](std::size_t a, std::size_t b) {
    const auto key = [](const Occupant& pod) {
      return std::tuple(-static_cast<std::int64_t>(pod.priority), start_of(pod), std::string_view(pod.uid));
    };
    return key(*pods_[a]) < key(*pods_[b]);
  });
  budgets_of_.resize(known);
  for (const model::DisruptionBudget& budget : *snapshot.budgets) {
    bool used = false;
    for (std::size_t i = 0; i < known; ++i) {
      if (pods_[i]->labels.empty() || !counts(budget, *pods_[i])) continue;
      used = true;
      budgets_of_[i].push_back(allowed_.size());
    }
    if (used) allowed_.push_back(budget.allowed);
  }
}

std::size_t NodeVictims::find(std::string_view uid) const {
  const auto found = std::ranges::find(pods_, uid, [](const Occupant* pod) -> std::string_view { return pod->uid; });
  return found == pods_.end() ? kMostOccupants : static_cast<std::size_t>(found - pods_.begin());
}

std::vector<std::size_t> NodeVictims::by_cost(const OccupantSet& among) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < size(); ++i) {
    if (among[i]) order.push_back(i);
  }
  std::ranges::sort(order, [this](std::size_t a, std::size_t b) {
    const auto key = [this](std::size_t i) {
      return std::tuple(pods_[i]->priority, lost_[i], pods_[i]->gpus, std::string_view(pods_[i]->uid));
    };
    return key(a) < key(b);
  });
  return order;
}

bool NodeVictims::alike(std::size_t a, std::size_t b) const {
  const Occupant& x = *pods_[a];
  const Occupant& y = *pods_[b];
  return !x.owner.empty() && x.owner == y.owner && x.ns == y.ns && x.gpus == y.gpus && x.parts == y.parts &&
         x.priority == y.priority && same_labels(x.labels, y.labels);
}

std::int64_t NodeVictims::violations(const OccupantSet& victims) const {
  if (allowed_.empty()) return 0;
  std::vector<std::int32_t> allowed = allowed_;
  std::int64_t violating = 0;
  for (const std::size_t i : by_importance_) {
    if (!victims[i]) continue;
    for (const std::size_t budget : budgets_of_[i]) {
      if (--allowed[budget] >= 0) continue;
      ++violating;
      break;
    }
  }
  return violating;
}

EvictionCost NodeVictims::cost(const OccupantSet& victims) const {
  constexpr std::int64_t kRaise = std::int64_t{1} << 31;
  EvictionCost cost;
  cost.violations = violations(victims);
  cost.highest_priority = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < size(); ++i) {
    if (!victims[i]) continue;
    const Occupant& pod = *pods_[i];
    cost.highest_priority = std::max<std::int64_t>(cost.highest_priority, pod.priority);
    cost.priorities += pod.priority + kRaise;
    cost.lost_minutes += lost_[i];
    cost.gpus += pod.gpus;
    cost.uids.emplace_back(pod.uid);
  }
  std::ranges::sort(cost.uids);
  return cost;
}

OccupantSet NodeVictims::exchanged(const OccupantSet& victims, const OccupantSet& needed) const {
  OccupantSet result = victims | needed;
  std::vector<std::size_t> spare = by_cost(victims & ~needed);
  const std::vector<std::size_t> fresh = by_cost(needed & ~victims);
  std::ranges::reverse(spare);
  for (const std::size_t stands_in : fresh) {
    const auto spared = std::ranges::find_if(spare, [&](std::size_t one) { return alike(one, stands_in); });
    if (spared == spare.end()) continue;
    result.reset(*spared);
    spare.erase(spared);
  }
  return result;
}

OccupantSet NodeVictims::exchanged_by_count(const OccupantSet& victims, const OccupantSet& needed) const {
  OccupantSet result = exchanged(victims, needed);
  // Those whom an alike one spared have been paid for.
  std::vector<std::int32_t> spent(size());
  for (const std::size_t spared : by_cost(victims & ~result)) {
    for (const std::size_t i : by_cost(needed & ~victims)) {
      if (spent[i] > 0 || !alike(i, spared)) continue;
      spent[i] = pods_[i]->gpus;
      break;
    }
  }
  std::vector<std::size_t> spare = by_cost(victims & result & ~needed);
  std::vector<std::size_t> fresh = by_cost(needed & ~victims);
  std::ranges::reverse(spare);
  std::ranges::reverse(fresh);
  for (const std::size_t one : spare) {
    std::int64_t missing = pods_[one]->gpus;
    if (missing <= 0 || pods_[one]->parts.any()) continue;
    std::vector<std::int32_t> then = spent;
    for (const std::size_t i : fresh) {
      if (pods_[i]->priority > pods_[one]->priority) continue;
      const auto used = static_cast<std::int32_t>(std::clamp<std::int64_t>(missing, 0, pods_[i]->gpus - then[i]));
      then[i] += used;
      missing -= used;
    }
    if (missing > 0) continue;
    spent = std::move(then);
    result.reset(one);
  }
  return result;
}

}  // namespace berth::policy
