#include "image_table.h"

#include <algorithm>
#include <utility>

namespace berth::state {

using model::ImageIndex;
using model::NodeImage;

void ImageTable::change(model::Slot slot, std::span<const NodeImage> before, std::span<const NodeImage> after) {
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    if (now == after.end() || (old != before.end() && old->id < now->id)) {
      drop(old->id, slot);
      ++old;
    } else if (old == before.end() || now->id < old->id) {
      put(now->id, {slot, now->bytes});
      ++now;
    } else {
      if (old->bytes != now->bytes) put(now->id, {slot, now->bytes});
      ++old;
      ++now;
    }
  }
}

void ImageTable::put(std::uint64_t id, const Held& held) {
  std::vector<Held>& holders = holders_[id];
  const auto at = std::ranges::lower_bound(holders, held.slot, {}, &Held::slot);
  if (at != holders.end() && at->slot == held.slot) {
    at->bytes = held.bytes;
  } else {
    holders.insert(at, held);
  }
  changed_.insert(id);
}

void ImageTable::drop(std::uint64_t id, model::Slot slot) {
  const auto found = holders_.find(id);
  if (found == holders_.end()) return;
  std::erase_if(found->second, [slot](const Held& held) { return held.slot == slot; });
  if (found->second.empty()) holders_.erase(found);
  changed_.insert(id);
}

void ImageTable::write(model::Snapshot& snapshot) {
  std::vector<std::vector<std::uint64_t>> by_shard(changed_.empty() ? 0 : published_.shards.size());
  for (const std::uint64_t id : changed_) by_shard[id % by_shard.size()].push_back(id);
  for (std::size_t shard = 0; shard < by_shard.size(); ++shard) {
    if (by_shard[shard].empty()) continue;
    auto& shared = published_.shards[shard];
    auto next = shared ? std::make_shared<ImageIndex::Shard>(*shared) : std::make_shared<ImageIndex::Shard>();
    for (const std::uint64_t id : by_shard[shard]) {
      const auto found = holders_.find(id);
      if (found == holders_.end()) {
        next->erase(id);
        continue;
      }
      auto placement = std::make_shared<model::ImagePlacement>();
      placement->holders.reserve(found->second.size());
      for (const Held& held : found->second) {
        placement->bytes = std::max(placement->bytes, held.bytes);
        placement->holders.push_back(held.slot);
      }
      (*next)[id] = std::move(placement);
    }
    if (next->empty()) next = nullptr;
    shared = std::move(next);
  }
  changed_.clear();
  snapshot.images = published_;
}

}  // namespace berth::state
