// JSON of what is known of nodes and their GPUs, for GET /api/v1/nodes. Shape: docs/api.md.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "berth/core/clock.h"
#include "berth/model/free_gpus.h"
#include "berth/model/snapshot.h"

namespace berth::codec {

// {"count": N, "nodes": [...]}: the first `limit` by name, without their GPUs one by one. Ages are counted to `now`;
// `free` is the snapshot's.
std::string write_nodes(const model::Snapshot& snapshot, const model::FreeGpusView& free, core::WallTime now,
                        std::size_t limit);

// The object of one node, with its GPUs; nullopt if it does not exist.
std::optional<std::string> write_node(const model::Snapshot& snapshot, const model::FreeGpusView& free,
                                      core::WallTime now, std::string_view name);

}  // namespace berth::codec
