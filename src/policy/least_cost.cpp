#include "least_cost.h"

#include <algorithm>

namespace berth::policy {

LeastCost::LeastCost(const NodeVictims& pods, const StandIns& stand_ins, bool by_count, std::span<const Unit> units)
    : unbounded_(!pods.all_count()) {
  if (unbounded_) return;
  // Offered pods that nobody can stand in for go in any case. Those that others can stand in for by count alone are
  // unlike, unless they are needed: where the sum of priorities comes to the bound, nobody goes who isn't in it.
  const OccupantSet spared = by_count ? stand_ins.whole() : OccupantSet();
  const OccupantSet fixed = stand_ins.offered() & ~stand_ins.alike() & ~spared;
  const OccupantSet unlike = spared & ~stand_ins.alike();

  std::vector<std::size_t> group_of(pods.size(), kMostCounted);
  for (const StandIns::Group& group : stand_ins.groups()) {
    if (groups_.size() == kMostCounted) break;
    for (const std::size_t i : group.offered) group_of[i] = groups_.size();
    for (const std::size_t i : group.others) group_of[i] = groups_.size();
    const std::size_t first = group.offered.front();
    const EvictionCost cost = pods.sum(OccupantSet().set(first));
    groups_.push_back({group.offered.size(), cost.highest_priority, cost.priorities, spared[first]});
  }
  for (const std::int32_t allowed : pods.allowed()) {
    if (groups_.size() + allowed_.size() < kMostCounted) allowed_.push_back(std::max(0, allowed));
  }
  // The first budget of a pod is always charged, the next ones only as long as none is violated.
  const auto count_for_budgets = [&](const OccupantSet& going, Counts& counts) {
    for (std::size_t i = 0; i < pods.size(); ++i) {
      if (!going[i] || pods.budgets_of(i).empty() || pods.budgets_of(i).front() >= allowed_.size()) continue;
      ++counts.pods[groups_.size() + pods.budgets_of(i).front()];
    }
  };

  fixed_ = pods.sum(fixed);
  fixed_.unlike = static_cast<std::int64_t>(unlike.count());
  count_for_budgets(fixed, counted_);
  std::vector<EvictionCost> costs;
  std::vector<Counts> counts(units.size());
  OccupantSet known = fixed;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    // What adds to the bound is counted for one unit only, what lowers it for every one.
    const OccupantSet& all = units[unit].pods;
    const OccupantSet fresh = all & ~known;
    known |= all;
    EvictionCost& cost = costs.emplace_back(pods.sum(fresh));
    cost.unlike = -static_cast<std::int64_t>((all & unlike).count());
    count_for_budgets(fresh, counts[unit]);
    for (std::size_t i = 0; i < pods.size(); ++i) {
      if (all[i] && group_of[i] < groups_.size()) ++counts[unit].pods[group_of[i]];
    }
  }
  costs_ = SumBySet<EvictionCost>(costs);
  counts_ = SumBySet<Counts>(counts);
}

EvictionCost LeastCost::of(std::uint32_t units) const {
  EvictionCost bound = fixed_;
  if (!unbounded_) costs_.add(units, bound);
  return bound;
}

void LeastCost::raise(std::uint32_t units, EvictionCost& bound) const {
  if (groups_.empty() && allowed_.empty()) return;
  Counts counts = counted_;
  counts_.add(units, counts);
  for (std::size_t budget = 0; budget < allowed_.size(); ++budget) {
    bound.violations += std::max<std::int64_t>(0, counts.pods[groups_.size() + budget] - allowed_[budget]);
  }
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const Alike& alike = groups_[group];
    const auto left = static_cast<std::int64_t>(alike.offered) - counts.pods[group];
    if (left <= 0) continue;
    if (alike.by_count) {
      bound.unlike += left;
      continue;
    }
    bound.highest_priority = std::max(bound.highest_priority, alike.priority);
    bound.priorities += left * alike.raised;
    bound.uids.reset();  // whose they are isn't known
  }
}

}  // namespace berth::policy
