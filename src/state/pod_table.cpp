#include "pod_table.h"

namespace berth::state {

namespace {

std::string key_of(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + 1 + name.size());
  key.append(ns).append("/").append(name);
  return key;
}

}  // namespace

PodRecord* PodTable::find(std::string_view ns, std::string_view name) {
  const auto found = pods_.find(key_of(ns, name));
  return found == pods_.end() ? nullptr : &found->second;
}

PodRecord* PodTable::find_uid(std::string_view uid) {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? nullptr : found->second;
}

PodRecord& PodTable::add(std::string_view ns, std::string_view name, std::string_view uid) {
  PodRecord& record = pods_[key_of(ns, name)];
  record.uid = uid;
  // The first pod keeps a UID that a second one claims too: it is the one whose string is the key.
  if (!record.uid.empty()) by_uid_.try_emplace(record.uid, &record);
  return record;
}

void PodTable::remove(std::string_view ns, std::string_view name) {
  const auto found = pods_.find(key_of(ns, name));
  if (found == pods_.end()) return;
  unlink(found->second);
  pods_.erase(found);
}

void PodTable::set_bound(PodRecord& record, bool bound) {
  if (record.bound == bound) return;
  record.bound = bound;
  bound_ = bound ? bound_ + 1 : bound_ - 1;
}

void PodTable::unlink(const PodRecord& record) {
  if (record.bound) --bound_;
  const auto found = by_uid_.find(record.uid);
  if (found != by_uid_.end() && found->second == &record) by_uid_.erase(found);
}

}  // namespace berth::state
