#include "berth/policy/scores.h"

namespace berth::policy {

model::ScoreParts weigh(model::ScoreParts parts, const model::Weights& weights, bool gang) {
  double sum = weights.locality + weights.topology + weights.packing;
  parts.total = weights.locality * parts.locality + weights.topology * parts.topology + weights.packing * parts.packing;
  if (gang) {
    sum += weights.proximity;
    parts.total += weights.proximity * parts.proximity;
  }
  parts.total *= (1 - parts.failures) / sum;
  return parts;
}

}  // namespace berth::policy
