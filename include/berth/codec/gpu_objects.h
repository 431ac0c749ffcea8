// Objects that tell of a node's GPUs, as they are read; ObjectReader of kubernetes_objects.h reads them.
//
// Thread-safe: plain values and a pure function.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "berth/model/cluster_update.h"
#include "berth/model/machine.h"

namespace berth::codec {

// A Device of scheduling.koordinator.sh/v1alpha1, which has the name of its node. (apis/scheduling/v1alpha1 of
// koordinator-sh/koordinator.)
struct KoordinatorDevice {
  std::string node;
  model::Machine machine;
  friend bool operator==(const KoordinatorDevice&, const KoordinatorDevice&) = default;
};

// A NodeResourceTopology of topology.node.k8s.io/v1alpha2 or v1alpha1, which has the name of its node: GPUs by NUMA
// node. (pkg/apis/topology of k8stopologyawareschedwg/noderesourcetopology-api.)
struct NumaTopology {
  std::string node;
  model::Machine machine;
  friend bool operator==(const NumaTopology&, const NumaTopology&) = default;
};

// A ResourceSlice of resource.k8s.io: v1, v1beta2 or v1beta1.
struct ResourceSlice {
  // A GPU as the driver gpu.nvidia.com names it, by its minor. (cmd/gpu-kubelet-plugin of NVIDIA/k8s-dra-driver-gpu,
  // now kubernetes-sigs/dra-driver-nvidia-gpu.)
  struct Device {
    std::int64_t minor = 0;
    model::Gpu gpu;  // of a partition, the GPU that it is on, with this one instance
    friend bool operator==(const Device&, const Device&) = default;
  };
  std::string name;
  std::string node;  // empty: of no single node
  std::string driver;
  std::string pool;
  std::int64_t generation = 0;  // of the pool; slices of an older one are about to be deleted
  std::int64_t slices = 0;      // of this generation
  std::vector<Device> devices;  // read only where `ours`
  [[nodiscard]] bool ours() const { return driver == "gpu.nvidia.com" && !node.empty(); }
  friend bool operator==(const ResourceSlice&, const ResourceSlice&) = default;
};

// The machine that slices of one node and the driver gpu.nvidia.com tell of together. Null while slices are missing: a
// pool's slices change one by one.
std::shared_ptr<const model::Machine> assemble(std::span<const ResourceSlice* const> slices);

// Of one kind, all there are.
model::AllMachines all_machines(std::vector<KoordinatorDevice> devices);
model::AllMachines all_machines(std::vector<NumaTopology> topologies);
model::AllMachines all_machines(const std::vector<ResourceSlice>& slices);

}  // namespace berth::codec
