// The GPU topology of a machine: how its GPUs are linked, and the best set for every (free GPUs, count).
//
// Thread-safe.
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

// Connection class of a GPU pair, as `nvidia-smi topo -m` names them; kNvlink + k is a bond of k NVLinks, k = 1..99.
enum class Link : std::uint8_t { kSelf = 0, kSys = 1, kNode = 2, kPhb = 3, kPxb = 4, kPix = 5, kNvlink = 10 };
constexpr Link nvlink(int bonded) { return static_cast<Link>(static_cast<int>(Link::kNvlink) + bonded); }
constexpr bool is_nvlink(Link link) { return link > Link::kNvlink; }

// GB/s per direction (docs/gpu-topology.md says where from).
struct LinkBandwidths {
  int nvlink = 25;  // of one: a bond of k has k times as much
  int pix = 20;
  int pxb = 16;
  int phb = 12;
  int node = 10;
  int sys = 8;
  friend auto operator<=>(const LinkBandwidths&, const LinkBandwidths&) = default;
};
// 0 for kSelf.
int bandwidth(Link link, const LinkBandwidths& widths = {});
// "NV18", "PIX", ..., "X" for kSelf.
std::string link_name(Link link);
// The class of a pair by its name; also "SOC", which old drivers call SYS. nullopt for any other text, and for "X".
std::optional<Link> parse_link(std::string_view name);

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

// Picks which of a node's free GPUs a pod should get. The answers for one set of free GPUs are worked out together and
// kept, so that choosing on the hot path is one lookup: at once for up to 10 GPUs (8 GPUs: 0.1 ms), and for more when
// that set is first asked for (16 GPUs: 10 ms at once, then 70 us for all of them free, 2 us for a set of usual size).
//
// Thread-safe.
class BestSetTable {
 public:
  // `numa`: NUMA node by GPU, -1 if unknown. kInvalid if `links` has no GPU, more than kMaxGpus, or is not symmetric.
  static core::Result<BestSetTable> build(const LinkMatrix& links, const NumaNodes& numa,
                                          const LinkBandwidths& widths = {});

  // The set of `count` GPUs out of `free` with the widest bottleneck, then the greatest sum of bandwidths; nullopt if
  // fewer are free or count < 1. Ties go to the set that leaves the largest island whole, then to the one on the fewest
  // NUMA nodes, then to the one that leaves the most GPUs free on one NUMA node, then to the lowest indices.
  [[nodiscard]] std::optional<GpuMask> best(GpuMask free, int count) const { return look_up(free, count, 0); }

  // As best(), among the sets that are connected: one island, or, where the machine has no NVLink, on one NUMA node. A
  // GPU whose NUMA node is not known is on the same one as those that it has no SYS link to. A single GPU is connected.
  [[nodiscard]] std::optional<GpuMask> best_connected(GpuMask free, int count) const { return look_up(free, count, 1); }

  // That is, best_connected() out of the set itself is the whole set.
  [[nodiscard]] bool connected(GpuMask set) const { return set < connected_.size() && connected_[set] != 0; }

  // Every set that ties with best() or best_connected() but for its indices, ascending. Looks at all subsets of `free`.
  [[nodiscard]] std::vector<GpuMask> equals(GpuMask free, int count, bool connected) const;

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
  // What it takes in memory.
  [[nodiscard]] std::size_t bytes() const;

 private:
  // `table` is 0 for best() and 1 for best_connected().
  [[nodiscard]] std::optional<GpuMask> look_up(GpuMask free, int count, std::size_t table) const;
  [[nodiscard]] std::size_t row_of(GpuMask free) const {
    return std::size_t{free} * 2 * (static_cast<std::size_t>(gpus_) + 1);
  }
  void fill_row(GpuMask free) const;
  void rank_sets();

  int gpus_ = 0;
  std::vector<SetQuality> quality_;       // by set
  std::vector<std::uint8_t> island_;      // by set
  std::vector<std::uint8_t> numa_nodes_;  // by set
  std::vector<std::uint8_t> connected_;   // by set
  // By set: what it is worth as the set that is taken, and as the one that stays free. Of two sets out of the same free
  // ones and of one size, the better has the greater sum.
  std::vector<std::uint64_t> taken_;
  std::vector<std::uint32_t> left_;
  std::array<SetQuality, kMaxGpus + 1> best_quality_{};
  std::array<int, kMaxGpus + 1> fewest_numa_nodes_{};
  // By free set: 1 once the row is filled, the best sets by count from 1, a spare one, the connected sets by count from
  // 1; 0 is no set. Filled rows never change; two threads that fill the same one write the same.
  mutable std::vector<std::uint16_t> rows_;
};

// One kind of machine.
struct GpuShape {
  std::string name;
  LinkMatrix links;
  NumaNodes numa{};
  BestSetTable table;

  [[nodiscard]] std::optional<GpuMask> best_connected(GpuMask free, int count) const {
    return table.best_connected(free, count);
  }
};

// The shape of a machine with `gpus` GPUs of `product` (label nvidia.com/gpu.product), nullptr if the table of machine
// shapes has none. The shapes are built at the first call and kept.
std::shared_ptr<const GpuShape> find_shape(std::string_view product, int gpus, const LinkBandwidths& widths = {});

}  // namespace berth::model
