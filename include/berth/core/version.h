// The version of the program, one for all modules.
#pragma once

#include <string_view>

namespace berth::core {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace berth::core
