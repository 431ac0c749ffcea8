#include "berth/policy/scores.h"

namespace berth::policy {

double score_locality(const model::PodRequest& pod, const NodeView& node) {
  return pod.datasets.empty() ? 0 : node.coverage;
}

}  // namespace berth::policy
