// A machine's links and its best sets of GPUs as tables that a person reads. Thread-safe: a pure function.
#pragma once

#include <string>

#include "berth/model/machine.h"

namespace berth::cli {

// `shape` is that of `machine`. Of sets that tie four are printed, the one that is taken first, then how many more
// there are.
std::string topology_table(const model::Machine& machine, const model::GpuShape& shape);

}  // namespace berth::cli
