// Replays a workload: tasks arrive one after another and stay, until more has been asked for than there is.
//
// The method is that of Weng et al., "Beware of Fragmentation" (USENIX ATC '23): tasks in random order, then more of
// them drawn with replacement until the demand is `inflation` times the capacity; a task that fits nowhere is dropped.
// What is measured is sorted by how much has been asked for so far, in per cent of the capacity.
//
// Thread-safe: pure functions; equal seeds give equal results, on every platform.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/simulate/chooser.h"

namespace berth::simulate {

// Tasks by size: those without GPUs, shares, then whole GPUs by number.
inline constexpr std::size_t kSizes = model::kMaxGpus + 2;
using BySize = std::array<std::int64_t, kSizes>;
std::size_t size_of(const model::RequestClass& request);
std::string size_name(std::size_t size);  // "cpu", "shared", "1", "2", ...

// Indices of the workload's tasks in the order of their arrival, and of its nodes in which ties are broken.
std::vector<std::uint32_t> arrivals(const Workload& workload, double inflation, std::uint64_t seed);
std::vector<std::uint32_t> node_order(const Workload& workload, std::uint64_t seed);

struct ReplaySettings {
  ChooserSettings chooser = {};
  double inflation = 1.3;
  // The mix is learned from the first part of the arrivals alone; nullopt: it is that of the list, known beforehand.
  std::optional<double> mix_from = {};
};

// Means over the tasks that arrived within one per cent, rounded to the nearest; counts are since the beginning.
struct Point {
  std::int64_t tasks = 0;      // that arrived in this per cent; 0: nothing is known of it
  double allocation = 0;       // of GPUs, in per cent of the capacity
  double fragmentation = 0;    // what is free and no use to a task drawn from the list (FGD's F), likewise
  double unusable = 0;         // the same in per cent of what is free
  BySize failed = {};          // tasks that fitted nowhere
  std::int64_t linked = 0;     // tasks of 2 and of 4 GPUs placed
  std::int64_t in_island = 0;  // of them, on GPUs of one island
};

struct Replay {
  std::uint64_t seed = 0;
  std::vector<Point> points;  // by per cent of the capacity that has been asked for
};

Replay replay(const Workload& workload, const ReplaySettings& settings, std::uint64_t seed);

// FGD's F of the empty cluster with the mix of the workload's list, in thousandths of GPUs.
double empty_fragmentation_milli(const Workload& workload);

}  // namespace berth::simulate
