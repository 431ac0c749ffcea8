// What clearing sets of GPUs of a node costs at least: a bound that is much quicker to tell than the cost.
//
// Thread-safe: immutable once built. The pods must outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/model/gpu_set.h"
#include "stand_ins.h"
#include "sum_by_set.h"
#include "victims.h"

namespace berth::policy {

// GPUs that the same pods hold: all of these go if one of the GPUs is taken.
struct Unit {
  OccupantSet pods;
  model::GpuMask gpus = 0;
};

class LeastCost {
 public:
  // At most kMaxGpus units. `by_count`: others may stand in for the scheduler's victims by count as well.
  LeastCost(const NodeVictims& pods, const StandIns& stand_ins, bool by_count, std::span<const Unit> units);

  // No option that needs these units, bit i for the i-th, is cheaper, but for how the GPUs are connected.
  [[nodiscard]] EvictionCost of(std::uint32_t units) const;
  // Makes that bound closer by who can't be spared and by the budgets.
  void raise(std::uint32_t units, EvictionCost& bound) const;

 private:
  static constexpr std::size_t kMostCounted = 16;  // what is beyond does not raise the bound
  struct Counts {
    std::array<std::uint16_t, kMostCounted> pods{};
    Counts& operator+=(const Counts& other) {
      for (std::size_t i = 0; i < pods.size(); ++i) pods[i] = static_cast<std::uint16_t>(pods[i] + other.pods[i]);
      return *this;
    }
  };
  // Offered pods that are alike. Those that are neither needed nor have one alike that is must go, unless others may
  // stand in by count.
  struct Alike {
    std::size_t offered;
    std::int64_t priority;
    std::int64_t raised;
    bool by_count;
  };

  SumBySet<EvictionCost> costs_;
  SumBySet<Counts> counts_;
  EvictionCost fixed_;  // beside the units
  Counts counted_;      // likewise
  // What is counted: pods by group, then by their first budget.
  std::vector<Alike> groups_;
  std::vector<std::int64_t> allowed_;
  bool unbounded_ = false;  // nothing is known: some priorities add nothing to the sum
};

}  // namespace berth::policy
