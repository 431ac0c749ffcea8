// Reads what `nvidia-smi topo -m` prints, of any driver, as it is or pasted from a terminal, an issue or a chat.
//
// A line of column names (GPU0, GPU1, ..., then NICs as NIC0 or mlx5_0, then CPU Affinity, NUMA Affinity and GPU NUMA
// ID as far as the driver knows them) is followed by a row for each GPU and NIC, and by legends. Anything may stand
// before; columns are parted by tabs or spaces; codes that underline are passed over.
//
// Thread-safe: pure functions.
#pragma once

#include <string_view>

#include "berth/core/result.h"
#include "berth/model/machine.h"

namespace berth::codec {

// A Machine with links, NUMA nodes and NICs, whose source is kAgent. A GPU that is near several NUMA nodes has none. Of
// more than 64 NICs the first 64 are kept. kTooLarge past 1 MiB and for more than 16 GPUs; else kInvalid, with the
// line, and the column where it is one, and what to do.
core::Result<model::Machine> read_topology_text(std::string_view text);

}  // namespace berth::codec
