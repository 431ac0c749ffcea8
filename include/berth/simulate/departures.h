// Replays a cluster in use: tasks arrive at random, run for their lifetimes and leave; those that find no room wait.
//
// Tasks are drawn with replacement from those of the list that have a lifetime and fit on an empty cluster. Every
// waiting task is tried again, in order of arrival, whenever one ends. After the last arrival the cluster runs on until
// none waits.
//
// Thread-safe: pure functions. One seed draws the same tasks for every policy.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/core/result.h"
#include "berth/simulate/replay.h"

namespace berth::simulate {

struct DepartureSettings {
  ChooserSettings chooser = {};
  double load = 0.95;              // GPU time asked for, as a part of the GPU time there is
  std::int64_t arrivals = 0;       // tasks; 0: as many as last for 12 of the longest lifetimes
  std::int32_t large_gpus = 8;     // tasks of so many GPUs
  double large_weight = 10;        // are drawn so many times as often
  double longest_quantile = 0.95;  // of the list's lifetimes: longer ones are cut to it
  double dropped = 0.2;            // part of the arrivals that is not measured
};

struct DepartureRun {
  std::uint64_t seed = 0;
  BySize tasks = {};                            // measured
  std::array<double, kSizes> mean_wait_s = {};  // 0 where there are none
  std::array<double, kSizes> longest_wait_s = {};
  double allocation = 0;  // mean over the time in which measured tasks arrived, in per cent
};

// kInvalid if no task of the list has a lifetime.
core::Result<DepartureRun> run_departures(const Workload& workload, const DepartureSettings& settings,
                                          std::uint64_t seed);

// Mean of the paired differences a - b, and the half-width of its 95 % interval (Student's t); infinite for one pair.
struct Difference {
  double mean = 0;
  double half_width = 0;
};
Difference paired_difference(std::span<const double> a, std::span<const double> b);

}  // namespace berth::simulate
