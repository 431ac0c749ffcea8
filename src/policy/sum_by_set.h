// Sums over sets of up to 16 things, each in two look-ups.
//
// Thread-safe: immutable once built.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::policy {

// T: a value that is nothing when made, and has +=.
template <class T>
class SumBySet {
 public:
  SumBySet() = default;
  explicit SumBySet(std::span<const T> things)
      : low_(sums(things.first(std::min(things.size(), kLow)))),
        high_(sums(things.subspan(std::min(things.size(), kLow)))) {}

  // Adds the sum over `set`, of which bit i stands for thing i.
  void add(std::uint32_t set, T& sum) const {
    sum += low_[set & 0xFFU];
    sum += high_[set >> 8U];
  }

 private:
  static constexpr std::size_t kLow = 8;
  static std::vector<T> sums(std::span<const T> things) {
    std::vector<T> by_set(std::size_t{1} << things.size());
    for (std::size_t set = 1; set < by_set.size(); ++set) {
      by_set[set] = by_set[set & (set - 1)];
      by_set[set] += things[static_cast<std::size_t>(std::countr_zero(set))];
    }
    return by_set;
  }

  std::vector<T> low_;   // of the first eight
  std::vector<T> high_;  // of the others
};

}  // namespace berth::policy
