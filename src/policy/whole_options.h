// The cheapest ways to clear whole GPUs of a node.
//
// Time: 13,000 sets of GPUs at most. Most are passed over for a bound on what they cost, which two look-ups give.
//
// Thread-safe: pure.
#pragma once

#include <cstddef>
#include <vector>

#include "berth/model/gpu_topology.h"
#include "stand_ins.h"
#include "victims.h"

namespace berth::policy {

struct WholeOption {
  OccupantSet victims;
  EvictionCost cost;
};

struct WholeDemand {
  const NodeVictims& pods;
  const StandIns& stand_ins;
  const model::BestSetTable& sets;
  model::GpuMask pool;        // what is free if all go who may
  int gpus;                   // of them; from 1 to kMaxGpus
  bool links_count;           // sets that are not connected are worse
  bool connected_only;        // or won't do
  bool by_count;              // others may stand in for the scheduler's victims by count as well
  const EvictionCost* below;  // what an option must be cheaper than; null: there is no bound
};

// By cost, so many at most; every one evicts somebody, and others than the scheduler would.
std::vector<WholeOption> whole_options(const WholeDemand& demand, std::size_t most);

}  // namespace berth::policy
