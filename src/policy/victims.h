// What evicting pods of one node costs.
//
// Not thread-safe. The snapshot must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/snapshot.h"
#include "hypothesis.h"

namespace berth::policy {

// In the order in which it counts, less first.
struct EvictionCost {
  std::int64_t violations = 0;              // of budgets
  std::int64_t highest_priority = 0;        // of the victims
  std::int64_t priorities = 0;              // their sum, each raised above 0 as kube-scheduler has it
  bool apart = false;                       // the GPUs that the pod gets are not connected
  std::int64_t unlike = 0;                  // victims of the scheduler's that others stand in for by count alone
  std::int64_t lost_minutes = 0;            // of work, times GPUs
  std::int64_t gpus = 0;                    // that they hold
  std::vector<std::string_view> uids = {};  // ascending
  friend auto operator<=>(const EvictionCost&, const EvictionCost&) = default;
};

class NodeVictims {
 public:
  NodeVictims(const model::Snapshot& snapshot, const model::NodeState& state, core::WallTime now);

  [[nodiscard]] std::size_t size() const { return pods_.size(); }
  [[nodiscard]] const model::Occupant& pod(std::size_t i) const { return *pods_[i]; }
  // kMostOccupants if there is none of that UID.
  [[nodiscard]] std::size_t find(std::string_view uid) const;
  // By importance as kube-scheduler has it: the higher priority, then the earlier start.
  [[nodiscard]] const std::vector<std::size_t>& by_importance() const { return by_importance_; }
  // The cheapest to evict first.
  [[nodiscard]] std::vector<std::size_t> by_cost(const OccupantSet& among) const;
  // GPU-minutes since the later of start and last checkpoint.
  [[nodiscard]] std::int64_t lost_minutes(std::size_t i) const { return lost_[i]; }
  // Pods that are as good as the same to the scheduler: of one controller, asking for the same, labelled alike but for
  // their number.
  [[nodiscard]] bool alike(std::size_t a, std::size_t b) const;

  // How many of the victims violate a budget, counted as FilterVictimsWithPDBViolation of kube-scheduler does.
  [[nodiscard]] std::int64_t violations(const OccupantSet& victims) const;
  [[nodiscard]] EvictionCost cost(const OccupantSet& victims) const;

  // What is left of `victims` when each of `chosen` that has one alike among those of `victims` that are not needed
  // stands in for it; `chosen` included. The dearest are spared first.
  [[nodiscard]] OccupantSet exchanged(const OccupantSet& victims, const OccupantSet& needed) const;
  // Of those that exchanged() leaves also spares whom others stand in for that hold as many whole GPUs together and are
  // of no higher priority.
  [[nodiscard]] OccupantSet exchanged_by_count(const OccupantSet& victims, const OccupantSet& needed) const;

 private:
  std::vector<const model::Occupant*> pods_;
  std::vector<std::int64_t> lost_;
  std::vector<std::size_t> by_importance_;
  std::vector<std::vector<std::size_t>> budgets_of_;  // by pod; indices into allowed_
  std::vector<std::int32_t> allowed_;
};

}  // namespace berth::policy
