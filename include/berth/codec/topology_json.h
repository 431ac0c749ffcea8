// JSON of `berth topology`: links, NUMA nodes and the best sets of a machine.
//
// Thread-safe: a pure function.
#pragma once

#include <string>

#include "berth/model/gpu_topology.h"

namespace berth::codec {

// {"gpus": n, "numa": [0, null, ...], "links": [[i, j, "NV18"], ...] (i < j), "best_sets": {"2": [[0, 1], ...], ...}}:
// for every number of GPUs from 2 to n, every set of the empty machine that ties for the widest bottleneck and then the
// greatest sum of bandwidths, ascending. 1.5 MB for 16 GPUs that are all linked alike.
std::string write_topology(const model::GpuShape& shape);

}  // namespace berth::codec
