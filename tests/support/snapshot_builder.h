// Snapshots for tests of policies, put together by hand rather than by `state`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/model/packing_view.h"
#include "berth/model/snapshot.h"

namespace berth::tests {

inline constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
inline constexpr const char* kV100 = "Tesla-V100-SXM2-32GB";

class SnapshotBuilder {
 public:
  // `taken`: GPUs that bound pods hold, lowest indices unless `free` says otherwise.
  SnapshotBuilder& node(std::string name, int gpus = 8, int taken = 0, std::string product = kH100,
                        std::int64_t memory_mib = 81559) {
    auto node = std::make_shared<model::Node>();
    node->name = name;
    node->gpus = gpus;
    node->gpu_product = std::move(product);
    node->gpu_memory_mib = memory_mib;
    model::NodeState state;
    state.shape = model::find_shape(node->gpu_product, gpus);
    state.node = std::move(node);
    state.gpus = gpus;
    state.used = taken;
    state.free_known = state.shape != nullptr;
    if (state.free_known) state.free = model::mask_all(gpus) & ~model::mask_all(taken);
    names_.push_back(std::move(name));
    states_.push_back(std::move(state));
    return *this;
  }
  // Of the node added last.
  SnapshotBuilder& free(model::GpuMask free) {
    states_.back().free = free;
    states_.back().used = states_.back().gpus - model::count(free);
    return *this;
  }
  // A bound pod on the node added last; its GPUs are held from then on.
  SnapshotBuilder& occupant(model::Occupant pod) {
    model::NodeState& state = states_.back();
    auto occupants = state.occupants ? std::make_shared<std::vector<model::Occupant>>(*state.occupants)
                                     : std::make_shared<std::vector<model::Occupant>>();
    model::GpuMask held = 0;
    for (const model::Occupant& other : *occupants) held |= other.placement.gpus;
    const model::GpuMask taken = pod.placement.gpus & ~held;
    state.used += model::count(state.free_known ? taken & state.free : taken);
    if (pod.placement.empty()) state.used += pod.gpus;
    state.free &= ~pod.placement.gpus;
    occupants->push_back(std::move(pod));
    state.occupants = std::move(occupants);
    return *this;
  }
  SnapshotBuilder& budget(model::DisruptionBudget budget) {
    budgets_.push_back(std::move(budget));
    return *this;
  }
  // Of the node added last: what a source tells of its GPUs.
  SnapshotBuilder& told(model::Machine machine) {
    states_.back().shape = model::shape_of(machine);
    states_.back().machine = std::make_shared<const model::Machine>(std::move(machine));
    states_.back().free_known = true;
    return *this;
  }
  // Pods that could not run on it lately, and of them those of an owner.
  SnapshotBuilder& failed(float pods, const std::vector<std::pair<std::string, float>>& of_owners = {}) {
    states_.back().failures = pods;
    for (const auto& [owner, count] : of_owners) failures_[owner].emplace_back(slot(), count);
    return *this;
  }
  // Where it stands; without it in zone 0 and in no rack. Racks of different zones are different ones.
  SnapshotBuilder& stands(std::uint32_t zone, std::optional<int> rack = {}) {
    const auto [at, fresh] =
        place_ids_.try_emplace({zone, rack.value_or(-1)}, static_cast<model::PlaceId>(places_.size()));
    if (fresh) places_.push_back({zone, rack.has_value()});
    states_.back().place = at->second;
    return *this;
  }
  // The values of its labels by level, the closest first; empty: it lacks the label.
  SnapshotBuilder& levels(const std::vector<std::string>& values) {
    model::Place place = places_[states_.back().place];
    for (std::size_t level = 0; level < values.size(); ++level) {
      if (values[level].empty()) continue;
      const auto [number, fresh] = level_values_.try_emplace({level, values[level]}, level_values_.size() + 1);
      place.levels[level] = static_cast<std::uint32_t>(number->second);
    }
    states_.back().place = static_cast<model::PlaceId>(places_.size());
    places_.push_back(place);
    return *this;
  }
  // A member of a gang has its place on the node added last.
  SnapshotBuilder& member(const std::string& gang, std::string uid) {
    members_[gang].emplace_back(std::move(uid), slot());
    return *this;
  }
  // A member of a gang is bound there and holds the whole node.
  SnapshotBuilder& take_whole(const std::string& name, const std::string& gang, std::string uid) {
    const auto at = static_cast<model::Slot>(std::ranges::find(names_, name) - names_.begin());
    states_[at].used = states_[at].gpus;
    states_[at].free = 0;
    members_[gang].emplace_back(std::move(uid), at);
    return *this;
  }
  SnapshotBuilder& gang_of(const std::string& gang, std::int32_t size) {
    members_[gang];
    gang_sizes_[gang] = size;
    return *this;
  }
  SnapshotBuilder& policy(model::SchedulingPolicy policy) {
    const std::string name = policy.ns + "/" + policy.name;
    policies_[name] = std::make_shared<const model::SchedulingPolicy>(std::move(policy));
    return *this;
  }
  SnapshotBuilder& holds(const std::string& ns, const std::string& dataset, float coverage = 1,
                         model::CoverageSource source = model::CoverageSource::kMeasured,
                         core::WallTime observed = {}) {
    const bool empty = source == model::CoverageSource::kMeasured && coverage <= 0;
    return holder(ns, dataset, {slot(), coverage, source, !empty, observed, -1, true});
  }
  // A worker that is not ready, or a label: bytes may be there, but it does not hold the dataset.
  SnapshotBuilder& hints(const std::string& ns, const std::string& dataset, float coverage,
                         model::CoverageSource source = model::CoverageSource::kMeasured) {
    return holder(ns, dataset, {slot(), coverage, source, false, {}, -1});
  }
  SnapshotBuilder& reads(const std::string& ns, const std::string& dataset, std::int32_t pods) {
    readers_[ns + "/" + dataset].counts.push_back({slot(), pods});
    return *this;
  }
  SnapshotBuilder& has_image(std::uint64_t id, std::int64_t bytes) {
    images_[id].bytes = bytes;
    images_[id].holders.push_back(slot());
    return *this;
  }
  // Of a dataset; without it the size is not known.
  SnapshotBuilder& sized(const std::string& ns, const std::string& dataset, std::int64_t bytes) {
    model::DatasetPlacement& placement = placements_[ns + "/" + dataset];
    placement.ref = {ns, dataset};
    placement.total_bytes = bytes;
    return *this;
  }
  // What a node holds of it no other can read.
  SnapshotBuilder& own_caches(const std::string& ns, const std::string& dataset) {
    placements_[ns + "/" + dataset].own_caches = true;
    return *this;
  }
  SnapshotBuilder& promised(std::string uid, int gpus, model::EntryKind kind, int priority = 0,
                            model::GpuPlacement placement = {}, model::GpuParts parts = {}) {
    (kind == model::EntryKind::kFirm ? states_.back().firm : states_.back().soft) += gpus;
    states_.back().firm_gpus |= placement.gpus & states_.back().free;
    ledger_[uid] = {uid, slot(), gpus, priority, kind, std::move(parts), std::move(placement)};
    return *this;
  }
  // CPU of the only entry on the node added last, which is a soft one.
  SnapshotBuilder& promised_cpu(std::int64_t milli) {
    for (auto& [uid, entry] : ledger_) {
      if (entry.slot != slot()) continue;
      model::Resources requests;
      requests.basic.cpu_milli = milli;
      entry.requests = std::make_shared<const model::Resources>(std::move(requests));
    }
    states_.back().soft_requests.cpu_milli += milli;
    return *this;
  }
  // By GPU, promises counted in.
  SnapshotBuilder& uses(std::vector<model::GpuUse> uses) {
    states_.back().uses = std::make_shared<const std::vector<model::GpuUse>>(std::move(uses));
    return *this;
  }
  SnapshotBuilder& machine(model::Machine machine) {
    states_.back().machine = std::make_shared<const model::Machine>(std::move(machine));
    return *this;
  }
  // That the node lists by profile.
  SnapshotBuilder& partitions(std::vector<model::MigDemand> mig) {
    auto node = std::make_shared<model::Node>(*states_.back().node);
    node->mig = std::move(mig);
    states_.back().node = std::move(node);
    return *this;
  }

