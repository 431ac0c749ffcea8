#include "gang_table.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace berth::state {

using Placement = model::GangPlacement;

GangTable::Member& GangTable::join(const std::string& uid, const model::GangRef& gang) {
  const auto known = members_.find(uid);
  if (known != members_.end() && known->second.gang->name == gang.name) return known->second;
  Gang& joined = gangs_[gang.name];
  joined.name = gang.name;
  Member made{.gang = &joined, .told = gang.members};
  count(made, +1);
  if (known != members_.end()) {
    stand(made, known->second.node, known->second.soft);
    leave(known);
  }
  touch(joined);
  return members_[uid] = made;
}

void GangTable::leave(Members::iterator member) {
  Gang& left = *member->second.gang;
  touch(left);
  stand(member->second, nullptr, false);
  count(member->second, -1);
  members_.erase(member);
  if (left.pods == 0) gangs_.erase(gangs_.find(left.name));
}

void GangTable::count(const Member& member, std::int32_t sign) {
  Gang& gang = *member.gang;
  gang.pods += sign;
  if (member.succeeded) gang.succeeded += sign;
  const auto told = gang.told.try_emplace(member.told).first;
  told->second += sign;
  if (told->second == 0) gang.told.erase(told);
  if (member.node == nullptr || member.succeeded) return;
  const auto standing = gang.nodes.try_emplace(member.node).first;
  (member.soft ? standing->second.expected : standing->second.certain) += sign;
  if (member.node->slot != model::kNoSlot) gang.changed.push_back(member.node->slot);
  if (standing->second.certain == 0 && standing->second.expected == 0) gang.nodes.erase(standing);
}

bool GangTable::set(const std::string& uid, const model::GangRef& gang, model::PodPhase phase) {
  // What has failed is to be replaced, and counts for nothing.
  if (uid.empty() || gang.name.empty() || phase == model::PodPhase::kFailed) {
    forget(uid);
    return false;
  }
  Member& member = join(uid, gang);
  const bool succeeded = phase == model::PodPhase::kSucceeded;
  member.watched = true;
  if (member.told == gang.members && member.succeeded == succeeded) return true;
  touch(*member.gang);
  count(member, -1);
  member.told = gang.members;
  member.succeeded = succeeded;
  count(member, +1);
  return true;
}

void GangTable::expect(const std::string& uid, const model::GangRef& gang) {
  if (!uid.empty() && !gang.name.empty() && !members_.contains(uid)) join(uid, gang);
}

void GangTable::forget(std::string_view uid) {
  const auto member = members_.find(uid);
  if (member != members_.end()) leave(member);
}

void GangTable::move(std::string_view uid, NodeRecord* node, bool soft) {
  const auto found = members_.find(uid);
  if (found == members_.end()) return;
  Member& member = found->second;
  if (member.node != node || member.soft != soft) {
    stand(member, node, soft);
    touch(*member.gang);
  }
  if (node == nullptr && !member.watched) leave(found);
}

void GangTable::stand(Member& member, NodeRecord* node, bool soft) {
  count(member, -1);
  if (node != nullptr) ++node->refers;
  NodeRecord* const left = std::exchange(member.node, node);
  member.soft = soft;
  count(member, +1);
  if (left == nullptr) return;
  --left->refers;
  nodes_.release(*left);
}

void GangTable::touch(Gang& gang) {
  if (!std::exchange(gang.touched, true)) touched_.push_back(gang.name);
}

std::vector<Placement::Standing> GangTable::all_nodes(const Gang& gang) {
  std::vector<Placement::Standing> nodes;
  nodes.reserve(gang.nodes.size());
  for (const auto& [node, standing] : gang.nodes) {
    if (node->slot != model::kNoSlot) nodes.push_back({node->slot, standing.certain, standing.expected});
  }
  std::ranges::sort(nodes, {}, &Placement::Standing::slot);
  return nodes;
}

void GangTable::correct(std::vector<Placement::Standing>& nodes, const Gang& gang) const {
  for (const model::Slot slot : gang.changed) {
    const auto at = std::ranges::lower_bound(nodes, slot, {}, &Placement::Standing::slot);
    const bool there = at != nodes.end() && at->slot == slot;
    const auto standing = gang.nodes.find(nodes_.by_slot()[slot]);
    if (standing == gang.nodes.end()) {
      if (there) nodes.erase(at);
      continue;
    }
    const Placement::Standing now{slot, standing->second.certain, standing->second.expected};
    if (there) {
      *at = now;
    } else {
      nodes.insert(at, now);
    }
  }
}

void GangTable::write(model::Snapshot& snapshot) {
  using Shard = model::GangIndex::Shard;
  const bool anew = std::exchange(slots_changed_, false);
  if (anew) {
    for (auto& [name, gang] : gangs_) touch(gang);
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
    Gang& gang = found->second;
    Placement next{std::max(gang.told.rbegin()->first, gang.pods) - gang.succeeded, {}};
    if (before != nullptr && gang.published && !anew) {
      next.nodes = before->nodes;
      correct(next.nodes, gang);
    } else {
      next.nodes = all_nodes(gang);
    }
    gang.changed.clear();
    gang.published = true;
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
