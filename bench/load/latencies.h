// Durations of single calls, and their quantiles.
//
// Not thread-safe: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace berth::bench {

class Latencies {
 public:
  void add(std::chrono::nanoseconds duration);
  void add_all(const Latencies& other);
  void clear() { values_.clear(); }
  [[nodiscard]] std::size_t count() const { return values_.size(); }
  // Nearest rank, in milliseconds; q in [0, 1], 1 being the maximum; 0 without values.
  [[nodiscard]] double quantile_ms(double q) const;

 private:
  mutable std::vector<std::chrono::nanoseconds> values_;
  mutable bool sorted_ = true;
};

}  // namespace berth::bench
