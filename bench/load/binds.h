// Bursts of Binds onto a cluster that changes, as a scheduler sends them when many pods are placed at once, and Filter
// calls beside them.
//
// Not thread-safe.
#pragma once

#include <cstddef>

#include "berth/core/result.h"
#include "latencies.h"

namespace berth::bench {

struct BindFigures {
  Latencies total;           // of a Bind, from its first byte sent to its answer
  Latencies own;             // the same without what the API server took
  Latencies filter_with;     // while Binds come
  Latencies filter_without;  // while none do
  std::size_t shared = 0;    // GPUs that were given to two pods at once
  std::size_t refused = 0;   // Binds to a GPU that another pod of the burst got
};

// So many bursts, each of `pods` Binds at once, about one a second, to nodes that Filter chose; the API server takes 10
// ms for each. Filter is asked 50 times a second all the time, for as long without Binds as with them.
core::Result<BindFigures> measure_binds(std::size_t nodes, std::size_t bursts, std::size_t pods, double changes);

}  // namespace berth::bench
