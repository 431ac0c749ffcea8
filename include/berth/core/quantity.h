// Quantities, sizes, durations and timestamps as numbers.
//
// Thread-safe: pure functions. Formats: k8s.io/apimachinery pkg/api/resource (quantity.go, suffix.go), Go's
// time.ParseDuration, RFC 3339, pkg/utils/byte_size.go of fluid-cloudnative/fluid.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/core/clock.h"
#include "berth/core/result.h"

namespace berth::core {

// The value of a quantity such as "8", "1500m", "16Gi", "1e3", rounded up to a whole number as Quantity.Value() does.
// kInvalid for anything else, and for what leaves the range of int64.
Result<std::int64_t> parse_quantity(std::string_view text);

// The same in thousandths ("1500m" is 1500), and in whole numbers, as Quantity.MilliValue() and Value() give them: what
// leaves the range of int64 is its nearest end.
Result<std::int64_t> parse_milli_quantity(std::string_view text);
Result<std::int64_t> parse_capped_quantity(std::string_view text);

// A size as people write it, and Fluid: "2.97GiB", "443.5MiB", "10 g", "0.00B"; every unit is a power of 1024, whether
// or not it has an "i". nullopt for all else ("", "[Calculating]", "N/A", "-"), and for what leaves the range of int64.
std::optional<std::int64_t> parse_size(std::string_view text);

// "45.6%" as a fraction, at most 1: Alluxio reports more where blocks have several copies. nullopt for all else.
std::optional<double> parse_percentage(std::string_view text);

// "10m", "1h30m", "90s", "1.5h", "250ms", as Go writes them; not negative, at most a hundred years, no unit "d".
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// "2026-11-29T16:00:00Z", with an optional fraction, and an offset such as +02:00. Years 1678 to 2261.
Result<WallTime> parse_timestamp(std::string_view text);
// "2026-11-29T16:00:00.123Z".
std::string format_timestamp(WallTime time);

}  // namespace berth::core
