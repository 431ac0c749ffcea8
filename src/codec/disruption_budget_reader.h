// Reads a policy/v1 PodDisruptionBudget into the model.
//
// Thread-safe: a pure function. Errors go to `reading`.
#pragma once

#include <simdjson.h>

#include "berth/model/disruption_budget.h"
#include "json_fields.h"

namespace berth::codec {

void read_into(model::DisruptionBudget& budget, simdjson::dom::object json, Reading& reading);

}  // namespace berth::codec
