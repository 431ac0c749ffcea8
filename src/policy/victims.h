// What evicting pods of one node costs.
//
// Not thread-safe. The snapshot must outlive it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/snapshot.h"
#include "hypothesis.h"

namespace berth::policy {

// In the order in which it counts, less first.
struct EvictionCost {
  std::int64_t violations = 0;  // of budgets
  std::int64_t highest_priority = std::numeric_limits<std::int64_t>::min();
  std::int64_t priorities = 0;    // their sum, each raised to 0 or above as kube-scheduler has it
  bool apart = false;             // the GPUs that the pod gets are not connected
  std::int64_t unlike = 0;        // victims of the scheduler's that others stand in for by count alone
  std::int64_t lost_minutes = 0;  // of work, times GPUs
  std::int64_t gpus = 0;          // that they hold
  OccupantSet uids = {};          // by their order among the node's pods; compared as ascending lists

  // Of the pods of both; they have none in common.
  EvictionCost& operator+=(const EvictionCost& other) {
    violations += other.violations;
    highest_priority = std::max(highest_priority, other.highest_priority);
    priorities += other.priorities;
    apart = apart || other.apart;
    unlike += other.unlike;
    lost_minutes += other.lost_minutes;
    gpus += other.gpus;
    uids |= other.uids;
    return *this;
  }
  friend bool operator==(const EvictionCost& a, const EvictionCost& b) = default;
  friend std::strong_ordering operator<=>(const EvictionCost& a, const EvictionCost& b);
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

  // Of the budgets that count for pods of the node, how many evictions each allows; and the budgets of a pod, as
  // indices into these.
  [[nodiscard]] const std::vector<std::int32_t>& allowed() const { return allowed_; }
  [[nodiscard]] const std::vector<std::size_t>& budgets_of(std::size_t i) const { return budgets_of_[i]; }

  // Nobody's priority adds nothing to a sum of priorities.
  [[nodiscard]] bool all_count() const;

  // How many of the victims violate a budget, counted as FilterVictimsWithPDBViolation of kube-scheduler does.
  [[nodiscard]] std::int64_t violations(const OccupantSet& victims) const;
  [[nodiscard]] EvictionCost cost(const OccupantSet& victims) const;
  // The same but for the violations, of which there are none in it.
  [[nodiscard]] EvictionCost sum(const OccupantSet& victims) const;

 private:
  std::vector<const model::Occupant*> pods_;
  std::vector<std::int64_t> lost_;
  std::vector<EvictionCost> costs_;  // of one pod
  std::vector<std::size_t> by_importance_;
  std::vector<std::vector<std::size_t>> budgets_of_;  // by pod
  std::vector<std::int32_t> allowed_;
};

}  // namespace berth::policy
