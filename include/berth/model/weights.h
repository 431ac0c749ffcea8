// What the parts of a node's score weigh; only their ratios matter.
//
// Thread-safe: plain values.
#pragma once

#include <optional>

namespace berth::model {

struct Weights {
  double locality = 4;
  double topology = 2;
  double packing = 1;
  double proximity = 2;  // counts for members of a gang only
  friend bool operator==(const Weights&, const Weights&) = default;
};

// What policies may set.
struct WeightBounds {
  Weights least = {0, 0, 0, 0};
  Weights most = {1000, 1000, 1000, 1000};
};

// Those that somebody sets.
struct OptionalWeights {
  std::optional<double> locality;
  std::optional<double> topology;
  std::optional<double> packing;
  std::optional<double> proximity;
  friend bool operator==(const OptionalWeights&, const OptionalWeights&) = default;
};

}  // namespace berth::model
