// Reads one value of the configuration: type and range.
//
// Thread-safe: pure functions. Errors say what is allowed; the caller adds file, line and key.
#pragma once

#include <yaml-cpp/yaml.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"

namespace berth::server {

core::Result<std::string> read_text(const YAML::Node& node);
core::Result<bool> read_bool(const YAML::Node& node);
core::Result<std::size_t> read_count(const YAML::Node& node, std::size_t least, std::size_t most);
core::Result<double> read_weight(const YAML::Node& node);
core::Result<std::size_t> read_size(const YAML::Node& node, std::size_t least, std::size_t most);
core::Result<std::chrono::milliseconds> read_duration(const YAML::Node& node, std::chrono::milliseconds least,
                                                      std::chrono::milliseconds most);
core::Result<std::vector<std::string>> read_texts(const YAML::Node& node);

}  // namespace berth::server
