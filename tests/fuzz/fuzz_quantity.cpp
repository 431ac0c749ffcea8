// Quantities, sizes, percentages, durations and times.
#include <string>

#include "berth/core/quantity.h"
#include "berth/model/pod.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using berth::fuzz::require;
  using namespace berth::core;
  const std::string text(data, data + size);
  if (const auto value = parse_quantity(text)) {
    const auto again = parse_quantity(std::to_string(*value));
    require(again && *again == *value, "a whole number reads as itself");
  } else {
    require(value.error().code == ErrorCode::kInvalid, "what is no quantity is kInvalid");
  }
  if (const auto bytes = parse_size(text)) {
    require(*bytes >= 0, "a size is not negative");
    const auto again = parse_size(std::to_string(*bytes) + "B");
    // Through a double, which has 53 bits.
    require(again && (*again == *bytes || *bytes > (std::int64_t{1} << 53)), "a size in bytes reads as itself");
  }
  if (const auto part = parse_percentage(text)) {
    require(*part >= 0 && *part <= 1, "a percentage is a part of 1");
  }
  if (const auto value = parse_duration(text)) {
    require(value->count() >= 0, "a duration is not negative");
    const auto again = parse_duration(std::to_string(value->count()) + "ms");
    require(again && *again == *value, "a duration in milliseconds reads as itself");
  }
  if (const auto time = parse_timestamp(text)) {
    require(text.size() >= 20, "a time has at least a date, a clock and a zone");
  }
  if (const auto memory = berth::model::parse_gpu_memory(text)) {
    require(*memory >= 0, "memory is not negative");
  }
  return 0;
}
