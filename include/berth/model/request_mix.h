// What a cluster is asked for: sizes of pods, and how often each comes.
//
// Thread-safe: plain values; a mix is not changed once it is shared.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/model/gpu_parts.h"

namespace berth::model {

// Pods that are alike to packing. A pod with whole GPUs, with shares of GPUs, with partitions of one profile, or with
// no GPU at all; what mixes these belongs to the class of its scarcest part.
struct RequestClass {
  std::int64_t cpu_milli = 0;
  std::int32_t gpus = 0;                   // GPUs, or partitions where `mig` is set; 0: CPU alone
  std::int32_t milli = 0;                  // thousandths of each GPU's time; kWholeMilli without memory: whole GPUs
  std::int64_t mib = 0;                    // of each GPU's memory; 0: as memory_percent says
  std::int32_t memory_percent = 0;         // of each GPU's memory, where mib is 0
  std::string mig = {};                    // profile, "1g.5gb"
  std::vector<std::string> products = {};  // it runs on, ascending; empty: on any

  [[nodiscard]] bool whole() const { return mig.empty() && milli >= kWholeMilli && mib == 0 && memory_percent == 0; }
  friend auto operator<=>(const RequestClass&, const RequestClass&) = default;
  friend bool operator==(const RequestClass&, const RequestClass&) = default;
};

struct RequestShare {
  RequestClass request;
  double share = 0;  // of all pods, in [0, 1]
  friend bool operator==(const RequestShare&, const RequestShare&) = default;
};

struct RequestMix {
  std::uint64_t version = 0;
  std::vector<RequestShare> classes;  // each class once; shares add up to 1
};

}  // namespace berth::model
