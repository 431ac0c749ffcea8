// What is free of the GPUs of a node or of the cluster, as the admin port writes it.
//
// Thread-safe: a pure function.
#pragma once

#include <nlohmann/json.hpp>

#include "berth/model/free_gpus.h"

namespace berth::codec {

// {"whole": 5, "milli": 5400, "largestRequest": 3, "fragmentation": 0.25, "byIsland": {"2": 2, "3": 3}}: sizes of which
// there is none are left out.
nlohmann::ordered_json free_gpus_json(const model::FreeGpus& free);

}  // namespace berth::codec
