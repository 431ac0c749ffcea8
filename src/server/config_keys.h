// The keys of the configuration with what each sets: one table for the reader and for the documentation.
//
// Thread-safe: constant.
#pragma once

#include <yaml-cpp/yaml.h>

#include <span>

#include "berth/server/config.h"

namespace berth::server {

struct KeyReader {
  ConfigKey key;
  core::Result<void> (*read)(const YAML::Node& node, Config& config);
};

std::span<const KeyReader> key_readers();

}  // namespace berth::server
