#include "berth/model/gpu_topology.h"

#include <algorithm>

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

using GroupSizes = std::array<std::uint8_t, 128>;

GroupSizes numa_groups(const NumaNodes& numa, GpuMask set) {
  GroupSizes sizes{};
  for (GpuMask rest = set; rest != 0; rest &= rest - 1) {
    const int node = numa[static_cast<std::size_t>(std::countr_zero(rest))];
    if (node >= 0) ++sizes[static_cast<std::size_t>(node)];
  }
  return sizes;
}

}  // namespace

int bandwidth(Link link) {
  switch (link) {
    case Link::kSelf:
    case Link::kNvlink:
      return 0;
    case Link::kSys:
      return 8;
    case Link::kNode:
      return 10;
    case Link::kPhb:
      return 12;
    case Link::kPxb:
      return 16;
    case Link::kPix:
      return 20;
  }
  return 25 * (static_cast<int>(link) - static_cast<int>(Link::kNvlink));
}

std::string link_name(Link link) {
  switch (link) {
    case Link::kSelf:
      return "X";
    case Link::kSys:
      return "SYS";
    case Link::kNode:
      return "NODE";
    case Link::kPhb:
      return "PHB";
    case Link::kPxb:
      return "PXB";
    case Link::kPix:
      return "PIX";
    case Link::kNvlink:
      break;
  }
  return "NV" + std::to_string(static_cast<int>(link) - static_cast<int>(Link::kNvlink));
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

core::Result<BestSetTable> BestSetTable::build(const LinkMatrix& links, const NumaNodes& numa) {
  const int n = links.gpus;
  if (n < 1 || n > kMaxGpus) {
    return core::fail(core::ErrorCode::kInvalid, "a link matrix has 1 to 16 GPUs, not " + std::to_string(n));
  }
  std::array<GpuMask, kMaxGpus> nvlink_peers{};
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      const bool self = links.at(a, b) == Link::kSelf;
      if (links.at(a, b) != links.at(b, a) || self != (a == b)) {
        return core::fail(core::ErrorCode::kInvalid, "the link matrix is not symmetric at GPU " + std::to_string(a) +
                                                         ", GPU " + std::to_string(b));
      }
      if (is_nvlink(links.at(a, b))) nvlink_peers[static_cast<std::size_t>(a)] |= GpuMask{1} << b;
    }
  }

  BestSetTable table;
  table.gpus_ = n;
  const std::size_t sets = std::size_t{1} << n;
  table.quality_.resize(sets);
  table.island_.resize(sets);
  table.numa_nodes_.resize(sets);
  table.fewest_numa_nodes_.fill(kMaxGpus);
  std::vector<std::uint8_t> together(sets);  // the most GPUs on one NUMA node, by set
  for (GpuMask set = 1; set < sets; ++set) {
    const int first = std::countr_zero(set);
    const GpuMask others = set & (set - 1);
    SetQuality quality = table.quality_[others];
    for (GpuMask rest = others; rest != 0; rest &= rest - 1) {
      const int width = bandwidth(links.at(first, std::countr_zero(rest)));
      quality.sum += width;
      quality.bottleneck = quality.bottleneck == 0 ? width : std::min(quality.bottleneck, width);
    }
    table.quality_[set] = quality;
    const GroupSizes groups = numa_groups(numa, set);
    together[set] = std::ranges::max(groups);
    const auto touched = static_cast<int>(groups.size()) - static_cast<int>(std::ranges::count(groups, 0));
    table.numa_nodes_[set] = static_cast<std::uint8_t>(touched);
    int& fewest = table.fewest_numa_nodes_[static_cast<std::size_t>(count(set))];
    fewest = std::min(fewest, touched);
    const GpuMask island = island_of(nvlink_peers, set, GpuMask{1} << first);
    table.island_[set] = std::max(static_cast<std::uint8_t>(count(island)), table.island_[set & ~island]);
  }

  // Each free mask's best sets come from its submasks: 3^n steps, 43 million for 16 GPUs.
  const auto stride = static_cast<std::size_t>(n) + 1;
  table.best_.assign(sets * stride, 0);
  table.best_island_.assign(sets * stride, 0);
  for (GpuMask free = 1; free < sets; ++free) {
    for (GpuMask set = free; set != 0; set = (set - 1) & free) {
      const auto better = [&](GpuMask other) {
        if (other == 0) return true;
        if (table.quality_[set] != table.quality_[other]) return table.quality_[set] > table.quality_[other];
        const GpuMask left = free & ~set;
        const GpuMask other_left = free & ~other;
        if (table.island_[left] != table.island_[other_left]) return table.island_[left] > table.island_[other_left];
        if (table.numa_nodes_[set] != table.numa_nodes_[other]) {
          return table.numa_nodes_[set] < table.numa_nodes_[other];
        }
        if (together[left] != together[other_left]) return together[left] > together[other_left];
        return lower_indices(set, other);
      };
      const std::size_t at = free * stride + static_cast<std::size_t>(count(set));
      if (better(table.best_[at])) table.best_[at] = static_cast<std::uint16_t>(set);
      if (table.island_[set] == count(set) && better(table.best_island_[at])) {
        table.best_island_[at] = static_cast<std::uint16_t>(set);
      }
    }
  }
  for (int k = 1; k <= n; ++k) {
    table.best_quality_[static_cast<std::size_t>(k)] = table.quality_[table.best(mask_all(n), k).value_or(0)];
  }
  return table;
}

std::optional<GpuMask> BestSetTable::look_up(const std::vector<std::uint16_t>& table, GpuMask free, int count) const {
  if (count < 1 || count > gpus_) return std::nullopt;
  const auto stride = static_cast<std::size_t>(gpus_) + 1;
  const GpuMask set = table[(free & mask_all(gpus_)) * stride + static_cast<std::size_t>(count)];
  if (set == 0) return std::nullopt;
  return set;
}

std::optional<GpuMask> BestSetTable::best(GpuMask free, int count) const { return look_up(best_, free, count); }

std::optional<GpuMask> BestSetTable::best_island(GpuMask free, int count) const {
  return look_up(best_island_, free, count);
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

std::optional<GpuMask> GpuShape::best_connected(GpuMask free, int count) const {
  const bool has_nvlink = table.largest_island(mask_all(links.gpus)) > 1;
  if (has_nvlink) return table.best_island(free, count);
  const auto set = table.best(free, count);
  if (set && table.numa_nodes(*set) > 1) return std::nullopt;
  return set;
}

}  // namespace berth::model
