// Reads a core/v1 Node into the model.
//
// Thread-safe: pure functions. Errors go to `reading`.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "berth/model/node.h"
#include "json_fields.h"

namespace berth::codec {

void read_into(model::Node& node, simdjson::dom::object json, const model::ResourceNames& resources, Reading& reading);

// metadata.name alone; a Node without one is an error.
std::string_view read_node_name(simdjson::dom::object json, Reading& reading);

}  // namespace berth::codec
