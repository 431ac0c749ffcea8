#include "stand_ins.h"

#include <algorithm>
#include <utility>

namespace berth::policy {

StandIns::StandIns(const NodeVictims& pods, const OccupantSet& offered) : offered_(offered), in_place_(offered) {
  const std::vector<std::size_t> by_cost = pods.by_cost(OccupantSet().set());
  std::vector<Group> groups;
  const auto group_of = [&](std::size_t i) {
    return std::ranges::find_if(groups, [&](const Group& group) { return pods.alike(group.offered.front(), i); });
  };
  for (auto at = by_cost.rbegin(); at != by_cost.rend(); ++at) {
    const std::size_t i = *at;
    const model::Occupant& pod = pods.pod(i);
    if (!offered[i]) {
      if (pod.gpus > 0) holders_.push_back({i, pod.priority, pod.gpus});
      continue;
    }
    if (pod.gpus > 0 && !pod.parts.any()) {
      spare_.push_back({i, pod.priority, pod.gpus});
      whole_.set(i);
    }
    auto group = group_of(i);
    if (group == groups.end()) group = groups.insert(groups.end(), Group());
    group->offered.push_back(i);
  }
  for (const std::size_t i : by_cost) {
    if (offered[i]) continue;
    if (const auto group = group_of(i); group != groups.end()) group->others.push_back(i);
  }
  for (Group& group : groups) {
    if (group.others.empty()) continue;
    for (const std::size_t i : group.others) in_place_.set(i);
    for (const std::size_t i : group.offered) alike_.set(i);
    groups_.push_back(std::move(group));
  }
}

OccupantSet StandIns::exchanged(const OccupantSet& needed) const {
  OccupantSet result = offered_ | needed;
  for (const Group& group : groups_) {
    std::size_t fresh = 0;
    for (const std::size_t i : group.others) fresh += needed[i] ? 1 : 0;
    for (auto i = group.offered.begin(); fresh > 0 && i != group.offered.end(); ++i) {
      if (needed[*i]) continue;
      result.reset(*i);
      --fresh;
    }
  }
  return result;
}

OccupantSet StandIns::exchanged_by_count(const OccupantSet& needed, const OccupantSet& exchanged) const {
  OccupantSet result = exchanged;
  // Those whom an alike one spared have been paid for, by the cheapest.
  OccupantSet paying = needed;
  for (const Group& group : groups_) {
    std::size_t spared = 0;
    for (const std::size_t i : group.offered) spared += result[i] ? 0 : 1;
    for (auto i = group.others.begin(); spared > 0 && i != group.others.end(); ++i) {
      if (!needed[*i]) continue;
      paying.reset(*i);
      --spared;
    }
  }
  const auto gpus = [&](const Holder& holder) { return paying[holder.pod] ? std::int64_t{holder.gpus} : 0; };
  std::int64_t total = 0;
  for (const Holder& holder : holders_) total += gpus(holder);
  // Holders pay one after the other. One of too high a priority to pay for a victim is so for all that follow.
  auto next = holders_.begin();
  std::int64_t paid = 0;  // by the next one
  for (const Holder& one : spare_) {
    if (needed[one.pod] || !result[one.pod]) continue;
    for (; next != holders_.end() && next->priority > one.priority; ++next)
      total -= gpus(*next) - std::exchange(paid, 0);
    if (one.gpus > total) continue;
    total -= one.gpus;
    result.reset(one.pod);
    for (paid += one.gpus; paid > 0 && paid >= gpus(*next); ++next) paid -= gpus(*next);
  }
  return result;
}

}  // namespace berth::policy
