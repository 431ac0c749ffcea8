// Reads a ResourceSlice of the driver gpu.nvidia.com; of other drivers only whose it is.
//
// Thread-safe: a pure function.
#pragma once

#include <simdjson.h>

#include "berth/codec/gpu_objects.h"
#include "json_fields.h"

namespace berth::codec {

void read_into(ResourceSlice& slice, simdjson::dom::object json, Reading& reading);

}  // namespace berth::codec
