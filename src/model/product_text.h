// Looks into product names such as NVIDIA-A100-SXM4-80GB.
//
// Thread-safe: pure.
#pragma once

#include <string_view>

namespace berth::model {

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace berth::model
