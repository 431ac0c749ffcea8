#include "berth/policy/filters.h"

namespace berth::policy {

model::Reason filter_gpu_share(const PartFit& fit) {
  return fit.fits ? model::Reason::kNone : model::Reason::kGpuShareExhausted;
}

}  // namespace berth::policy
