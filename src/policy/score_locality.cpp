#include <algorithm>
#include <cmath>

#include "berth/policy/scores.h"

namespace berth::policy {
namespace {

// Sums in different orders differ in their last digits; without it they would decide where a difference is a whole
// number of steps.
constexpr double kRounding = 1e-6;

}  // namespace

double steps_behind(double load_seconds, const BestLoading& best) {
  return std::floor((load_seconds - best.least_seconds) / best.step_seconds + kRounding);
}

double score_locality(double load_seconds, double saved_seconds, const BestLoading& best) {
  if (saved_seconds < best.step_seconds * (1 - kRounding)) return 0;
  const double lost = std::max(0.0, steps_behind(load_seconds, best)) * best.step_seconds;
  return lost > 0 ? best.local_seconds / (best.local_seconds + lost) : 1;
}

}  // namespace berth::policy
