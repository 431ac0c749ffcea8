// What Berth keeps of a Kubernetes Node.
//
// Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::model {

// Names that clusters differ in.
struct ResourceNames {
  std::string gpu = "nvidia.com/gpu";  // the extended resource that counts whole GPUs
  // Node labels that say where a node stands.
  std::string rack_label = "topology.kubernetes.io/rack";
  std::string zone_label = "topology.kubernetes.io/zone";
};

// A container image that a node has.
struct NodeImage {
  std::uint64_t id = 0;  // image_id() of one of its names
  std::int64_t bytes = 0;
  friend bool operator==(const NodeImage&, const NodeImage&) = default;
};
// Names an image: a hash of its reference as kubelet lists it, with "docker.io/library/", "docker.io/" and ":latest"
// filled in as container runtimes do, and without the tag where there is a digest, too. Two images of one id would
// mislead a score, no more.
std::uint64_t image_id(std::string_view reference);

struct Node {
  std::string name;
  std::string uid;
  std::int64_t gpus = 0;            // status.allocatable of ResourceNames::gpu
  std::string gpu_product;          // label nvidia.com/gpu.product, empty if absent
  std::int64_t gpu_memory_mib = 0;  // label nvidia.com/gpu.memory, 0 if absent or not a number
  std::string rack;                 // label ResourceNames::rack_label, empty if absent
  std::string zone;                 // label ResourceNames::zone_label, empty if absent
  std::string slurm_name;           // label berth.io/slurm-node, empty if absent
  // Keys of the labels that begin with "fluid.io/s-" or "fluid.io/f-" and have the value "true", sorted (dataset.h).
  std::vector<std::string> fluid_labels;
  std::vector<NodeImage> images;  // status.images, by id, each once

  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace berth::model
