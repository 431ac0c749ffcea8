// What replays found, for people and for programs.
//
// Thread-safe: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/simulate/departures.h"
#include "berth/simulate/replay.h"

namespace berth::simulate {

struct PolicyReplays {
  PolicyName policy = PolicyName::kBerth;
  std::vector<Replay> runs;  // at least one
};
struct PolicyDepartures {
  PolicyName policy = PolicyName::kBerth;
  std::vector<DepartureRun> runs;  // one for each seed, the same ones for each policy
};

// Mean and population standard deviation over runs; runs that did not come as far are left out.
struct Spread {
  double mean = 0;
  double sd = 0;
  int runs = 0;
};
Spread spread(std::span<const double> values);

// Tables of allocation, fragmentation and failures by demand arrived, and with `islands` of tasks inside one.
std::string replay_table(const Workload& workload, std::span<const PolicyReplays> policies, bool islands);
// One policy: {"policy", "runs": [{"seed", "allocation": {"80": 79.9, ...}, ...}], "mean": {...}, "sd": {...}}, keyed
// by per cent of demand arrived; several: {"policies": [...]} of those.
std::string replay_json(const Workload& workload, std::span<const PolicyReplays> policies, bool islands);
// Allocation by demand arrived as an SVG picture; `title` is put above it.
std::string allocation_plot(std::span<const PolicyReplays> policies, const std::string& title);

// Waiting times by size, and the paired differences between each policy and the last one.
std::string departures_table(std::span<const PolicyDepartures> policies);
std::string departures_json(std::span<const PolicyDepartures> policies);

}  // namespace berth::simulate
