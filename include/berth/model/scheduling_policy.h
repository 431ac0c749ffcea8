// A SchedulingPolicy of berth.io/v1alpha1: what holds for a namespace's pods that do not say otherwise.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/weights.h"

namespace berth::model {

enum class DatasetPolicy : std::uint8_t { kPreferred, kRequired };
enum class TopologyPolicy : std::uint8_t { kNone, kBestEffort, kRestricted };

// What a policy, or a pod's annotations, may say; what is absent is left to the next: docs/configuration.md,
// "Policies".
struct PolicyTerms {
  std::optional<TopologyPolicy> topology_policy;
  std::optional<DatasetPolicy> dataset_policy;
  std::optional<std::int64_t> min_gpu_memory_mib;
  std::optional<std::vector<std::string>> gpu_products;
  OptionalWeights weights;
  friend bool operator==(const PolicyTerms&, const PolicyTerms&) = default;
};

struct SchedulingPolicy {
  std::string ns;
  std::string name;
  PolicyTerms terms;
  std::optional<core::Error> invalid;  // the first field with a value that is not allowed
};

}  // namespace berth::model
