// Reads a NodeResourceTopology: zones of type "Node" at the top level, "node-0" and so on, with a capacity by resource.
//
// Thread-safe: a pure function.
#pragma once

#include <simdjson.h>

#include "berth/codec/gpu_objects.h"
#include "berth/model/node.h"
#include "json_fields.h"

namespace berth::codec {

// What is free in a zone is not looked at: it is written now and then, and out of date when pods come and go.
void read_into(NumaTopology& topology, simdjson::dom::object json, const model::ResourceNames& resources,
               Reading& reading);

}  // namespace berth::codec
