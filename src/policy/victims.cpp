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

// So that no priority is below 0.
constexpr std::int64_t kRaise = std::int64_t{1} << 31;

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

std::strong_ordering operator<=>(const EvictionCost& a, const EvictionCost& b) {
  const auto numbers = [](const EvictionCost& cost) {
    return std::tie(cost.violations, cost.highest_priority, cost.priorities, cost.apart, cost.unlike, cost.lost_minutes,
                    cost.gpus);
  };
  const std::strong_ordering order = numbers(a) <=> numbers(b);
  if (order != 0) return order;
  const OccupantSet differing = a.uids ^ b.uids;
  if (differing.none()) return order;
  std::size_t first = 0;
  while (!differing[first]) ++first;
  // A list that ends there comes before one that goes on.
  const bool less = a.uids[first] ? (b.uids >> first).any() : (a.uids >> first).none();
  return less ? std::strong_ordering::less : std::strong_ordering::greater;
}

NodeVictims::NodeVictims(const model::Snapshot& snapshot, const model::NodeState& state, core::WallTime now) {
  if (!state.occupants) return;
  const std::size_t known = std::min(state.occupants->size(), kMostOccupants);
  for (std::size_t i = 0; i < known; ++i) {
    pods_.push_back(&(*state.occupants)[i]);
    lost_.push_back(minutes_lost(*pods_[i], now));
  }
  std::vector<std::size_t> by_uid(known);
  std::iota(by_uid.begin(), by_uid.end(), std::size_t{0});
  std::ranges::sort(by_uid, {}, [this](std::size_t i) { return std::string_view(pods_[i]->uid); });
  costs_.resize(known);
  for (std::size_t order = 0; order < known; ++order) {
    const std::size_t i = by_uid[order];
    EvictionCost& cost = costs_[i];
    cost.highest_priority = pods_[i]->priority;
    cost.priorities = pods_[i]->priority + kRaise;
    cost.lost_minutes = lost_[i];
    cost.gpus = pods_[i]->gpus;
    cost.uids.set(order);
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

bool NodeVictims::all_count() const {
  return std::ranges::all_of(costs_, [](const EvictionCost& cost) { return cost.priorities > 0; });
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
  EvictionCost cost = sum(victims);
  cost.violations = violations(victims);
  return cost;
}

EvictionCost NodeVictims::sum(const OccupantSet& victims) const {
  EvictionCost sum;
  for (std::size_t i = 0; i < size(); ++i) {
    if (victims[i]) sum += costs_[i];
  }
  return sum;
}

}  // namespace berth::policy
