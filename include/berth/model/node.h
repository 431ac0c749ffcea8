// What Berth keeps of a Kubernetes Node.
//
// Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::model {

// Names that clusters differ in.
struct ResourceNames {
  std::string gpu = "nvidia.com/gpu";  // the extended resource that counts whole GPUs
};

struct Node {
  std::string name;
  std::string uid;
  std::int64_t gpus = 0;            // status.allocatable of ResourceNames::gpu
  std::string gpu_product;          // label nvidia.com/gpu.product, empty if absent
  std::int64_t gpu_memory_mib = 0;  // label nvidia.com/gpu.memory, 0 if absent or not a number
  // Keys of the labels that begin with "fluid.io/s-" and have the value "true", sorted. They are looked up, never
  // parsed: "fluid.io/s-a-b-c" may be dataset b-c of namespace a or c of a-b.
  std::vector<std::string> dataset_labels;

  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace berth::model
