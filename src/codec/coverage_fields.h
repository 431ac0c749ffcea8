// How a figure of coverage is written wherever the admin port shows one: with its source and its age.
//
// Thread-safe: pure functions.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "berth/core/clock.h"
#include "berth/model/dataset.h"

namespace berth::codec {

// Instead of a source, where nothing is known of a dataset on a node.
inline constexpr std::string_view kNoSource = "none";

// Four digits tell as much as a figure of coverage can.
inline double rounded(double part) { return std::round(part * 1e4) / 1e4; }

// Whole seconds from `observed` to `now`, never negative: clocks of two machines differ. Nullopt if never observed.
inline std::optional<std::int64_t> age_seconds(core::WallTime observed, core::WallTime now) {
  if (observed == core::WallTime{}) return std::nullopt;
  return std::max<std::int64_t>(0, std::chrono::floor<std::chrono::seconds>(now - observed).count());
}

inline std::string_view source_name(model::CoverageSource source, core::WallTime observed) {
  return observed == core::WallTime{} ? kNoSource : model::to_string(source);
}

}  // namespace berth::codec
