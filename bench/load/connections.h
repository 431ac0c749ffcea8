// Many connections opened at once and kept open, as a burst of bindings leaves them.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "berth/core/result.h"
#include "generated_cluster.h"
#include "latencies.h"

namespace berth::bench {

struct ConnectionFigures {
  std::size_t connections = 0;
  Latencies first;       // from before the connection was asked for to its first answer
  Latencies after_idle;  // of a second request, all sent at once, after `idle`
  std::chrono::seconds idle{0};
};

// Each asks Filter for one pod and 100 nodes.
core::Result<ConnectionFigures> measure_connections(const GeneratedCluster& cluster, std::uint16_t extender_port,
                                                    std::size_t connections, std::chrono::seconds idle);

}  // namespace berth::bench
