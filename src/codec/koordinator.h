// What Koordinator writes: the Device of a node, and the annotation scheduling.koordinator.sh/device-allocated of a
// pod. (apis/scheduling/v1alpha1/device_types.go and apis/extension/device_share.go of koordinator-sh/koordinator.)
//
// Thread-safe: pure functions.
#pragma once

#include <simdjson.h>

#include <string_view>
#include <vector>

#include "berth/codec/gpu_objects.h"
#include "berth/core/result.h"
#include "berth/model/pod.h"
#include "json_fields.h"

namespace berth::codec {

// A GPU's minor is its index; one that is left out between others is there, unhealthy. Links follow from PCIe switches
// and NUMA nodes for products without NVLink, of which a Device does not tell.
void read_into(KoordinatorDevice& device, simdjson::dom::object json, Reading& reading);

// kInvalid for what is not such an annotation, with the place.
core::Result<std::vector<model::DeviceClaim>> read_koordinator_pod(std::string_view json);

}  // namespace berth::codec
