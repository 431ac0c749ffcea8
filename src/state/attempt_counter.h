// How often the scheduler has tried to place a pod.
//
// Filter and Prioritize are two calls of one attempt, and so is a retry of the HTTP client: calls closer together than
// `gap` count once.
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

namespace berth::state {

class AttemptCounter {
 public:
  // Beyond `max_kept` pods the one asked about longest ago is forgotten.
  AttemptCounter(std::chrono::milliseconds gap, std::size_t max_kept) : gap_(gap), max_kept_(max_kept) {}

  // The number of the attempt that a call at `now` belongs to: 1 for a pod never asked about.
  [[nodiscard]] std::uint32_t number(std::string_view uid, core::SteadyTime now) const;
  // Remembers a call at `now`.
  void record(std::string_view uid, core::SteadyTime now);
  void forget(std::string_view uid);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Calls {
    std::string uid;
    std::uint32_t attempts = 0;
    core::SteadyTime last{};
  };
  [[nodiscard]] std::uint32_t number(const Calls& calls, core::SteadyTime now) const {
    return now - calls.last < gap_ ? calls.attempts : calls.attempts + 1;
  }

  const std::chrono::milliseconds gap_;
  const std::size_t max_kept_;
  mutable std::mutex mutex_;
  std::list<Calls> calls_;  // the last called at the back
  std::unordered_map<std::string_view, std::list<Calls>::iterator> by_uid_;
};

}  // namespace berth::state
