// The GPU topology of a machine: how its GPUs are linked, and the best set for every (free GPUs, count).
//
// Thread-safe: immutable once built.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/gpu_set.h"

namespace berth::model {

// Connection class of a GPU pair, as `nvidia-smi topo -m` names them; kNvlink + k is a bond of k NVLinks, k = 1..18.
enum class Link : std::uint8_t { kSelf = 0, kSys = 1, kNode = 2, kPhb = 3, kPxb = 4, kPix = 5, kNvlink = 10 };
constexpr Link nvlink(int bonded) { return static_cast<Link>(static_cast<int>(Link::kNvlink) + bonded); }
constexpr bool is_nvlink(Link link) { return link > Link::kNvlink; }

// GB/s per direction: NVk 25·k, PIX 20, PXB 16, PHB 12, NODE 10, SYS 8 (docs/gpu-topology.md says where from).
int bandwidth(Link link);
// "NV18", "PIX", ..., "X" for kSelf.
std::string link_name(Link link);

// n × n, symmetric, kSelf on the diagonal; n ≤ kMaxGpus.
struct LinkMatrix {
  int gpus = 0;
  std::array<std::array<Link, kMaxGpus>, kMaxGpus> links{};

  // All pairs `link`.
  static LinkMatrix uniform(int gpus, Link link);
  void set(int a, int b, Link link);
  [[nodiscard]] Link at(int a, int b) const { return links[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]; }
  friend bool operator==(const LinkMatrix&, const LinkMatrix&) = default;
};

// NUMA node by GPU, -1 if unknown.
using NumaNodes = std::array<std::int8_t, kMaxGpus>;

// How well a set of GPUs is connected.
struct SetQuality {
  int bottleneck = 0;  // GB/s of its slowest pair; 0 for fewer than two GPUs
  int sum = 0;         // GB/s over its pairs
  friend auto operator<=>(const SetQuality&, const SetQuality&) = default;
};

// Picks which of a node's free GPUs a pod should get. The answer for every (free GPUs, count) is worked out once per
// link matrix, so that choosing on the hot path is one lookup.
class BestSetTable {
 public:
  // `numa`: NUMA node by GPU, -1 if unknown. kInvalid if `links` has no GPU, more than kMaxGpus, or is not symmetric.
  static core::Result<BestSetTable> build(const LinkMatrix& links, const NumaNodes& numa);

  // The set of `count` GPUs out of `free` with the widest bottleneck, then the greatest sum of bandwidths; nullopt if
  // fewer are free or count < 1. Ties go to the set that leaves the largest island whole, then to the one on the fewest
  // NUMA nodes, then to the one that leaves the most GPUs free on one NUMA node, then to the lowest indices.
  [[nodiscard]] std::optional<GpuMask> best(GpuMask free, int count) const;

  // As best(), among the sets that are one island; a single GPU is one.
  [[nodiscard]] std::optional<GpuMask> best_island(GpuMask free, int count) const;

  // Every set of `count` GPUs of the empty machine that ties for bottleneck and sum, ascending.
  [[nodiscard]] std::vector<GpuMask> ties(int count) const;

  [[nodiscard]] SetQuality quality(GpuMask set) const { return quality_[set]; }
  // Of the best set of the empty machine; count from 1 to gpus().
  [[nodiscard]] SetQuality best_quality(int count) const { return best_quality_[static_cast<std::size_t>(count)]; }
  // Number of NUMA nodes that `set` touches; unknown ones don't count.
  [[nodiscard]] int numa_nodes(GpuMask set) const { return numa_nodes_[set]; }
  // The fewest that `count` GPUs of the empty machine can sit on; count from 1 to gpus().
  [[nodiscard]] int fewest_numa_nodes(int count) const { return fewest_numa_nodes_[static_cast<std::size_t>(count)]; }
  // Size of the largest island (GPUs connected by NVLink, directly or over others of `set`) within `set`.
  [[nodiscard]] int largest_island(GpuMask set) const { return island_[set]; }
  [[nodiscard]] int gpus() const { return gpus_; }

 private:
  [[nodiscard]] std::optional<GpuMask> look_up(const std::vector<std::uint16_t>& table, GpuMask free, int count) const;

  int gpus_ = 0;
  std::vector<SetQuality> quality_;       // by set
  std::vector<std::uint8_t> island_;      // by set
  std::vector<std::uint8_t> numa_nodes_;  // by set
  std::array<SetQuality, kMaxGpus + 1> best_quality_{};
  std::array<int, kMaxGpus + 1> fewest_numa_nodes_{};
  std::vector<std::uint16_t> best_;         // by free × (gpus + 1) + count; 0: no set
  std::vector<std::uint16_t> best_island_;  // likewise
};

// One kind of machine.
struct GpuShape {
  std::string name;
  LinkMatrix links;
  NumaNodes numa{};
  BestSetTable table;

  // The best set of `count` free GPUs in one island, or on one NUMA node where the machine has no NVLink.
  [[nodiscard]] std::optional<GpuMask> best_connected(GpuMask free, int count) const;
};

// The shape of a machine with `gpus` GPUs of `product` (label nvidia.com/gpu.product), nullptr if the table of machine
// shapes has none. The shapes are built at the first call and kept.
std::shared_ptr<const GpuShape> find_shape(std::string_view product, int gpus);

}  // namespace berth::model
