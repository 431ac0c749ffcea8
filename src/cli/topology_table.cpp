#include "berth/cli/topology_table.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "report.h"

namespace berth::cli {
namespace {

using model::Link;

constexpr std::size_t kMostSets = 4;
constexpr std::size_t kMostNics = 4;

std::string set_text(model::GpuMask set) {
  std::string text;
  for (int gpu = 0; gpu < model::kMaxGpus; ++gpu) {
    if (!model::contains(set, gpu)) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(gpu);
  }
  return text;
}

// "PIX mlx5_0 mlx5_1", the nearest ones; "-" without any.
std::string nics_text(const model::Machine& machine, std::size_t gpu) {
  Link nearest = Link::kSelf;
  for (const model::Nic& nic : machine.nics) nearest = std::max(nearest, nic.links[gpu]);
  if (nearest == Link::kSelf) return "-";
  std::string text = model::link_name(nearest);
  std::size_t found = 0;
  for (const model::Nic& nic : machine.nics) {
    if (nic.links[gpu] == nearest && found++ < kMostNics) text += " " + printable(nic.name);
  }
  if (found > kMostNics) text += fmt::format(" and {} more", found - kMostNics);
  return text;
}

}  // namespace

std::string topology_table(const model::Machine& machine, const model::GpuShape& shape) {
  const int gpus = shape.table.gpus();
  std::string out = "GPU ";
  for (int gpu = 0; gpu < gpus; ++gpu) out += fmt::format("{:>5}", gpu);
  out += "   NUMA   nearest NICs\n";
  for (int a = 0; a < gpus; ++a) {
    out += fmt::format("{:<4}", a);
    for (int b = 0; b < gpus; ++b) out += fmt::format("{:>5}", model::link_name(shape.links.at(a, b)));
    const auto gpu = static_cast<std::size_t>(a);
    const int node = shape.numa[gpu];
    out += fmt::format("   {:<4}   {}\n", node < 0 ? "-" : std::to_string(node), nics_text(machine, gpu));
  }
  if (gpus < 2) return out;
  out +=
      "\nBest sets, in GB/s per direction; the first is taken where all GPUs are free\nGPUs   slowest   all pairs   "
      "sets\n";
  for (int count = 2; count <= gpus; ++count) {
    const model::SetQuality quality = shape.table.best_quality(count);
    auto ties = shape.table.ties(count);
    const auto taken = std::ranges::find(ties, shape.table.best(model::mask_all(gpus), count).value_or(0));
    if (taken != ties.end()) std::rotate(ties.begin(), taken, taken + 1);
    out += fmt::format("{:<4}   {:<7}   {:<9}  ", count, quality.bottleneck, quality.sum);
    for (std::size_t i = 0; i < std::min(kMostSets, ties.size()); ++i) out += " " + set_text(ties[i]);
    if (ties.size() > kMostSets) out += fmt::format(" and {} more", ties.size() - kMostSets);
    out += "\n";
  }
  return out;
}

}  // namespace berth::cli
