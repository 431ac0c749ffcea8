// Quantities, durations and times.
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
