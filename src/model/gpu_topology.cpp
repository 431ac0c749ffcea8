#include "berth/model/gpu_topology.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <utility>

namespace berth::model {
namespace {

// Every set reachable from `start` over NVLinks that stay inside `set`.
GpuMask island_of(const std::array<GpuMask, kMaxGpus>& nvlink_peers, GpuMask set, GpuMask start) {
  GpuMask island = start;
  for (GpuMask frontier = start; frontier != 0;) {
    GpuMask next = 0;
    for (GpuMask rest = frontier; rest != 0; rest &= rest - 1) {
      next |= nvlink_peers[static_cast<std::size_t>(std::countr_zero(rest))];
    }
    frontier = next & set & ~island;
    island |= frontier;
  }
  return island;
}

// The GPUs of each NUMA node that is known.
std::vector<GpuMask> numa_groups(const NumaNodes& numa, int gpus) {
  std::map<int, GpuMask> groups;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const int node = numa[static_cast<std::size_t>(gpu)];
    if (node >= 0) groups[node] |= GpuMask{1} << gpu;
  }
  std::vector<GpuMask> masks;
  masks.reserve(groups.size());
  for (const auto& [node, group] : groups) masks.push_back(group);
  return masks;
}

// As far as it is known.
bool one_numa_node(const LinkMatrix& links, const NumaNodes& numa, GpuMask set) {
  for (GpuMask rest = set; rest != 0; rest &= rest - 1) {
    const int a = std::countr_zero(rest);
    for (GpuMask others = rest & (rest - 1); others != 0; others &= others - 1) {
      const int b = std::countr_zero(others);
      const int at_a = numa[static_cast<std::size_t>(a)];
      const int at_b = numa[static_cast<std::size_t>(b)];
      if (at_a >= 0 && at_b >= 0 ? at_a != at_b : links.at(a, b) == Link::kSys) return false;
    }
  }
  return true;
}

// Rows of machines with more GPUs are filled when they are first asked for.
constexpr int kFilledAtOnce = 10;

// Of what a set is worth, from the greatest: quality, island left, NUMA nodes, GPUs left on one NUMA node, low indices.
constexpr unsigned kIndexBits = 16;
constexpr unsigned kCountBits = 5;
constexpr unsigned kTogetherAt = kIndexBits;
constexpr unsigned kNumaAt = kTogetherAt + kCountBits;
constexpr unsigned kIslandAt = kNumaAt + kCountBits;
constexpr unsigned kQualityAt = kIslandAt + kCountBits;

// The mask mirrored, so that the lower indices are the greater number; its own inverse.
constexpr std::uint16_t mirrored(std::uint64_t set) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < kIndexBits; ++i) bits |= ((set >> i) & 1U) << (kIndexBits - 1 - i);
  return static_cast<std::uint16_t>(bits);
}

}  // namespace

int bandwidth(Link link, const LinkBandwidths& widths) {
  switch (link) {
    case Link::kSelf:
    case Link::kNvlink:
      return 0;
    case Link::kSys:
      return widths.sys;
    case Link::kNode:
      return widths.node;
    case Link::kPhb:
      return widths.phb;
    case Link::kPxb:
      return widths.pxb;
    case Link::kPix:
      return widths.pix;
  }
  return widths.nvlink * (static_cast<int>(link) - static_cast<int>(Link::kNvlink));
}

namespace {

constexpr std::pair<std::string_view, Link> kPcieLinks[] = {
    {"SYS", Link::kSys}, {"NODE", Link::kNode}, {"PHB", Link::kPhb}, {"PXB", Link::kPxb}, {"PIX", Link::kPix}};

}  // namespace

std::string link_name(Link link) {
  if (link == Link::kSelf) return "X";
  for (const auto& [name, named] : kPcieLinks) {
    if (named == link) return std::string(name);
  }
  return "NV" + std::to_string(static_cast<int>(link) - static_cast<int>(Link::kNvlink));
}

