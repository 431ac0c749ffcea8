// Reads small files whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "berth/core/result.h"

namespace berth::kube {

// kNotFound if it is not there, kTooLarge above `max_bytes`, kUnavailable if it can't be read.
core::Result<std::string> read_small_file(const std::filesystem::path& file, std::size_t max_bytes);

}  // namespace berth::kube
