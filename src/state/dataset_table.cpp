#include "dataset_table.h"

#include <algorithm>
#include <utility>

namespace berth::state {

using model::DatasetId;
using model::DatasetRef;
using model::kNoDataset;

namespace {

constexpr std::string_view kWorkerLabels = "fluid.io/s-";

void remove_from(model::StringMap<std::vector<DatasetId>>& lists, std::string_view key, DatasetId id) {
  const auto found = lists.find(key);
  if (found == lists.end()) return;
  std::erase(found->second, id);
  if (found->second.empty()) lists.erase(found);
}

void forget_measurement(DatasetEntry& entry) {
  entry.measured_at.reset();
  for (CacheMember* const member : entry.members) member->bytes.reset();
}

}  // namespace

DatasetId DatasetTable::find(const DatasetRef& ref) const {
  const auto found = by_ref_.find(ref.to_string());
  return found == by_ref_.end() ? kNoDataset : found->second;
}

DatasetId DatasetTable::make(const DatasetRef& ref) {
  const auto [found, added] = by_ref_.try_emplace(ref.to_string(), kNoDataset);
  if (added) {
    found->second = take_id();
    entries_[found->second]->ref = ref;
  }
  return found->second;
}

DatasetId DatasetTable::take_id() {
  if (free_ids_.empty()) {
    entries_.push_back(nullptr);
    is_dirty_.push_back(false);
    published_.push_back(nullptr);
    free_ids_.push_back(static_cast<DatasetId>(entries_.size() - 1));
  }
  const DatasetId id = free_ids_.back();
  free_ids_.pop_back();
  entries_[id] = std::make_unique<DatasetEntry>();
  return id;
}

void DatasetTable::free_id(DatasetId id) {
  dirty(id);
  entries_[id] = nullptr;
  free_ids_.push_back(id);
}

void DatasetTable::free_if_over(DatasetId id) {
  if (!entries_[id]->over()) return;
  by_ref_.erase(entries_[id]->ref.to_string());
  free_id(id);
}

void DatasetTable::dirty(DatasetId id) {
  if (is_dirty_[id]) return;
  is_dirty_[id] = true;
  dirty_.push_back(id);
}

void DatasetTable::set(model::Dataset object) {
  const DatasetId known = find(object.ref);
  if (known != kNoDataset && entries_[known]->object && entries_[known]->object->uid != object.uid) {
    remove(object.ref);  // deleted and made anew, and we missed the deletion
  }
  const DatasetId id = make(object.ref);
  DatasetEntry& entry = *entries_[id];
  if (entry.object == object) return;
  const std::optional<model::Dataset> before = std::exchange(entry.object, std::move(object));
  entry.object_changed = now_;
  if (!before || before->cached != entry.object->cached) entry.cached_step = step_;
  // The master that was asked belonged to another cache.
  if (before && before->runtime != entry.object->runtime) forget_measurement(entry);
  if (before) unrefer(id, before->physical);
  refer(id, entry.object->physical);
  set_keys(id);
  dirty(id);
  rename_with_references(id);
}

void DatasetTable::remove(const DatasetRef& ref) {
  const DatasetId id = find(ref);
  if (id == kNoDataset || !entries_[id]->object) return;
  DatasetEntry& entry = *entries_[id];
  drop_keys(id);
  unrefer(id, entry.object->physical);
  entry.object.reset();
  forget_measurement(entry);
  entry.unattended.clear();
  dirty(id);
  rename_with_references(id);
  free_if_over(id);
}

void DatasetTable::replace(std::vector<model::Dataset> all) {
  model::StringMap<bool> listed;
  for (const model::Dataset& object : all) listed.emplace(object.ref.to_string(), true);
  std::vector<DatasetRef> gone;
  for (const auto& entry : entries_) {
    if (entry && entry->object && !listed.contains(entry->ref.to_string())) gone.push_back(entry->ref);
  }
  for (const DatasetRef& ref : gone) remove(ref);
  for (model::Dataset& object : all) set(std::move(object));
}

void DatasetTable::set_keys(DatasetId id) {
  DatasetEntry& entry = *entries_[id];
  const model::Dataset& object = *entry.object;
  std::string worker = model::worker_label(entry.ref, object.uid);
  std::string runtime =
      object.runtime.empty() ? std::string() : model::runtime_label(entry.ref, object.uid, object.runtime);
  std::string fuse = model::fuse_label(entry.ref, object.uid);
  if (worker == entry.worker_key && runtime == entry.runtime_key && fuse == entry.fuse_key) return;
  drop_keys(id);
  entry.worker_key = std::move(worker);
  entry.runtime_key = std::move(runtime);
  entry.fuse_key = std::move(fuse);
  for (const std::string* const key : {&entry.worker_key, &entry.runtime_key, &entry.fuse_key}) {
    if (!key->empty()) by_key_[*key].push_back(id);
  }
  std::erase_if(entry.unattended, [&](const auto& one) { return !entry.has_worker_label(labels_, one.first); });
}

void DatasetTable::drop_keys(DatasetId id) {
  DatasetEntry& entry = *entries_[id];
  for (std::string* const key : {&entry.worker_key, &entry.runtime_key, &entry.fuse_key}) {
    remove_from(by_key_, *key, id);
    key->clear();
  }
}

void DatasetTable::refer(DatasetId id, const DatasetRef& physical) {
  if (!physical.name.empty()) referring_[physical.to_string()].push_back(id);
}

void DatasetTable::unrefer(DatasetId id, const DatasetRef& physical) {
  if (!physical.name.empty()) remove_from(referring_, physical.to_string(), id);
}

DatasetId DatasetTable::meaning(DatasetId id) const {
  const DatasetEntry& entry = *entries_[id];
  if (!served_ || !entry.object) return kNoDataset;
  if (!entry.is_reference()) return id;
  const DatasetId physical = find(entry.object->physical);
  const bool exists = physical != kNoDataset && entries_[physical]->object && !entries_[physical]->is_reference();
  return exists ? physical : id;
}

void DatasetTable::rename(DatasetId id) {
  const DatasetRef& ref = entries_[id]->ref;
  set_name(ref.to_string(), model::worker_label(ref, {}), meaning(id));
  dirty(id);
}

void DatasetTable::rename_with_references(DatasetId id) {
  rename(id);
  const auto found = referring_.find(entries_[id]->ref.to_string());
  if (found == referring_.end()) return;
  for (const DatasetId other : found->second) {
    if (other != id) rename(other);
  }
}

void DatasetTable::set_name(const std::string& name, std::string_view watched, DatasetId meaning) {
  const auto found = names_.find(name);
  if ((found == names_.end() ? kNoDataset : found->second) == meaning) return;
  if (meaning == kNoDataset) {
    names_.erase(found);
  } else {
    names_.insert_or_assign(name, meaning);
  }
  names_changed_ = true;
  renamed_.emplace_back(watched);
}

void DatasetTable::serve(bool served) {
  if (served == served_) return;
  served_ = served;
  // What one kind of name told is forgotten before the other kind comes.
  for (DatasetId id = 0; id < entries_.size(); ++id) {
    if (entries_[id] && entries_[id]->label.empty()) {
      entries_[id]->unattended.clear();
      rename(id);
    }
  }
  std::vector<std::string> names;
  for (const auto& [label, nodes] : labels_.all()) names.push_back(label);
  for (const auto& [label, id] : by_label_) names.push_back(label);
  for (const std::string& label : names) sync_label(label);
}

void DatasetTable::sync_label(const std::string& label) {
  if (!label.starts_with(kWorkerLabels)) return;
  const bool tells = !served_ && !labels_.nodes(label).empty();
  const auto found = by_label_.find(label);
  if (tells) {
    const DatasetId id = found != by_label_.end() ? found->second : take_id();
    if (found == by_label_.end()) by_label_.emplace(label, id);
    entries_[id]->label = label;
    dirty(id);
    set_name(label, label, id);
  } else if (found != by_label_.end()) {
    free_id(found->second);
    by_label_.erase(found);
    set_name(label, label, kNoDataset);
  }
}

void DatasetTable::expire(core::SteadyTime now) {
  for (; !deadlines_.empty() && deadlines_.front().at <= now; deadlines_.pop_front()) {
    const DatasetId id = deadlines_.front().dataset;
    if (entries_[id] && !entries_[id]->unattended.empty()) dirty(id);
  }
}

std::optional<core::SteadyTime> DatasetTable::next_expiry() const {
  return deadlines_.empty() ? std::nullopt : std::optional(deadlines_.front().at);
}

std::shared_ptr<const model::DatasetPlacement> DatasetTable::place(DatasetId id, const Moment& now) {
  if (!entries_[id]) return nullptr;
  DatasetEntry& entry = *entries_[id];
  if (!entry.label.empty()) {
    return std::make_shared<const model::DatasetPlacement>(placement_of_label(labels_.nodes(entry.label)));
  }
  if (!served_ || !entry.object) return nullptr;
  for (const model::Slot slot : entry.without_worker(labels_)) {
    if (entry.unattended.contains(slot)) continue;
    deadlines_.push_back({now.steady + options_.label_grace, id});
    entry.unattended.emplace(slot, now);
  }
  if (meaning(id) != id) return nullptr;
  return std::make_shared<const model::DatasetPlacement>(placement_of(entry, labels_, options_, now.steady));
}

void DatasetTable::write(model::Snapshot& snapshot, const Moment& now) {
  for (const DatasetId id : dirty_) {
    if (!is_dirty_[id]) continue;  // done before memory ran out
    auto next = place(id, now);
    auto& last = published_[id];
    if (!(next && last && *next == *last)) last = std::move(next);
    is_dirty_[id] = false;
  }
  dirty_.clear();
  if (names_changed_) {
    published_names_ = std::make_shared<const model::DatasetNames>(names_);
    names_changed_ = false;
  }
  snapshot.dataset_names = published_names_;
  snapshot.datasets = published_;
}

}  // namespace berth::state
