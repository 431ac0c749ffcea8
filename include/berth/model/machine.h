// The normal form of a node's GPUs, whichever source tells of them, and what the agent says who holds which.
//
// Sources differ in what they know: what a source does not tell is empty, and merge() takes each part from the best
// source that has it. A GPU's index is that of nvidia-smi; it is its place in Machine::gpus and a bit of a GpuMask.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/gpu_set.h"
#include "berth/model/gpu_topology.h"

namespace berth::model {

// Who tells of a machine, the most trusted first.
enum class TopologySource : std::uint8_t {
  kAgent,                 // node annotation berth.io/topology
  kHami,                  // node annotations hami.io/node-nvidia-register and -score
  kKoordinator,           // Device of scheduling.koordinator.sh
  kNodeResourceTopology,  // NodeResourceTopology of topology.node.k8s.io
  kResourceSlices,        // ResourceSlices of the driver gpu.nvidia.com
  kLabels,                // labels of GPU-feature-discovery, and the table of machine shapes
};
inline constexpr std::size_t kTopologySources = 6;
// "agent", "hami", "koordinator", "node-resource-topology", "resource-slices", "labels".
std::string_view to_string(TopologySource source);

// A partition that exists on a GPU.
struct MigInstance {
  std::string profile;     // "1g.5gb"
  std::int8_t start = -1;  // first memory slice, -1 if not known
  friend bool operator==(const MigInstance&, const MigInstance&) = default;
};

struct Gpu {
  std::string uuid;             // empty if not known
  std::string product;          // as in label nvidia.com/gpu.product; empty if not known
  std::int64_t memory_mib = 0;  // 0 if not known
  bool healthy = true;
  std::int8_t numa = -1;               // NUMA node, -1 if not known
  std::string pcie;                    // names the PCIe switch or root complex above it; empty if not known
  bool mig = false;                    // in MIG mode: given out by partitions, never whole
  std::vector<MigInstance> instances;  // that exist; none in MIG mode: they are made on demand
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

inline constexpr std::size_t kMaxNics = 64;  // that are kept of a node

struct Nic {
  std::string name;                    // "mlx5_0"
  std::array<Link, kMaxGpus> links{};  // to each GPU; kSelf if not known
  friend bool operator==(const Nic&, const Nic&) = default;
};

struct Machine {
  TopologySource source = TopologySource::kLabels;
  std::vector<Gpu> gpus;            // by index, at most kMaxGpus; empty if the source does not tell them apart
  std::optional<LinkMatrix> links;  // of as many GPUs; nullopt if not known
  std::vector<Nic> nics;
  std::string clique;                   // NVLink domain beyond the node, "CLUSTER.CLIQUE"; empty if none or not known
  std::vector<std::int32_t> numa_gpus;  // GPUs by NUMA node, where only these counts are known
  core::WallTime at;                    // when it was read, epoch if the source doesn't say
  friend bool operator==(const Machine&, const Machine&) = default;
};

// Joins what sources tell of one node: `told` has the most trusted first and no nulls; each part (GPUs one by one and
// field by field, links, NICs, clique, counts by NUMA node) is taken from the first that has it. GPUs are the same by
// UUID where both sources tell it, else by index; a GPU is unhealthy, or in MIG mode, if any source says so. Sources
// that tell of other GPUs than the first that tells GPUs apart, or of another number, are left out. `source` and `at`
// are those of the first with links, else with GPUs, else of the first. nullptr for no source.
std::shared_ptr<const Machine> merge(std::span<const std::shared_ptr<const Machine>> told);

// The shape of a merged machine, shared by all machines with the same links and NUMA nodes, and kept. Links that no
// source tells come from the table of machine shapes by product and number; NUMA nodes from counts that are all the
// same, then from that table. nullptr if the links are not known, if there are more than kMaxGpus, or if so many kinds
// of machines are in use that their tables would take more than 64 MiB. The first machine of a kind with 8 GPUs costs
// 0.1 ms, with 16 GPUs 10 ms.
std::shared_ptr<const GpuShape> shape_of(const Machine& machine, const LinkBandwidths& widths = {});

// As shape.best() or, with `connected`, best_connected(), but choosing among the sets that tie there by what differs
// from machine to machine: the set whose PCIe switches and NICs are least used by the GPUs in `busy` (those of running
// jobs with several GPUs), then the one whose GPUs have the nearest NICs of their own, then the lowest indices.
// `machine` may be null. Enumerates the sets: for chosen nodes only, not for each of 5,000.
std::optional<GpuMask> best_refined(const GpuShape& shape, const Machine* machine, GpuMask free, int count,
                                    bool connected, GpuMask busy);

// A partition's place on a GPU.
struct MigSlot {
  std::int8_t gpu = 0;
  std::int8_t start = 0;  // first memory slice
  std::int8_t size = 0;   // memory slices
  friend bool operator==(const MigSlot&, const MigSlot&) = default;
};

// The GPUs, or parts of GPUs, that a pod gets on a node.
struct GpuPlacement {
  GpuMask gpus = 0;                 // whole ones, or those of which it has a share
  std::vector<MigSlot> slots = {};  // its partitions, by GPU and start
  [[nodiscard]] bool empty() const { return gpus == 0 && slots.empty(); }
  friend bool operator==(const GpuPlacement&, const GpuPlacement&) = default;
};

// A pod that kubelet gave GPUs on a node, as its PodResources tell (node annotation berth.io/gpu-holders).
struct GpuHolder {
  std::string ns;
  std::string pod;
  GpuPlacement holds;
  friend bool operator==(const GpuHolder&, const GpuHolder&) = default;
};
struct GpuHolders {
  std::vector<GpuHolder> pods;  // by namespace and name
  core::WallTime at;            // since when it has been so
  friend bool operator==(const GpuHolders&, const GpuHolders&) = default;
};

}  // namespace berth::model
