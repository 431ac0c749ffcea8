// Reads what tells of data into the model: Datasets, runtimes and DataLoads of data.fluid.io/v1alpha1 (0.9 to 1.0.8),
// and the persistent volume claims that Fluid makes or takes over.
//
// A figure that can't be read is unknown, not an error: Fluid writes "[Calculating]", "N/A", "-" and nothing at all.
//
// Thread-safe: pure functions. Errors go to `reading`.
#pragma once

#include <simdjson.h>

#include "berth/model/dataset.h"
#include "json_fields.h"

namespace berth::codec {

void read_into(model::Dataset& dataset, simdjson::dom::object json, Reading& reading);
void read_into(model::Claim& claim, simdjson::dom::object json, Reading& reading);
// `runtime.type` is set already.
void read_into(model::CacheRuntime& runtime, simdjson::dom::object json, Reading& reading);
void read_into(model::DataLoad& load, simdjson::dom::object json, Reading& reading);

}  // namespace berth::codec
