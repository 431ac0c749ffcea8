// Starts things at a steady rate, whatever each of them takes: late ones follow at once, none is left out.
//
// Not thread-safe.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

#include "berth/core/clock.h"

namespace berth::bench {

class Pacer {
 public:
  explicit Pacer(double per_second)
      : gap_(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(1 / per_second))) {
    restart();
  }

  void restart() { next_ = std::chrono::steady_clock::now() + gap_; }

  // Waits for the next turn, and returns when it was.
  core::SteadyTime wait() {
    const core::SteadyTime due = next_;
    next_ += gap_;
    // steady_clock is CLOCK_MONOTONIC in libstdc++.
    const auto since = due.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    timespec at{};
    at.tv_sec = seconds.count();
    at.tv_nsec = std::chrono::duration_cast<std::chrono::nanoseconds>(since - seconds).count();
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) != 0) {
    }
    return due;
  }

 private:
  std::chrono::nanoseconds gap_;
  core::SteadyTime next_;
};

}  // namespace berth::bench
