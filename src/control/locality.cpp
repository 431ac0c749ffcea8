#include "locality.h"

#include <algorithm>
#include <cmath>

namespace berth::control {
namespace {

constexpr float kFull = 0.99F;

}  // namespace

std::vector<HeldDataset> held_on(const model::Snapshot& snapshot, const model::PodRequest& pod, model::Slot node) {
  std::vector<HeldDataset> held;
  for (const model::WantedDataset& wanted : pod.datasets) {
    const model::DatasetPlacement* const placement = snapshot.placement(wanted.ref);
    if (placement == nullptr) continue;
    HeldDataset& dataset = held.emplace_back();
    dataset.ref = wanted.ref;
    dataset.total_bytes = placement->total_bytes;
    const auto& holders = placement->holders;
    const auto found = std::lower_bound(holders.begin(), holders.end(), node,
                                        [](const auto& holder, model::Slot slot) { return holder.slot < slot; });
    if (found != holders.end() && found->slot == node) {
      dataset.share = {found->coverage, found->source, found->observed};
    }
  }
  return held;
}

void count(LocalityCounts& counts, std::span<const HeldDataset> held) {
  if (held.empty()) return;
  const auto all = [&held](const auto& test) { return std::all_of(held.begin(), held.end(), test); };
  if (all([](const HeldDataset& dataset) { return dataset.share.coverage >= kFull; })) {
    ++counts.full;
  } else if (all([](const HeldDataset& dataset) { return dataset.share.coverage <= 0; })) {
    ++counts.none;
  } else {
    ++counts.partial;
  }
  for (const HeldDataset& dataset : held) {
    if (dataset.total_bytes <= 0) continue;
    const double local =
        std::round(static_cast<double>(dataset.share.coverage) * static_cast<double>(dataset.total_bytes));
    const auto bytes = std::clamp<std::int64_t>(static_cast<std::int64_t>(local), 0, dataset.total_bytes);
    counts.local_bytes += static_cast<std::uint64_t>(bytes);
    counts.remote_bytes += static_cast<std::uint64_t>(dataset.total_bytes - bytes);
  }
}

}  // namespace berth::control
