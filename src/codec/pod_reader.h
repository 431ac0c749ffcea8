// Reads a core/v1 Pod into the model, for extender calls, lists and watches alike.
//
// Thread-safe: pure functions. Errors go to `reading`.
#pragma once

#include <simdjson.h>

#include "berth/model/node.h"
#include "berth/model/pod.h"
#include "json_fields.h"

namespace berth::codec {

// A pod need not have a name here: kube-scheduler's always do, and a what-if may go without.
void read_into(model::Pod& pod, simdjson::dom::object json, const model::ResourceNames& resources, Reading& reading);

}  // namespace berth::codec
