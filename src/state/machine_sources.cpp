#include "machine_sources.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::state {
namespace {

using model::TopologySource;
using Told = std::shared_ptr<const model::Machine>;

// Labels tell of the product, others better of the number: theirs counts. Null where labels tell of partitions or of
// shares instead of GPUs.
Told by_labels(const model::Node& node, const std::vector<Told>& others) {
  const auto better = std::ranges::find_if(others, [](const Told& one) { return !one->gpus.empty(); });
  const std::int64_t gpus = better != others.end() ? std::ssize((*better)->gpus) : gpus_by_labels(node);
  const std::string_view product = node.gpu_product;
  const bool whole = product.find("MIG") == std::string_view::npos && !product.ends_with("-SHARED");
  if (!whole || gpus < 1 || gpus > model::kMaxGpus) return nullptr;
  auto machine = std::make_shared<model::Machine>();
  machine->source = TopologySource::kLabels;
  const model::Gpu gpu{
      .uuid = {}, .product = node.gpu_product, .memory_mib = node.gpu_memory_mib, .pcie = {}, .instances = {}};
  machine->gpus.assign(static_cast<std::size_t>(gpus), gpu);
  return machine;
}

bool same(const Told& a, const Told& b) { return a == b || (a != nullptr && b != nullptr && *a == *b); }

}  // namespace

bool MachineSources::set(TopologySource source, Told machine) {
  Told& told = told_[static_cast<std::size_t>(source)];
  if (same(told, machine)) return false;
  told = std::move(machine);
  return true;
}

bool MachineSources::empty() const {
  return std::ranges::all_of(told_, [](const Told& told) { return told == nullptr; });
}

Told MachineSources::join(const model::Node& node) const {
  std::vector<Told> told;
  told.reserve(model::kTopologySources);
  if (node.agent) told.push_back(node.agent);
  if (node.hami) told.push_back(node.hami);
  for (const Told& one : told_) {
    if (one) told.push_back(one);
  }
  if (told.empty()) return nullptr;
  if (Told labels = by_labels(node, told)) told.push_back(std::move(labels));
  return model::merge(told);
}

std::int64_t gpus_by_labels(const model::Node& node) {
  const bool fewer = node.gpus == 0 || node.gpus < node.gpu_count;
  return fewer ? node.gpu_count : node.gpus;
}

std::shared_ptr<const model::GpuShape> shape_of(const model::Node& node, const model::Machine* machine,
                                                const model::LinkBandwidths& widths) {
  if (machine != nullptr && !machine->gpus.empty()) return model::shape_of(*machine, widths);
  const std::int64_t gpus = gpus_by_labels(node);
  const bool told_apart = gpus > 0 && gpus <= model::kMaxGpus;
  return told_apart ? model::find_shape(node.gpu_product, static_cast<int>(gpus), widths) : nullptr;
}

bool same_gpus(const model::Node& a, const model::Node& b) {
  const auto labels = [](const model::Node& node) {
    return std::tie(node.gpus, node.gpu_count, node.gpu_product, node.gpu_memory_mib);
  };
  return labels(a) == labels(b) && same(a.agent, b.agent) && same(a.hami, b.hami);
}

}  // namespace berth::state
