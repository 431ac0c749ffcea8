// What else tells of a dataset than its object: runtimes, loads, pods, labels and measurements.
#include <algorithm>
#include <utility>

#include "dataset_table.h"
#include "measurement.h"

namespace berth::state {

using model::CacheRole;
using model::CacheRuntime;
using model::DatasetId;
using model::DatasetRef;
using model::kNoDataset;

void DatasetTable::set(CacheRuntime runtime) {
  const DatasetId id = make(runtime.dataset);
  auto& runtimes = entries_[id]->runtimes;
  const auto found = std::ranges::find(runtimes, runtime.type, &CacheRuntime::type);
  if (found == runtimes.end()) {
    runtimes.push_back(std::move(runtime));
  } else {
    if (*found == runtime) return;
    *found = std::move(runtime);
  }
  dirty(id);
}

void DatasetTable::remove(const DatasetRef& ref, std::string_view type) {
  const DatasetId id = find(ref);
  if (id == kNoDataset) return;
  if (std::erase_if(entries_[id]->runtimes, [&](const CacheRuntime& one) { return one.type == type; }) == 0) return;
  dirty(id);
  free_if_over(id);
}

void DatasetTable::replace(std::string_view type, std::vector<CacheRuntime> all) {
  model::StringMap<bool> listed;
  for (const CacheRuntime& runtime : all) listed.emplace(runtime.dataset.to_string(), true);
  std::vector<DatasetRef> gone;
  for (const auto& entry : entries_) {
    if (entry && !entry->runtimes.empty() && !listed.contains(entry->ref.to_string())) gone.push_back(entry->ref);
  }
  for (const DatasetRef& ref : gone) remove(ref, type);
  for (CacheRuntime& runtime : all) {
    if (runtime.type == type) set(std::move(runtime));
  }
}

void DatasetTable::count_load(const model::DataLoad& load, int sign) {
  if (!load.running) return;
  const DatasetId id = make(load.dataset);
  entries_[id]->loads += sign;
  dirty(id);
  free_if_over(id);
}

void DatasetTable::set(model::DataLoad load) {
  model::DataLoad& kept = loads_[load.ns + "/" + load.name];
  if (kept == load) return;
  const model::DataLoad before = std::exchange(kept, std::move(load));
  count_load(kept, +1);
  count_load(before, -1);
}

void DatasetTable::remove_load(const std::string& ns, const std::string& name) {
  const auto found = loads_.find(ns + "/" + name);
  if (found == loads_.end()) return;
  count_load(found->second, -1);
  loads_.erase(found);
}

void DatasetTable::replace(std::vector<model::DataLoad> all) {
  model::StringMap<bool> listed;
  for (const model::DataLoad& load : all) listed.emplace(load.ns + "/" + load.name, true);
  std::erase_if(loads_, [&](const auto& known) {
    if (listed.contains(known.first)) return false;
    count_load(known.second, -1);
    return true;
  });
  for (model::DataLoad& load : all) set(std::move(load));
}

void DatasetTable::measure(const model::Measured& measured) {
  const DatasetId id = find(measured.dataset);
  if (id == kNoDataset || !entries_[id]->object) return;
  DatasetEntry& entry = *entries_[id];
  if (entry.measured_at && measured.at < *entry.measured_at) return;
  entry.measured_at = measured.at;
  std::vector<CacheMember*> workers;
  std::ranges::copy_if(entry.members, std::back_inserter(workers),
                       [](const CacheMember* member) { return member->pod.role == CacheRole::kWorker; });
  match(measured, workers);
  dirty(id);
}

void DatasetTable::put_pod(std::unique_ptr<CacheMember>& member, const model::Pod& pod, NodeRecord& node,
                           bool from_the_start) {
  const model::CachePod& told = *pod.cache;
  const DatasetRef ref{pod.ns, told.dataset};
  const bool same_part =
      member && entries_[member->dataset]->ref == ref && member->node == &node && member->pod.role == told.role;
  if (same_part && member->pod == told) return;
  if (!same_part) {
    drop_pod(member);
    member = std::make_unique<CacheMember>();
    member->dataset = make(ref);
    member->name = pod.name;
    member->node = &node;
    member->from_the_start = from_the_start;
    entries_[member->dataset]->members.push_back(member.get());
    ++node.use(member->dataset).cache_pods;
  }
  member->pod = told;
  member->changed = now_;
  if (told.ready && member->ready_step == 0) member->ready_step = step_;
  if (told.role == CacheRole::kWorker) entries_[member->dataset]->unattended.erase(node.slot);
  dirty(member->dataset);
}

NodeRecord* DatasetTable::drop_pod(std::unique_ptr<CacheMember>& member) {
  if (!member) return nullptr;
  const std::unique_ptr<CacheMember> old = std::move(member);
  --old->node->use(old->dataset).cache_pods;
  old->node->tidy(old->dataset);
  auto& members = entries_[old->dataset]->members;
  *std::ranges::find(members, old.get()) = members.back();
  members.pop_back();
  dirty(old->dataset);
  free_if_over(old->dataset);
  return old->node;
}

void DatasetTable::node_changes(const NodeRecord& node) {
  for (const DataUse& use : node.data) {
    if (use.cache_pods == 0) continue;
    DatasetEntry& entry = *entries_[use.dataset];
    if (std::ranges::any_of(entry.members, [&](const CacheMember* member) {
          return member->node == &node && member->pod.role == CacheRole::kWorker;
        })) {
      entry.unattended.erase(node.slot);
    }
    dirty(use.dataset);
  }
}

void DatasetTable::labels_change(model::Slot slot, std::span<const std::string> labels) {
  for (const std::string& label : labels) {
    if (!served_) sync_label(label);
    const auto found = by_key_.find(label);
    if (found == by_key_.end()) continue;
    for (const DatasetId id : found->second) {
      DatasetEntry& entry = *entries_[id];
      if (!entry.has_worker_label(labels_, slot)) entry.unattended.erase(slot);
      dirty(id);
    }
  }
}

}  // namespace berth::state
