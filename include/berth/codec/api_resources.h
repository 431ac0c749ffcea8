// Which resources an API group serves: reads a meta/v1 APIResourceList, the answer to GET /apis/GROUP/VERSION.
//
// Thread-safe: a pure function.
#pragma once

#include <string>
#include <vector>

#include "berth/core/result.h"

namespace berth::codec {

// Their names ("datasets"), subresources ("datasets/status") left out. `json` is given capacity for the parser's
// padding if it lacks it. kInvalid for anything but such a list, with the place.
core::Result<std::vector<std::string>> read_resource_names(std::string& json);

}  // namespace berth::codec
