#include <algorithm>
#include <cmath>

#include "berth/policy/scores.h"

namespace berth::policy {

double score_failures(double on_node, double of_owner) {
  constexpr double kLeastLeft = 1.0 / 64;
  const double others = std::max(0.0, on_node - of_owner);
  return 1 - std::max(kLeastLeft, std::exp2(-others - 2 * of_owner));
}

}  // namespace berth::policy