std::optional<Link> parse_link(std::string_view name) {
  if (name == "SOC") return Link::kSys;
  for (const auto& [known, link] : kPcieLinks) {
    if (name == known) return link;
  }
  if (!name.starts_with("NV") || name.size() < 3 || name.size() > 4 || name[2] == '0') return std::nullopt;
  int bonded = 0;
  for (const char c : name.substr(2)) {
    if (c < '0' || c > '9') return std::nullopt;
    bonded = bonded * 10 + (c - '0');
  }
  return nvlink(bonded);
}

LinkMatrix LinkMatrix::uniform(int gpus, Link link) {
  LinkMatrix matrix;
  matrix.gpus = gpus;
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b) matrix.set(a, b, link);
  }
  return matrix;
}

void LinkMatrix::set(int a, int b, Link link) {
  links[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = link;
  links[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)] = link;
}

core::Result<BestSetTable> BestSetTable::build(const LinkMatrix& links, const NumaNodes& numa,
                                               const LinkBandwidths& widths) {
  const int n = links.gpus;
  if (n < 1 || n > kMaxGpus) {
    return core::fail(core::ErrorCode::kInvalid, "a link matrix has 1 to 16 GPUs, not " + std::to_string(n));
  }
  std::array<GpuMask, kMaxGpus> nvlink_peers{};
  bool has_nvlink = false;
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      const bool self = links.at(a, b) == Link::kSelf;
      if (links.at(a, b) != links.at(b, a) || self != (a == b)) {
        return core::fail(core::ErrorCode::kInvalid, "the link matrix is not symmetric at GPU " + std::to_string(a) +
                                                         ", GPU " + std::to_string(b));
      }
      if (!is_nvlink(links.at(a, b))) continue;
      nvlink_peers[static_cast<std::size_t>(a)] |= GpuMask{1} << b;
      has_nvlink = true;
    }
  }

  BestSetTable table;
  table.gpus_ = n;
  const std::size_t sets = std::size_t{1} << n;
  table.quality_.resize(sets);
  table.island_.resize(sets);
  table.numa_nodes_.resize(sets);
  table.connected_.resize(sets);
  table.taken_.resize(sets);
  table.left_.resize(sets);
  table.fewest_numa_nodes_.fill(kMaxGpus);
  const std::vector<GpuMask> groups = numa_groups(numa, n);
  for (GpuMask set = 1; set < sets; ++set) {
    const int first = std::countr_zero(set);
    const GpuMask others = set & (set - 1);
    SetQuality quality = table.quality_[others];
    for (GpuMask rest = others; rest != 0; rest &= rest - 1) {
      const int width = bandwidth(links.at(first, std::countr_zero(rest)), widths);
      quality.sum += width;
      quality.bottleneck = quality.bottleneck == 0 ? width : std::min(quality.bottleneck, width);
    }
    table.quality_[set] = quality;
    int touched = 0;
    int together = 0;  // the most GPUs on one NUMA node
    for (const GpuMask group : groups) {
      touched += (set & group) != 0 ? 1 : 0;
      together = std::max(together, count(set & group));
    }
    table.numa_nodes_[set] = static_cast<std::uint8_t>(touched);
    int& fewest = table.fewest_numa_nodes_[static_cast<std::size_t>(count(set))];
    fewest = std::min(fewest, touched);
    const GpuMask island = island_of(nvlink_peers, set, GpuMask{1} << first);
    table.island_[set] = std::max(static_cast<std::uint8_t>(count(island)), table.island_[set & ~island]);
    table.connected_[set] = has_nvlink ? island == set : one_numa_node(links, numa, set);
    table.taken_[set] = std::uint64_t{kMaxGpus - static_cast<unsigned>(touched)} << kNumaAt | mirrored(set);
    table.left_[set] = std::uint32_t{table.island_[set]} << kIslandAt | static_cast<std::uint32_t>(together)
                                                                            << kTogetherAt;
  }
  table.rank_sets();
  table.rows_.assign(table.row_of(static_cast<GpuMask>(sets)), 0);
  if (n <= kFilledAtOnce) {
    for (GpuMask free = 1; free < sets; ++free) table.fill_row(free);
  }
  for (int k = 1; k <= n; ++k) {
    table.best_quality_[static_cast<std::size_t>(k)] = table.quality_[table.best(mask_all(n), k).value_or(0)];
  }
  return table;
}

