#include "node_table.h"

#include <algorithm>
#include <utility>

namespace berth::state {

using model::kNoSlot;
using model::NodeBlock;
using model::NodeState;
using model::Slot;

namespace {

constexpr Slot kBlockSlots = std::tuple_size_v<NodeBlock>;

NodeState state_of(NodeRecord& record) {
  NodeState state;
  state.node = record.node;
  state.machine = record.machine;
  state.firm = gpu_count(record.firm);
  state.soft = gpu_count(record.soft);
  state.spare = record.node->allocatable.basic - record.requested;
  state.firm_requests = record.firm_requests;
  state.soft_requests = record.soft_requests;
  state.scalars_requested = record.scalars_requested;
  state.place = record.place;
  state.failures = record.failures;
  record.account.settle();
  record.account.write(state);
  return state;
}

}  // namespace

void NodeRecord::count_pod(const model::Resources& requests, int sign) {
  model::count_pod(requested, requests.basic, sign);
  if (requests.scalars.empty()) return;
  // Snapshots share the last one.
  model::ScalarResources scalars = scalars_requested ? *scalars_requested : model::ScalarResources();
  model::count_scalars(scalars, requests.scalars, sign);
  scalars_requested = scalars.empty() ? nullptr : std::make_shared<const model::ScalarResources>(std::move(scalars));
}

DataUse& NodeRecord::use(model::DatasetId dataset) {
  const auto found = std::ranges::find(data, dataset, &DataUse::dataset);
  return found != data.end() ? *found : data.emplace_back(DataUse{dataset});
}

void NodeRecord::tidy(model::DatasetId dataset) {
  const auto found = std::ranges::find(data, dataset, &DataUse::dataset);
  if (found == data.end() || !found->empty()) return;
  *found = data.back();
  data.pop_back();
}

NodeRecord& NodeTable::at(std::string_view name) {
  if (NodeRecord* const known = find(name)) return *known;
  NodeRecord& record = records_[std::string(name)];
  record.name = name;
  return record;
}

NodeRecord* NodeTable::find(std::string_view name) {
  const auto found = records_.find(name);
  return found == records_.end() ? nullptr : &found->second;
}

void NodeTable::release(NodeRecord& record) {
  const bool in_use = record.slot != kNoSlot || !record.told.empty() || !record.account.empty() ||
                      !record.data.empty() || record.requested.pods > 0 ||
                      record.firm_entries + record.soft_entries + record.refers > 0;
  if (in_use) return;
  records_.erase(records_.find(record.name));
}

void NodeTable::set(NodeRecord& record, std::shared_ptr<const model::Node> node) {
  if (record.slot == kNoSlot) {
    if (free_slots_.empty()) {
      record.slot = static_cast<Slot>(by_slot_.size());
      by_slot_.push_back(nullptr);
      is_touched_.push_back(false);
    } else {
      record.slot = free_slots_.back();
      free_slots_.pop_back();
    }
    by_slot_[record.slot] = &record;
    index_changed_ = true;
  }
  const bool same_machine = record.node != nullptr && same_gpus(*record.node, *node);
  const bool same_place = record.node != nullptr && record.node->rack == node->rack &&
                          record.node->zone == node->zone && record.node->levels == node->levels;
  if (!same_place) {
    const model::PlaceId place = places_.enter(*node);
    if (record.node != nullptr) places_.leave(record.place);
    record.place = place;
  }
  record.node = std::move(node);
  if (same_machine) {
    record.account.set_capacity(record.node, record.shape, record.machine);
  } else {
    join_sources(record);
  }
  touch(record.slot);
}

void NodeTable::join_sources(NodeRecord& record) {
  record.machine = record.told.join(*record.node);
  record.shape = shape_of(*record.node, record.machine.get(), widths_);
  record.account.set_capacity(record.node, record.shape, record.machine);
}

void NodeTable::tell(NodeRecord& record, model::TopologySource source, std::shared_ptr<const model::Machine> machine) {
  if (!record.told.set(source, std::move(machine)) || record.node == nullptr) return;
  join_sources(record);
  touch(record.slot);
}

void NodeTable::tell_all(model::AllMachines& machines) {
  model::StringMap<bool> named;
  for (model::MachineSet& told : machines.machines) {
    if (told.node.empty() || told.machine == nullptr) continue;
    tell(at(told.node), machines.source, std::move(told.machine));
    named[told.node] = true;
  }
  std::vector<NodeRecord*> silent;
  for (auto& [name, record] : records_) {
    if (!named.contains(name) && !record.told.empty()) silent.push_back(&record);
  }
  for (NodeRecord* const record : silent) {
    tell(*record, machines.source, nullptr);
    release(*record);
  }
}

void NodeTable::remove(NodeRecord& record) {
  if (record.slot == kNoSlot) return;
  touch(record.slot);
  by_slot_[record.slot] = nullptr;
  free_slots_.push_back(record.slot);
  record.slot = kNoSlot;
  places_.leave(record.place);
  record.node = nullptr;  // capacity and GPUs handed out stay, in case the node comes back
  index_changed_ = true;
}

void NodeTable::touch(const NodeRecord& record) {
  if (record.slot != kNoSlot) touch(record.slot);
}

void NodeTable::touch(Slot slot) {
  if (is_touched_[slot]) return;
  is_touched_[slot] = true;
  touched_.push_back(slot);
}

void NodeTable::write(model::Snapshot& snapshot) {
  if (index_changed_) {
    std::vector<std::string> names(by_slot_.size());
    for (std::size_t slot = 0; slot < names.size(); ++slot) {
      if (by_slot_[slot] != nullptr) names[slot] = by_slot_[slot]->name;
    }
    blocks_.resize((by_slot_.size() + kBlockSlots - 1) / kBlockSlots);
    index_ = std::make_shared<const model::NodeIndex>(std::move(names));
    index_changed_ = false;
  }

  std::ranges::sort(touched_);
  for (auto next = touched_.begin(); next != touched_.end();) {
    auto& shared = blocks_[*next / kBlockSlots];
    const auto block = shared ? std::make_shared<NodeBlock>(*shared) : std::make_shared<NodeBlock>();
    const Slot end = (*next / kBlockSlots + 1) * kBlockSlots;
    std::int64_t gpus = gpus_;
    std::int64_t gpus_used = gpus_used_;
    for (; next != touched_.end() && *next < end; ++next) {
      NodeState& state = (*block)[*next % kBlockSlots];
      gpus -= state.gpus;
      gpus_used -= state.used;
      NodeRecord* const record = by_slot_[*next];
      state = record != nullptr ? state_of(*record) : NodeState{};
      changes_ += changes_ + 1 == 0 ? 2 : 1;
      state.stamp = changes_;
      gpus += state.gpus;
      gpus_used += state.used;
      is_touched_[*next] = false;
    }
    shared = block;
    gpus_ = gpus;
    gpus_used_ = gpus_used;
  }
  touched_.clear();

  places_.write(snapshot);
  snapshot.index = index_;
  snapshot.blocks = blocks_;
  snapshot.gpus = gpus_;
  snapshot.gpus_used = gpus_used_;
}

}  // namespace berth::state
