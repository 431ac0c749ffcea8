#include "latencies.h"

#include <algorithm>
#include <cmath>

namespace berth::bench {

void Latencies::add(std::chrono::nanoseconds duration) {
  values_.push_back(duration);
  sorted_ = false;
}

void Latencies::add_all(const Latencies& other) {
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  sorted_ = false;
}

double Latencies::quantile_ms(double q) const {
  if (values_.empty()) return 0;
  if (!sorted_) std::ranges::sort(values_);
  sorted_ = true;
  const double rank = std::ceil(q * static_cast<double>(values_.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return std::chrono::duration<double, std::milli>(values_[std::min(index, values_.size() - 1)]).count();
}

}  // namespace berth::bench