// Qualities become their places among all that there are: two numbers without a bound become one of 17 bits.
void BestSetTable::rank_sets() {
  std::vector<SetQuality> sorted(quality_.begin(), quality_.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (std::size_t set = 1; set < quality_.size(); ++set) {
    const auto rank = std::lower_bound(sorted.begin(), sorted.end(), quality_[set]) - sorted.begin();
    taken_[set] |= static_cast<std::uint64_t>(rank + 1) << kQualityAt;
  }
}

// 2^|free| steps: 3^n for all rows together, 43 million for 16 GPUs.
void BestSetTable::fill_row(GpuMask free) const {
  std::array<std::array<std::uint64_t, kMaxGpus + 1>, 2> top{};
  for (GpuMask set = free; set != 0; set = (set - 1) & free) {
    const std::uint64_t worth = taken_[set] + left_[free ^ set];
    const auto size = static_cast<std::size_t>(count(set));
    top[0][size] = std::max(top[0][size], worth);
    top[1][size] = std::max(top[1][size], connected_[set] != 0 ? worth : 0);
  }
  const auto store = [this](std::size_t at, std::uint16_t value, std::memory_order order) {
    std::atomic_ref(rows_[at]).store(value, order);
  };
  const std::size_t row = row_of(free);
  const auto stride = static_cast<std::size_t>(gpus_) + 1;
  for (std::size_t table = 0; table < top.size(); ++table) {
    for (std::size_t size = 1; size < stride; ++size) {
      store(row + table * stride + size, mirrored(top[table][size]), std::memory_order_relaxed);
    }
  }
  store(row, 1, std::memory_order_release);
}

std::optional<GpuMask> BestSetTable::look_up(GpuMask free, int count, std::size_t table) const {
  if (count < 1 || count > gpus_) return std::nullopt;
  free &= mask_all(gpus_);
  const std::size_t row = row_of(free);
  if (std::atomic_ref(rows_[row]).load(std::memory_order_acquire) == 0) fill_row(free);
  const std::size_t at = row + table * (static_cast<std::size_t>(gpus_) + 1) + static_cast<std::size_t>(count);
  const GpuMask set = std::atomic_ref(rows_[at]).load(std::memory_order_relaxed);
  if (set == 0) return std::nullopt;
  return set;
}

std::vector<GpuMask> BestSetTable::equals(GpuMask free, int count, bool connected) const {
  std::vector<GpuMask> sets;
  free &= mask_all(gpus_);
  const auto best = look_up(free, count, connected ? 1 : 0);
  if (!best) return sets;
  const auto worth = [&](GpuMask set) { return (taken_[set] + left_[free ^ set]) >> kIndexBits; };
  const std::uint64_t most = worth(*best);
  for (GpuMask set = free; set != 0; set = (set - 1) & free) {
    if (model::count(set) != count || worth(set) != most || (connected && connected_[set] == 0)) continue;
    sets.push_back(set);
  }
  std::sort(sets.begin(), sets.end(), lower_indices);
  return sets;
}

std::vector<GpuMask> BestSetTable::ties(int count) const {
  std::vector<GpuMask> ties;
  const auto first = best(mask_all(gpus_), count);
  if (!first) return ties;
  for (GpuMask set = 1; set < quality_.size(); ++set) {
    if (model::count(set) == count && quality_[set] == quality_[*first]) ties.push_back(set);
  }
  std::sort(ties.begin(), ties.end(), lower_indices);
  return ties;
}

std::size_t BestSetTable::bytes() const {
  const auto of = [](const auto& items) { return items.capacity() * sizeof(items[0]); };
  return of(quality_) + of(island_) + of(numa_nodes_) + of(connected_) + of(taken_) + of(left_) + of(rows_);
}

}  // namespace berth::model
