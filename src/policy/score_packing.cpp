#include "berth/policy/scores.h"

namespace berth::policy {

double score_packing(double cost, double clean) {
  return cost <= 0 ? 1 : clean * clean / (clean * clean + cost * cost);
}

}  // namespace berth::policy
