// What holds of every node, pod and error that the codec gives, whatever it read.
#pragma once

#include <algorithm>

#include "berth/core/result.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"
#include "require.h"

namespace berth::fuzz {

inline void check(const core::Error& error) {
  require(error.code == core::ErrorCode::kInvalid, "what is wrong with a small input is kInvalid");
  require(!error.message.empty(), "an error has a message");
}

inline void check(const model::Node& node) {
  require(!node.name.empty(), "a node has a name");
  require(node.gpus >= 0 && node.gpu_memory_mib >= 0, "amounts of a node are not negative");
  require(std::is_sorted(node.fluid_labels.begin(), node.fluid_labels.end(), std::less_equal<>()) ||
              node.fluid_labels.size() < 2,
          "dataset labels are sorted and unique");
  for (const std::string& label : node.fluid_labels) {
    require(label.starts_with("fluid.io/s-") || label.starts_with("fluid.io/f-"), "a dataset label has Fluid's prefix");
  }
}

inline void check(const model::Pod& pod) {
  require(pod.gpus >= 0, "a pod's count is not negative");
  for (std::size_t i = 0; i < pod.annotations.size(); ++i) {
    require(pod.annotations[i].key.starts_with(model::kAnnotationPrefix), "an annotation has our prefix");
    require(i == 0 || pod.annotations[i - 1].key < pod.annotations[i].key, "annotations are sorted and unique");
  }
  model::make_request(pod, {});
}

}  // namespace berth::fuzz
