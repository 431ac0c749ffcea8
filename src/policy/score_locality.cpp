#include <cmath>

#include "berth/policy/scores.h"

namespace berth::policy {
namespace {

// Sums in different orders differ in their last digits; without it they would decide where a difference is a whole
// number of steps.
constexpr double kStepRounding = 1e-6;

}  // namespace

double steps_behind(double load_seconds, const BestLoading& best) {
  return std::floor((load_seconds - best.least_seconds) / best.step_seconds + kStepRounding);
}

double score_locality(double steps_behind, double saved_seconds, const BestLoading& best) {
  if (saved_seconds < best.step_seconds * (1 - kStepRounding)) return 0;
  if (steps_behind <= 0) return 1;
  return best.local_seconds / (best.local_seconds + steps_behind * best.step_seconds);
}

}  // namespace berth::policy
