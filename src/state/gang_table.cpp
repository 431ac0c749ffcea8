#include "gang_table.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace berth::state {

using Placement = model::GangPlacement;

GangTable::Member& GangTable::join(const std::string& uid, const model::GangRef& gang) {
  const auto known = members_.find(uid);
  if (known != members_.end() && known->second.gang->name == gang.name) return known->second;
  NodeRecord* const node = known == members_.end() ? nullptr : known->second.node;
  Gang& joined = gangs_[gang.name];
  joined.name = gang.name;
  Member made{uid, &joined, nullptr, gang.members};
  if (node != nullptr) stand(made, node);
  if (known != members_.end()) leave(known);
  Member& member = members_[uid] = std::move(made);
  joined.members.push_back(&member);
  touch(joined);
  return member;
}

void GangTable::leave(Members::iterator member) {
  Gang& left = *member->second.gang;
  touch(left);
  std::erase(left.members, &member->second);
  stand(member->second, nullptr);
  members_.erase(member);
  if (left.members.empty()) gangs_.erase(gangs_.find(left.name));
}

bool GangTable::set(const std::string& uid, const model::GangRef& gang, model::PodPhase phase) {
  // What has failed is to be replaced, and counts for nothing.
  if (uid.empty() || gang.name.empty() || phase == model::PodPhase::kFailed) {
    forget(uid);
    return false;
  }
  Member& member = join(uid, gang);
  const bool succeeded = phase == model::PodPhase::kSucceeded;
  if (member.told != gang.members || member.succeeded != succeeded) touch(*member.gang);
  member.told = gang.members;
  member.succeeded = succeeded;
  member.watched = true;
  return true;
}

void GangTable::expect(const std::string& uid, const model::GangRef& gang) {
  if (!uid.empty() && !gang.name.empty() && !members_.contains(uid)) join(uid, gang);
}

void GangTable::forget(std::string_view uid) {
  const auto member = members_.find(uid);
  if (member != members_.end()) leave(member);
}

void GangTable::move(std::string_view uid, NodeRecord* node) {
  const auto found = members_.find(uid);
  if (found == members_.end()) return;
  Member& member = found->second;
  if (member.node != node) {
    stand(member, node);
    touch(*member.gang);
  }
  if (node == nullptr && !member.watched) leave(found);
}

void GangTable::stand(Member& member, NodeRecord* node) {
  if (node != nullptr) ++node->refers;
  if (NodeRecord* const left = std::exchange(member.node, node)) {
    --left->refers;
    nodes_.release(*left);
  }
}

void GangTable::touch(Gang& gang) {
  if (!std::exchange(gang.touched, true)) touched_.push_back(gang.name);
}

Placement GangTable::placement_of(const Gang& gang) {
  Placement placement;
  std::int32_t known = 0;
  std::int32_t succeeded = 0;
  std::int32_t told = 0;
  for (const Member* const member : gang.members) {
    told = std::max(told, member->told);
    ++(member->succeeded ? succeeded : known);
    const bool placed = member->node != nullptr && member->node->slot != model::kNoSlot && !member->succeeded;
    if (placed) placement.members.push_back({member->uid, member->node->slot});
  }
  placement.size = std::max(told - succeeded, known);
  std::ranges::sort(placement.members, {}, &Placement::Member::uid);
  return placement;
}

void GangTable::write(model::Snapshot& snapshot) {
  using Shard = model::GangIndex::Shard;
  if (slots_changed_) {
    for (auto& [name, gang] : gangs_) touch(gang);
    slots_changed_ = false;
  }
  // Each shard is copied once, however many of its gangs have changed.
  std::unordered_map<std::size_t, std::shared_ptr<Shard>> open;
  const auto shard_of = [&](std::string_view name) -> Shard& {
    const std::size_t at = model::GangIndex::shard_of(name);
    auto& copy = open[at];
    const auto& shard = published_.shards[at];
    if (!copy) copy = shard ? std::make_shared<Shard>(*shard) : std::make_shared<Shard>();
    return *copy;
  };
  for (const std::string& name : touched_) {
    const auto found = gangs_.find(name);
    const Placement* const before = published_.find(name);
    if (found == gangs_.end()) {
      if (before != nullptr) shard_of(name).erase(name);
      continue;
    }
    Placement next = placement_of(found->second);
    if (before != nullptr && *before == next) continue;
    shard_of(name).insert_or_assign(name, std::make_shared<const Placement>(std::move(next)));
  }
  for (const std::string& name : touched_) {
    const auto found = gangs_.find(name);
    if (found != gangs_.end()) found->second.touched = false;
  }
  touched_.clear();
  for (auto& [at, shard] : open) published_.shards[at] = shard->empty() ? nullptr : std::move(shard);
  snapshot.gangs = published_;
}

}  // namespace berth::state
