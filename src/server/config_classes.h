// Reads packing.classes: requests that are to be reckoned with however rare they are.
//
// Thread-safe: pure. Errors say what is allowed; the caller adds file, line and key.
#pragma once

#include <yaml-cpp/yaml.h>

#include <vector>

#include "berth/core/result.h"
#include "berth/model/request_mix.h"

namespace berth::server {

core::Result<std::vector<model::RequestShare>> read_classes(const YAML::Node& node);

}  // namespace berth::server
