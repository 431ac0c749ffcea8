// What datasets cost Filter: two servers, one on a cluster without any and one on the same nodes with many, asked in
// turns.
//
// Not thread-safe.
#pragma once

#include <cstddef>

#include "berth/core/result.h"
#include "latencies.h"

namespace berth::bench {

struct DatasetCost {
  Latencies without;          // Filter, pods that want no dataset
  Latencies with;             // Filter, every pod wants two
  double without_cpu_ms = 0;  // of the server's process, a call
  double with_cpu_ms = 0;
};

// `blocks` turns of each, of `calls` calls (Filter and Prioritize). As SchedulerLoad::run() where it fails.
core::Result<DatasetCost> measure_dataset_cost(std::size_t nodes, std::size_t datasets, std::size_t blocks,
                                               std::size_t calls);

}  // namespace berth::bench
