#include "berth/control/bind_book.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace berth::control {
namespace {

constexpr std::chrono::seconds kDoubt{30};
// A snapshot that was begun before a push can be published after it; the next one but one can't.
constexpr std::uint64_t kSureAfter = 2;

const model::Occupant* occupant(const model::Snapshot& snapshot, model::Slot slot, const std::string& uid) {
  if (slot == model::kNoSlot) return nullptr;
  const auto& occupants = snapshot.at(slot).occupants;
  if (!occupants) return nullptr;
  const auto found = std::ranges::find(*occupants, uid, &model::Occupant::uid);
  return found == occupants->end() ? nullptr : &*found;
}

// The pod's entry on this node, if it is a firm one.
const model::LedgerEntry* firm_entry(const model::Snapshot& snapshot, model::Slot slot, const std::string& uid) {
  const model::LedgerEntry* const entry = snapshot.entry(uid);
  const bool here = entry != nullptr && entry->kind == model::EntryKind::kFirm && entry->slot == slot;
  return here ? entry : nullptr;
}

std::int32_t clamped(std::int64_t gpus) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(gpus, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

// Also where the snapshot shows it as a firm entry it is kept, since such an entry may end before the pod is bound.
bool BindBook::over(const Entry& entry, const model::Snapshot& snapshot, model::Slot slot) const {
  if (entry.asking > 0) return false;
  if (occupant(snapshot, slot, entry.uid) != nullptr) return true;
  if (entry.bound) {
    return snapshot.version >= entry.version + kSureAfter && firm_entry(snapshot, slot, entry.uid) == nullptr;
  }
  return clock_.now() >= entry.doubtful_until;
}

void BindBook::drop_over(Entries& entries, const model::Snapshot& snapshot, model::Slot slot) {
  std::erase_if(entries, [&](const Entry& entry) {
    if (!over(entry, snapshot, slot)) return false;
    // A later Bind may have taken the pod to another node.
    if (!entry.bound && firm_entry(snapshot, slot, entry.uid) != nullptr) next_.push(model::Unreserved{entry.uid});
    return true;
  });
}

policy::BindVerdict BindBook::give(const model::PodRequest& pod, const std::string& node) {
  Shard& shard = shard_of(node);
  const std::lock_guard lock(shard.mutex);
  const auto snapshot = snapshots_.load();
  const model::Slot slot = snapshot->find(node);
  const auto found = shard.nodes.find(node);
  std::vector<policy::Promise> others;
  if (found != shard.nodes.end()) {
    drop_over(found->second, *snapshot, slot);
    for (Entry& entry : found->second) {
      if (entry.uid == pod.uid) {
        ++entry.asking;
        return {model::Reason::kNone, entry.promise.placement};
      }
      if (occupant(*snapshot, slot, entry.uid) != nullptr) continue;
      const model::LedgerEntry* const shown = firm_entry(*snapshot, slot, entry.uid);
      if (shown != nullptr && shown->placement == entry.promise.placement) continue;
      others.push_back(entry.promise);
      // By its nomination: counted, but not said which.
      if (shown != nullptr) others.back().counted = shown->gpus;
    }
    if (found->second.empty()) shard.nodes.erase(found);
  }
  if (const model::Occupant* const there = occupant(*snapshot, slot, pod.uid)) {
    return {model::Reason::kNone, there->placement};
  }
  policy::BindVerdict verdict = policy::check_node({*snapshot, pod, slot, clock_.wall()}, others, settings_);
  if (verdict.reason != model::Reason::kNone || (pod.gpus <= 0 && !pod.parts.any())) return verdict;
  const policy::Promise promise{clamped(pod.gpus), pod.parts, verdict.placement};
  shard.nodes[node].push_back({.uid = pod.uid, .promise = promise, .asking = 1});
  // Nothing is held against a pod of higher priority but this: its pod is as good as bound.
  next_.push(model::Reserved{pod.uid, node, promise.gpus, promise.parts, promise.placement,
                             std::numeric_limits<std::int32_t>::max(), pod.gang});
  return verdict;
}

template <class Change>
void BindBook::settle(const std::string& uid, const std::string& node, const Change& change) {
  Shard& shard = shard_of(node);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.nodes.find(node);
  if (found == shard.nodes.end()) return;
  const auto entry = std::ranges::find(found->second, uid, &Entry::uid);
  if (entry == found->second.end()) return;
  --entry->asking;
  change(*entry);
  // Another call for the same pod may know better.
  if (entry->asking > 0 || entry->bound || entry->doubtful_until != core::SteadyTime{}) return;
  found->second.erase(entry);
  if (found->second.empty()) shard.nodes.erase(found);
  next_.push(model::Unreserved{uid});
}

void BindBook::bound(const std::string& uid, const std::string& node) {
  settle(uid, node, [this](Entry& entry) {
    entry.bound = true;
    entry.version = snapshots_.load()->version;
  });
}

void BindBook::failed(const std::string& uid, const std::string& node) {
  settle(uid, node, [](Entry&) {});
}

void BindBook::unanswered(const std::string& uid, const std::string& node) {
  settle(uid, node, [this](Entry& entry) { entry.doubtful_until = clock_.now() + kDoubt; });
}

void BindBook::sweep() {
  const auto snapshot = snapshots_.load();
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (auto each = shard.nodes.begin(); each != shard.nodes.end();) {
      drop_over(each->second, *snapshot, snapshot->find(each->first));
      each = each->second.empty() ? shard.nodes.erase(each) : std::next(each);
    }
  }
}

std::size_t BindBook::size() const {
  std::size_t size = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [node, entries] : shard.nodes) size += entries.size();
  }
  return size;
}

}  // namespace berth::control
