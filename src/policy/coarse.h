// The coarse stage: of many nodes that fit, hand on the best few.
#pragma once

#include <cstddef>
#include <optional>

#include "evaluate.h"

namespace berth::policy {

// How many nodes Filter hands on; nullopt: all. Fourfold at the second attempt, all from the third on, all where
// another party has a say that we don't see: a nominated node, a call for one node, another filtering extender.
std::optional<std::size_t> coarse_limit(const Query& query, const Settings& settings);

// Datasets first: nodes that hold all of them, then by coverage; then the documented order.
class CoarseBetter {
 public:
  explicit CoarseBetter(const Query& query) : better_(query) {}
  bool operator()(const Evaluated& a, const Evaluated& b) const;

 private:
  Better better_;
};

}  // namespace berth::policy
