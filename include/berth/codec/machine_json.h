// JSON of a machine (node annotation berth.io/topology) and of who holds its GPUs (berth.io/gpu-holders), as the agent
// writes them. Shape: docs/gpu-topology.md.
//
// Readers take bytes from anybody who may annotate a node: what they don't know they pass over, and what they know they
// check, with limits on all that is kept. Errors name the field: kInvalid, or kTooLarge past 256 KiB of text.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "berth/core/result.h"
#include "berth/model/machine.h"

namespace berth::codec {

// A Machine of source kAgent. At most 16 GPUs and 64 NICs; links of every pair once, or none; NUMA nodes 0 to 127.
core::Result<model::Machine> read_machine(std::string_view json);
// What read_machine() reads, but for `source` and `numa_gpus`; what is not known is left out.
std::string write_machine(const model::Machine& machine);

// At most 4,096 pods, each once, with GPUs 0 to 15 and slots within 8 memory slices; sorted by namespace and name.
core::Result<model::GpuHolders> read_holders(std::string_view json);
std::string write_holders(const model::GpuHolders& holders);

}  // namespace berth::codec
