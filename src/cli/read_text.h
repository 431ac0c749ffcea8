// A whole file or standard input ("-") as text, bounded.
#pragma once

#include <cstddef>
#include <string>

#include "berth/core/result.h"

namespace berth::cli {

core::Result<std::string> read_text(const std::string& path, std::size_t most_bytes);

}  // namespace berth::cli
