// The coarse stage: of many nodes that fit, hand on the best few.
#pragma once

#include <cstddef>
#include <optional>

#include "evaluate.h"

namespace berth::policy {

// How many nodes Filter hands on; nullopt: all. Fourfold at the second attempt, all from the third on, all where
// another party has a say that we don't see: a nominated node, a call for one node, another filtering extender. Never
// fewer than the pod's gang takes, and two.
std::optional<std::size_t> coarse_limit(const Query& query, const Settings& settings);

// Datasets first: nodes that hold all of them, then by expected loading time in steps that matter; then the documented
// order, in which images alone count enough. For a member of a gang that order alone: nodes with the data must not push
// out those beside the other members, which only the total weighs against each other.
class CoarseBetter {
 public:
  CoarseBetter(const Query& query, bool by_gang)
      : by_gang_(by_gang), wants_datasets_(!query.pod.datasets.empty()), better_(query) {}
  bool operator()(const Evaluated& a, const Evaluated& b) const;

 private:
  bool by_gang_;
  bool wants_datasets_;
  Better better_;
};

}  // namespace berth::policy
