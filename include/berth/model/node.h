// What Berth keeps of a Kubernetes Node.
//
// Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/gpu_parts.h"
#include "berth/model/machine.h"
#include "berth/model/resources.h"

namespace berth::model {

// What an amount of a resource means.
enum class ShareUnit : std::uint8_t {
  kMib,            // of one GPU's memory
  kGib,            // the same, as gpushare counts
  kBytes,          // the same, a quantity of memory
  kMemoryPercent,  // of each GPU's memory
  kMilli,          // thousandths of a GPU's time
  kPercent,        // hundredths of it
};
struct ShareResource {
  std::string name;
  ShareUnit unit = ShareUnit::kMib;
  // True: the amount is of each of so many GPUs as the pod asks whole ones for, which are then shared (HAMi). False: of
  // one GPU, and whole ones come on top.
  bool of_each = false;
  friend bool operator==(const ShareResource&, const ShareResource&) = default;
};
// nvidia.com/gpu-mem (MiB), aliyun.com/gpu-mem (GiB), berth.io/gpu-milli; of each: nvidia.com/gpumem (MiB),
// nvidia.com/gpumem-percentage, nvidia.com/gpucores (per cent).
std::vector<ShareResource> default_shares();

// Names that clusters differ in.
struct ResourceNames {
  std::string gpu = "nvidia.com/gpu";  // the extended resource that counts whole GPUs
  // Extended resources that a pod asks a share of a GPU by; each may have several names.
  std::vector<ShareResource> shares = default_shares();
  std::string mig_prefix = "nvidia.com/mig-";  // followed by the profile
  // Labels by which nodes are near each other, the closest first, besides the node itself: gangs stay together by them.
  std::vector<std::string> levels = {"nvidia.com/gpu.clique", "topology.kubernetes.io/rack",
                                     "topology.kubernetes.io/zone"};
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
  Resources allocatable;                      // status.allocatable, GPUs included
  std::int64_t gpus = 0;                      // of it, ResourceNames::gpu
  std::string gpu_product;                    // label nvidia.com/gpu.product, empty if absent
  std::int64_t gpu_memory_mib = 0;            // label nvidia.com/gpu.memory, 0 if absent or not a number
  std::string rack;                           // label ResourceNames::rack_label, empty if absent
  std::string zone;                           // label ResourceNames::zone_label, empty if absent
  std::string slurm_name;                     // label berth.io/slurm-node, empty if absent
  std::int64_t gpu_count = 0;                 // label nvidia.com/gpu.count: GPUs that are there, 0 if absent
  std::vector<MigDemand> mig;                 // status.allocatable by MIG profile, by name
  std::vector<std::string> levels;            // values of ResourceNames::levels, empty where absent; none if all are
  std::shared_ptr<const Machine> agent;       // annotation berth.io/topology; null if absent or broken
  std::shared_ptr<const Machine> hami;        // annotations of HAMi; likewise
  std::shared_ptr<const GpuHolders> holders;  // annotation berth.io/gpu-holders; likewise
  // Keys of the labels that begin with "fluid.io/s-" or "fluid.io/f-" and have the value "true", sorted (dataset.h).
  std::vector<std::string> fluid_labels;
  std::vector<NodeImage> images;  // status.images, by id, each once

  // What the pointers point to is compared.
  friend bool operator==(const Node& a, const Node& b);
};

}  // namespace berth::model
