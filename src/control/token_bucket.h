// So many a second on average, a burst at once.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>

#include "berth/core/clock.h"

namespace berth::control {

class TokenBucket {
 public:
  TokenBucket(double per_second, double burst) : per_second_(per_second), burst_(burst), tokens_(burst) {}

  bool take(core::SteadyTime now) {
    if (available(now) < 1) return false;
    tokens_ -= 1;
    return true;
  }
  double available(core::SteadyTime now) {
    if (now > last_) {
      const std::chrono::duration<double> passed = now - last_;
      tokens_ = std::min(burst_, tokens_ + passed.count() * per_second_);
      last_ = now;
    }
    return tokens_;
  }

 private:
  const double per_second_;
  const double burst_;
  double tokens_;
  core::SteadyTime last_{};
};

}  // namespace berth::control
