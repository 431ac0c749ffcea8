#include "pod_data.h"

#include <algorithm>
#include <span>

namespace berth::policy {
namespace {

double inverse(std::size_t bandwidth) { return 1 / static_cast<double>(std::max<std::size_t>(bandwidth, 1)); }

}  // namespace

PodData::PodData(const Query& query, const DataCosts& costs)
    : snapshot_(query.snapshot),
      pod_(query.pod),
      costs_(costs),
      tiers_{inverse(costs.bandwidth.node), inverse(costs.bandwidth.rack), inverse(costs.bandwidth.zone),
             inverse(costs.bandwidth.remote)},
      own_entry_(query.pod.datasets.empty() ? nullptr : query.snapshot.entry(query.pod.uid)) {
  for (const model::WantedDataset& wanted : query.pod.datasets) {
    const bool required = query.pod.requires_dataset(wanted, query.now);
    const model::DatasetId id = snapshot_.dataset_id(wanted.ref);
    if (id == model::kNoDataset) {
      misses_required_ = misses_required_ || required;
      continue;
    }
    add_dataset(*snapshot_.datasets[id], id < snapshot_.readers.size() ? snapshot_.readers[id].get() : nullptr,
                required);
  }
  for (const std::uint64_t id : query.pod.images) {
    if (const model::ImagePlacement* const image = snapshot_.images.find(id)) add_image(*image);
  }
}

void PodData::reserve() {
  if (!slots_.empty()) return;
  slots_.resize(snapshot_.index->slots());
  place_seconds_.resize(std::max<std::size_t>(snapshot_.places->size(), 1));
}

const model::Place& PodData::place_of(model::PlaceId place) const {
  static constexpr model::Place kNowhere;
  return place < snapshot_.places->size() ? (*snapshot_.places)[place] : kNowhere;
}

bool holds_enough(const model::DatasetPlacement::Holder& holder, const model::PodRequest& pod) {
  // As a float, which the holder's coverage is: 0.7 is less as a float than as a double.
  return holder.holds && (!pod.min_coverage || holder.coverage >= static_cast<float>(*pod.min_coverage));
}

double PodData::seconds_a_byte(model::PlaceId place, double coverage) const {
  const model::Place& where = place_of(place);
  const double in_rack = where.rack ? rack_[place] - coverage : 0;
  const double in_zone = zone_[where.zone] - coverage - in_rack;
  const double rack = std::clamp(in_rack, 0.0, 1 - coverage);
  const double zone = std::clamp(in_zone, 0.0, 1 - coverage - rack);
  const double remote = 1 - coverage - rack - zone;
  return coverage * tiers_.node + rack * tiers_.rack + zone * tiers_.zone + remote * tiers_.remote;
}

void PodData::add_neighbours(const model::DatasetPlacement& placement) {
  for (const auto& holder : placement.holders) {
    const model::PlaceId place = snapshot_.at(holder.slot).place;
    rack_[place] += static_cast<double>(holder.coverage);
    zone_[place_of(place).zone] += static_cast<double>(holder.coverage);
  }
}

void PodData::add_dataset(const model::DatasetPlacement& placement, const model::DatasetReaders* readers,
                          bool required) {
  reserve();
  const double bytes = placement.total_bytes > 0 ? static_cast<double>(placement.total_bytes)
                                                 : static_cast<double>(costs_.unknown_bytes);
  bytes_ += bytes;
  remote_seconds_ += bytes * tiers_.remote;
  local_seconds_ += bytes * tiers_.node;
  ++datasets_;
  if (required) ++required_;

  std::uint32_t zones = 1;
  for (const model::Place& place : *snapshot_.places) zones = std::max(zones, place.zone + 1);
  const auto places = static_cast<model::PlaceId>(place_seconds_.size());
  rack_.assign(places, 0);
  zone_.assign(zones, 0);
  if (!placement.own_caches) add_neighbours(placement);
  empty_.resize(places);
  for (model::PlaceId place = 0; place < places; ++place) {
    empty_[place] = bytes * seconds_a_byte(place, 0);
    place_seconds_[place] += empty_[place];
  }

  std::span<const model::DatasetReaders::Count> counts;
  if (readers != nullptr) counts = readers->counts;
  // A node that more pods read from than it serves at full speed is slower for each of them. Both lists ascend by slot.
  const auto heat_until = [&](model::Slot slot, double seconds) {
    for (; !counts.empty() && counts.front().slot <= slot; counts = counts.subspan(1)) {
      const auto [at, pods] = counts.front();
      const bool own = own_entry_ != nullptr && own_entry_->slot == at;
      const double heat = (pods + (own ? 0 : 1)) / static_cast<double>(costs_.readers_at_full_speed);
      if (heat <= 1) continue;
      slots_[at].seconds += (heat - 1) * (at == slot ? seconds : empty_[snapshot_.at(at).place]);
    }
  };
  for (const auto& holder : placement.holders) {
    const model::PlaceId place = snapshot_.at(holder.slot).place;
    const auto coverage = static_cast<double>(holder.coverage);
    const double seconds = bytes * seconds_a_byte(place, coverage);
    SlotData& slot = slots_[holder.slot];
    slot.seconds += seconds - empty_[place];
    slot.bytes += bytes * coverage;
    if (holds_enough(holder, pod_)) {
      if (coverage > 0) ++slot.held;
      if (required) ++slot.required;
    }
    heat_until(holder.slot, seconds);
  }
  heat_until(model::kNoSlot, 0);
}

void PodData::add_image(const model::ImagePlacement& image) {
  if (image.bytes <= 0) return;
  reserve();
  const double seconds = static_cast<double>(image.bytes) * inverse(costs_.bandwidth.registry);
  remote_seconds_ += seconds;
  for (double& place : place_seconds_) place += seconds;
  for (const model::Slot holder : image.holders) slots_[holder].seconds -= seconds;
}

void PodData::fill(NodeView& view, model::Slot slot) const {
  const SlotData& data = slots_[slot];
  view.load_seconds = std::max(0.0, place_seconds_[view.state->place] + data.seconds);
  view.saved_seconds = std::max(0.0, remote_seconds_ - view.load_seconds);
  if (datasets_ == 0) return;
  if (data.bytes > 0) view.coverage = std::min(1.0, data.bytes / bytes_);
  view.holds_all = data.held == datasets_;
  view.holds_required = data.required == required_;
}

}  // namespace berth::policy
