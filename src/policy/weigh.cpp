#include "berth/policy/scores.h"

namespace berth::policy {

model::ScoreParts weigh(model::ScoreParts parts, const model::Weights& weights) {
  const double sum = weights.locality + weights.topology + weights.packing;
  parts.total =
      (weights.locality * parts.locality + weights.topology * parts.topology + weights.packing * parts.packing) / sum;
  return parts;
}

}  // namespace berth::policy
