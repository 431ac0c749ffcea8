// Who of the scheduler's victims of a node is spared because others that have to go stand in for them.
//
// Thread-safe: immutable once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "victims.h"

namespace berth::policy {

class StandIns {
 public:
  // Alike pods, some of them offered and some not.
  struct Group {
    std::vector<std::size_t> offered;  // the dearest first
    std::vector<std::size_t> others;   // the cheapest first
  };

  StandIns(const NodeVictims& pods, const OccupantSet& offered);

  [[nodiscard]] const OccupantSet& offered() const { return offered_; }
  // Who may be evicted without making the victims more: the offered ones, and those alike one of them.
  [[nodiscard]] const OccupantSet& in_place() const { return in_place_; }
  // Of the offered ones those that an alike one can stand in for, and those that any can that hold as many whole GPUs.
  [[nodiscard]] const OccupantSet& alike() const { return alike_; }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  [[nodiscard]] const OccupantSet& whole() const { return whole_; }

  // What is left of the offered ones when each of `needed` that has one alike among those that are not needed stands in
  // for it; `needed` included. The dearest are spared first.
  [[nodiscard]] OccupantSet exchanged(const OccupantSet& needed) const;
  // Of `exchanged`, which is of the same, also spares whom others stand in for that hold as many whole GPUs together
  // and are of no higher priority.
  [[nodiscard]] OccupantSet exchanged_by_count(const OccupantSet& needed, const OccupantSet& exchanged) const;

 private:
  struct Holder {
    std::size_t pod;
    std::int32_t priority;
    std::int32_t gpus;
  };

  OccupantSet offered_;
  OccupantSet in_place_;
  OccupantSet alike_;
  OccupantSet whole_;
  std::vector<Group> groups_;
  std::vector<Holder> spare_;    // whole_, the dearest first
  std::vector<Holder> holders_;  // others that hold whole GPUs, the dearest first
};

}  // namespace berth::policy