  // As the state would publish them: what is worked out of the nodes is remembered.
  SnapshotBuilder& stamped() {
    for (std::size_t i = 0; i < states_.size(); ++i) states_[i].stamp = static_cast<std::uint32_t>(i + 1);
    return *this;
  }
  // What is likely to be asked for; without it model::default_mix().
  SnapshotBuilder& mix(model::RequestMix mix) {
    mix_ = std::move(mix);
    return *this;
  }
  // Of the node added last: CPU that it has in all, and CPU that is free.
  SnapshotBuilder& cpu(std::int64_t milli, std::int64_t free_milli) {
    auto node = std::make_shared<model::Node>(*states_.back().node);
    node->allocatable.basic.cpu_milli = milli;
    states_.back().node = std::move(node);
    states_.back().spare.cpu_milli = free_milli;
    return *this;
  }

  [[nodiscard]] std::shared_ptr<const model::Snapshot> build() const {
    auto snapshot = std::make_shared<model::Snapshot>();
    snapshot->version = 7;
    snapshot->ready = true;
    snapshot->index = std::make_shared<const model::NodeIndex>(names_);
    for (std::size_t first = 0; first < states_.size(); first += 64) {
      auto block = std::make_shared<model::NodeBlock>();
      for (std::size_t i = 0; i < 64 && first + i < states_.size(); ++i) (*block)[i] = states_[first + i];
      snapshot->blocks.push_back(std::move(block));
    }
    auto names = std::make_shared<model::DatasetNames>();
    for (const auto& [name, placement] : placements_) {
      names->emplace(name, static_cast<model::DatasetId>(snapshot->datasets.size()));
      snapshot->datasets.push_back(std::make_shared<const model::DatasetPlacement>(placement));
    }
    snapshot->readers.resize(snapshot->datasets.size());
    for (const auto& [name, readers] : readers_) {
      snapshot->readers[names->at(name)] = std::make_shared<const model::DatasetReaders>(readers);
    }
    snapshot->dataset_names = std::move(names);
    snapshot->places = std::make_shared<const std::vector<model::Place>>(places_);
    for (const auto& [id, image] : images_) {
      auto& shard = snapshot->images.shards[id % snapshot->images.shards.size()];
      auto next =
          shard ? std::make_shared<model::ImageIndex::Shard>(*shard) : std::make_shared<model::ImageIndex::Shard>();
      next->emplace(id, std::make_shared<const model::ImagePlacement>(image));
      shard = std::move(next);
    }
    snapshot->budgets = std::make_shared<const model::BudgetList>(budgets_);
    snapshot->failures = std::make_shared<const model::FailureMap>(failures_);
    snapshot->ledger = std::make_shared<const model::LedgerMap>(ledger_);
    for (const auto& [name, members] : members_) {
      auto& shard = snapshot->gangs.shards[model::GangIndex::shard_of(name)];
      auto next =
          shard ? std::make_shared<model::GangIndex::Shard>(*shard) : std::make_shared<model::GangIndex::Shard>();
      next->emplace(name, std::make_shared<const model::GangPlacement>(gang(name, members)));
      shard = std::move(next);
    }
    snapshot->policies = std::make_shared<const model::PolicyMap>(policies_);
    snapshot->packing = model::view_packing(*snapshot, model::MixTable(mix_));
    return snapshot;
  }

