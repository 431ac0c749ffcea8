// Doubling waits with jitter: the n-th is drawn from [min·2ⁿ, min·2ⁿ⁺¹], at most [max/2, max].
#pragma once

#include <algorithm>
#include <chrono>

namespace berth::kube {

class Backoff {
 public:
  Backoff(std::chrono::milliseconds min, std::chrono::milliseconds max) : first_(2 * min), max_(max), top_(2 * min) {}

  // `random` in [0, 1).
  std::chrono::milliseconds next(double random) {
    const auto top = std::min(top_, max_);
    top_ = std::min(2 * top, max_);
    const double share = 0.5 + random / 2;
    return std::chrono::milliseconds(static_cast<std::int64_t>(static_cast<double>(top.count()) * share));
  }
  void reset() { top_ = first_; }

 private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds max_;
  std::chrono::milliseconds top_;
};

}  // namespace berth::kube
