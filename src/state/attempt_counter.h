// How often the scheduler has tried to place a pod.
//
// An attempt begins with its first call. A Filter less than `gap` after that beginning is the same attempt (a retry of
// the HTTP client), a later one begins the next: the time since the last call would not do, because a pod retried more
// often than that would stay at its first attempt for ever. A Prioritize belongs to the attempt of the Filter before
// it, however late it comes: other extenders may take long in between. Only where no Filter came since the last
// Prioritize (a scheduler configured to ask for nothing else) it counts as a Filter would.
//
// Thread-safe, with a lock of its own: request threads never wait for the builder.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "berth/core/clock.h"
#include "berth/model/decision.h"

namespace berth::state {

class AttemptCounter {
 public:
  // Beyond `max_kept` pods the one asked about longest ago is forgotten.
  AttemptCounter(std::chrono::milliseconds gap, std::size_t max_kept) : gap_(gap), max_kept_(max_kept) {}

  // The number of the attempt that a call at `now` belongs to: 1 for a pod never asked about.
  [[nodiscard]] std::uint32_t number(std::string_view uid, model::Verb verb, core::SteadyTime now) const;
  // Remembers a call at `now`.
  void record(std::string_view uid, model::Verb verb, core::SteadyTime now);
  void forget(std::string_view uid);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Calls {
    std::string uid;
    std::uint32_t attempts = 0;
    core::SteadyTime begun{};  // the last attempt
    bool awaits_prioritize = false;
  };
  [[nodiscard]] std::uint32_t number(const Calls& calls, model::Verb verb, core::SteadyTime now) const;

  const std::chrono::milliseconds gap_;
  const std::size_t max_kept_;
  mutable std::mutex mutex_;
  std::list<Calls> calls_;  // the last called at the back
  std::unordered_map<std::string_view, std::list<Calls>::iterator> by_uid_;
};

}  // namespace berth::state
