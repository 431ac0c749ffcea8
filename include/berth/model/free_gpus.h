// What is left of the GPUs, in numbers for operators: how many are free, in what pieces, and how much of them the
// requests that are likely to come can't use.
//
// What bound pods hold and what is promised to others by firm entries counts as used; soft entries do not.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "berth/model/gpu_set.h"
#include "berth/model/snapshot.h"

namespace berth::model {

// Of a node, or summed over the cluster.
struct FreeGpus {
  std::int64_t whole = 0;            // GPUs of which nothing is used
  std::int64_t milli = 0;            // thousandths of GPUs, what is left of shared ones too; none of GPUs in MIG mode
  std::int64_t largest_request = 0;  // the most whole GPUs that a pod can get on one node
  // F of Weng et al., "Beware of Fragmentation" (USENIX ATC '23): Σ p · (R - u) over the classes of the mix, with p a
  // class's share, R `milli` and u what it can use of the node: nothing of a node with fewer GPUs or less CPU than it
  // asks for. `simulate` measures it as published: over the most frequent classes that make up 95 %, and to those
  // without GPUs all of R is fragmented. Here all classes count but those without GPUs, and those of partitions, which
  // R does not have; the shares of the others are made to add up to 1.
  double fragmented_milli = 0;
  // By size, the free GPUs that are in islands of so many. An island is a set of free GPUs that is connected as
  // BestSetTable has it: what a `restricted` pod could get. A GPU is one of its own where the links are not known, or
  // which GPUs are free.
  std::array<std::int64_t, kMaxGpus + 1> by_island{};

  // The part of `milli` that is fragmented, in [0, 1]; 0 where nothing is free.
  [[nodiscard]] double fragmentation() const;
  friend bool operator==(const FreeGpus&, const FreeGpus&) = default;
};

struct FreeGpusView {
  FreeGpus cluster;
  std::int32_t most_gpus = 0;  // on one node, free or not, at most kMaxGpus
  // By slot; nothing where no node is.
  std::vector<FreeGpus> nodes;
  std::vector<std::uint32_t> stamps;  // NodeState::stamp of what was counted
  std::uint64_t mix_version = 0;
};

// Of all nodes of the snapshot, against the mix of its packing view; without one, or where the mix has no class with
// GPUs, nothing is fragmented. What did not change since `before`, a view of an earlier snapshot of the same state, is
// taken from there. Time: about a microsecond a node that is counted.
FreeGpusView view_free_gpus(const Snapshot& snapshot, const FreeGpusView* before = nullptr);

}  // namespace berth::model
