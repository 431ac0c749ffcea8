// What the loop that acts on the cluster has done, for metrics.
//
// Thread-safe: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::control {

// How a Bind call ended.
enum class BindResult : std::uint8_t {
  kBound,
  kAlready,     // it was bound to that node before
  kRefused,     // by a hard rule
  kElsewhere,   // it is bound to another node
  kGone,        // it does not exist any more, or is being deleted
  kDenied,      // the API server refused the binding
  kFailed,      // the API server could not be asked, or can't take it now
  kUnanswered,  // it did not answer; nobody knows
};
inline constexpr std::size_t kBindResults = 8;
std::string_view to_string(BindResult result);  // "bound", "already", ... as in the metric's label

// Of pods with datasets, when they were bound.
struct LocalityCounts {
  std::uint64_t full = 0;  // all of them are on the node, or 99 per cent of each
  std::uint64_t partial = 0;
  std::uint64_t none = 0;
  std::uint64_t local_bytes = 0;  // datasets of unknown size left out
  std::uint64_t remote_bytes = 0;
};

struct ControlCounters {
  std::size_t waiting_pods = 0;
  std::uint64_t pod_wakes = 0;
  std::uint64_t node_wakes = 0;
  std::uint64_t failed_wakes = 0;  // refused by the API server, or without an answer
  std::uint64_t events_sent = 0;
  std::uint64_t events_failed = 0;
  std::uint64_t events_dropped = 0;  // not sent because there were too many, or the API server too slow
  LocalityCounts locality;
};

}  // namespace berth::control