 private:
  // Expected where they have a soft entry, else certain.
  model::GangPlacement gang(const std::string& name,
                            const std::vector<std::pair<std::string, model::Slot>>& members) const {
    std::map<model::Slot, model::GangPlacement::Standing> nodes;
    for (const auto& [uid, slot] : members) {
      const auto entry = ledger_.find(uid);
      const bool soft = entry != ledger_.end() && entry->second.kind == model::EntryKind::kSoft;
      nodes[slot].slot = slot;
      ++(soft ? nodes[slot].expected : nodes[slot].certain);
    }
    model::GangPlacement placement;
    const auto size = gang_sizes_.find(name);
    if (size != gang_sizes_.end()) placement.size = size->second;
    for (const auto& [slot, standing] : nodes) placement.nodes.push_back(standing);
    return placement;
  }
  [[nodiscard]] model::Slot slot() const { return static_cast<model::Slot>(names_.size() - 1); }
  SnapshotBuilder& holder(const std::string& ns, const std::string& dataset, model::DatasetPlacement::Holder holder) {
    model::DatasetPlacement& placement = placements_[ns + "/" + dataset];
    placement.ref = {ns, dataset};
    placement.holders.push_back(holder);
    return *this;
  }

  std::vector<std::string> names_;
  std::vector<model::NodeState> states_;
  std::vector<model::Place> places_ = {{}};
  std::map<std::pair<std::uint32_t, int>, model::PlaceId> place_ids_ = {{{0, -1}, 0}};
  model::StringMap<model::DatasetPlacement> placements_;
  model::StringMap<model::DatasetReaders> readers_;
  std::map<std::uint64_t, model::ImagePlacement> images_;
  model::LedgerMap ledger_;
  model::BudgetList budgets_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> level_values_;
  std::map<std::string, std::vector<std::pair<std::string, model::Slot>>> members_;  // UID and place, by gang
  std::map<std::string, std::int32_t> gang_sizes_;
  model::PolicyMap policies_;
  model::FailureMap failures_;
  model::RequestMix mix_ = model::default_mix();
};

// A pod of team/train that asks for `gpus`, with the given annotations of ours (keys without prefix).
inline model::PodRequest request(std::int64_t gpus, std::vector<std::pair<std::string, std::string>> keys = {},
                                 const model::PodDefaults& defaults = {}) {
  model::Pod pod;
  pod.ns = "team";
  pod.name = "train";
  pod.uid = "uid-train";
  pod.gpus = gpus;
  for (auto& [key, value] : keys) pod.annotations.push_back({"berth.io/" + key, value});
  return model::make_request(pod, defaults);
}

}  // namespace berth::tests
