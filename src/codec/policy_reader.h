// Reads a SchedulingPolicy of berth.io/v1alpha1 (deploy/crds/schedulingpolicies.yaml).
//
// The API server checks values, but a dump was not checked, and an older definition may allow more. A value that is not
// allowed lands in SchedulingPolicy::invalid, with its field: the policy is then there and refuses pods, where an
// object that can't be read would be missing. Thread-safe: a pure function. Errors go to `reading`.
#pragma once

#include <simdjson.h>

#include "berth/model/scheduling_policy.h"
#include "json_fields.h"

namespace berth::codec {

void read_into(model::SchedulingPolicy& policy, simdjson::dom::object json, Reading& reading);

}  // namespace berth::codec
