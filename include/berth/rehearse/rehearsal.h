// Replays a workload through the real protocol: plays the cluster around a Berth that it starts.
//
// It plays the API server (nodes, pods, SchedulingPolicies; lists, watches, Bindings) and kube-scheduler: for each task
// it checks CPU, memory and counts of extended resources as in-tree plugins do, asks Filter and Prioritize with the
// names of the nodes left, adds Berth's 0 to 10 to the score of NodeResourcesFit as deploy/examples has it, takes any
// of equal nodes, and has Berth bind the pod. A task comes when Berth's newest snapshot shows what became of the last
// one, and waits in the API, as the next of a queue, from then on. One that finds no node, or that Bind refuses, is
// deleted.
//
// Thread-safe: runs share nothing. docs/packing.md says what is played and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "berth/core/result.h"
#include "berth/simulate/replay.h"

namespace berth::rehearse {

struct RehearsalSettings {
  std::string program = "/proc/self/exe";  // the Berth that is started
  std::string config = {};                 // its configuration file; empty: none
  double inflation = 1.3;
  bool islands = false;  // GPUs 0-3 and 4-7 of 8 are linked by NVLink
  // Told after every arrival of how many have come; may be empty.
  std::function<void(std::size_t arrived, std::size_t of)> progress = {};
};

// kInvalid for a workload that can't be shown as Kubernetes objects; else what went wrong with Berth, with its log.
core::Result<simulate::Replay> rehearse(const simulate::Workload& workload, const RehearsalSettings& settings,
                                        std::uint64_t seed);

}  // namespace berth::rehearse
