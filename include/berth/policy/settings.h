// What the administrator decides about placement. Thread-safe: plain values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::policy {

// Who counts whole GPUs: the scheduler, which knows a deletion before we do, or Berth.
enum class GpuCountMode : std::uint8_t { kTrust, kEnforce };

// Which pods Filter hands on only the best nodes for.
enum class Coarse : std::uint8_t { kOff, kDatasets, kAll };

// What a part of the score weighs; only their ratios matter.
struct Weights {
  double locality = 4;
  double topology = 2;
  double packing = 1;
};

struct Settings {
  GpuCountMode gpu_count = GpuCountMode::kTrust;
  Coarse coarse = Coarse::kAll;
  std::size_t candidates = 32;            // nodes that the coarse stage hands on at a pod's first attempt
  bool other_filtering_extender = false;  // another extender may reject what we hand on: then never narrow
  Weights weights;
};

}  // namespace berth::policy
