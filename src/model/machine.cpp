#include "berth/model/machine.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

namespace berth::model {
namespace {

using Told = std::shared_ptr<const Machine>;

// Where each GPU of a source stands in the list of another, by UUID where both tell it, else by index; nullopt if they
// tell of other GPUs.
std::optional<std::vector<std::size_t>> places_in(const std::vector<Gpu>& list, const std::vector<Gpu>& source) {
  if (source.size() != list.size()) return std::nullopt;
  std::vector<std::size_t> places(source.size());
  std::vector<bool> taken(list.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    places[i] = i;
    if (!source[i].uuid.empty() && !list[i].uuid.empty()) {
      const auto found = std::ranges::find(list, source[i].uuid, &Gpu::uuid);
      if (found == list.end()) return std::nullopt;
      places[i] = static_cast<std::size_t>(found - list.begin());
    }
    if (taken[places[i]]) return std::nullopt;
    taken[places[i]] = true;
  }
  return places;
}

void fill_gaps(Gpu& gpu, const Gpu& other) {
  if (gpu.uuid.empty()) gpu.uuid = other.uuid;
  if (gpu.product.empty()) gpu.product = other.product;
  if (gpu.memory_mib == 0) gpu.memory_mib = other.memory_mib;
  if (gpu.numa < 0) gpu.numa = other.numa;
  if (gpu.pcie.empty()) gpu.pcie = other.pcie;
  gpu.healthy = gpu.healthy && other.healthy;
  gpu.mig = gpu.mig || other.mig;
  if (gpu.instances.empty()) gpu.instances = other.instances;
}

LinkMatrix moved(const LinkMatrix& links, const std::vector<std::size_t>& places) {
  LinkMatrix out;
  out.gpus = links.gpus;
  for (int a = 0; a < links.gpus; ++a) {
    for (int b = a + 1; b < links.gpus; ++b) {
      out.set(static_cast<int>(places[static_cast<std::size_t>(a)]),
              static_cast<int>(places[static_cast<std::size_t>(b)]), links.at(a, b));
    }
  }
  return out;
}

std::vector<Nic> moved(const std::vector<Nic>& nics, const std::vector<std::size_t>& places) {
  std::vector<Nic> out = nics;
  for (std::size_t i = 0; i < nics.size(); ++i) {
    for (std::size_t gpu = 0; gpu < places.size(); ++gpu) out[i].links[places[gpu]] = nics[i].links[gpu];
  }
  return out;
}

}  // namespace

std::shared_ptr<const Machine> merge(std::span<const Told> told) {
  if (told.empty()) return nullptr;
  if (told.size() == 1) return told.front();
  const auto with_gpus = std::ranges::find_if(told, [](const Told& source) { return !source->gpus.empty(); });
  Machine merged;
  if (with_gpus != told.end()) merged.gpus = (*with_gpus)->gpus;
  const Machine* with_links = nullptr;
  for (const Told& source : told) {
    if (merged.clique.empty()) merged.clique = source->clique;
    if (source->gpus.empty()) {
      if (merged.numa_gpus.empty()) merged.numa_gpus = source->numa_gpus;
      continue;
    }
    const auto places = places_in(merged.gpus, source->gpus);
    if (!places) continue;
    if (merged.numa_gpus.empty()) merged.numa_gpus = source->numa_gpus;
    for (std::size_t i = 0; i < places->size(); ++i) {
      if (source != *with_gpus) fill_gaps(merged.gpus[(*places)[i]], source->gpus[i]);
    }
    if (!merged.links && source->links && source->links->gpus == static_cast<int>(merged.gpus.size())) {
      merged.links = moved(*source->links, *places);
      with_links = source.get();
    }
    if (merged.nics.empty()) merged.nics = moved(source->nics, *places);
  }
  const Machine& first = with_links != nullptr ? *with_links : **(with_gpus != told.end() ? with_gpus : told.begin());
  merged.source = first.source;
  merged.at = first.at;
  return std::make_shared<const Machine>(std::move(merged));
}

}  // namespace berth::model
