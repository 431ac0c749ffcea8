// From a watch event on the wire to the snapshot it is in: a source and a state of our own watch a bench API server.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>

#include "berth/core/result.h"
#include "generated_cluster.h"
#include "latencies.h"

namespace berth::bench {

// Latencies of the changes that alter what a node has free (half of all), seen by looking at the snapshot every 0.1 ms.
// kTimeout if one isn't seen within 30 s.
core::Result<Latencies> measure_events(const GeneratedCluster& cluster, double changes_per_second,
                                       std::chrono::seconds duration, const std::string& kubeconfig_directory);

}  // namespace berth::bench
