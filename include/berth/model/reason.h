// Why a node is not a candidate: the fixed table of docs/api.md.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::model {

enum class Reason : std::uint8_t {
  kNone,  // the node is a candidate
  kInsufficientGpu,
  kGpuShareExhausted,
  kGpuMemoryTooSmall,
  kGpuProductMismatch,
  kTopologyRestricted,
  kDatasetNotCached,
  kDatasetUnknown,
  kGangTopology,
  kNodeUnknown,
  kReserved,
  kInvalidPolicy,
  kOutranked,
};
inline constexpr int kReasonCount = 13;

// "INSUFFICIENT_GPU" and so on; "" for kNone.
std::string_view to_string(Reason reason);

// Whether `message`, of a pod's PodScheduled condition, has a reason that only Berth gives. INSUFFICIENT_GPU and
// OUTRANKED do not count: the first is what the scheduler finds by itself, the second never stands alone.
bool names_our_reason(std::string_view message);

// True if the reason belongs in FailedAndUnresolvableNodes: evicting pods would not help, and in FailedNodes it would
// start a preemption dry run that ends in "expected at least one victim pod" (kubernetes#139270).
constexpr bool unresolvable(Reason reason) { return reason != Reason::kInsufficientGpu; }

}  // namespace berth::model
