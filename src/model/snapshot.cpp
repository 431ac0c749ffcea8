#include "berth/model/snapshot.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace berth::model {

NodeIndex::NodeIndex(std::vector<std::string> names) : names_(std::move(names)), ranks_(names_.size(), 0) {
  std::vector<Slot> order;
  order.reserve(names_.size());
  for (Slot slot = 0; slot < names_.size(); ++slot) {
    if (!names_[slot].empty()) order.push_back(slot);
  }
  nodes_ = order.size();
  std::sort(order.begin(), order.end(), [this](Slot a, Slot b) { return names_[a] < names_[b]; });
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks_[order[rank]] = rank;

  table_.assign(std::bit_ceil(nodes_ * 2 + 2), kNoSlot);
  const std::size_t wrap = table_.size() - 1;
  for (const Slot slot : order) {
    std::size_t at = std::hash<std::string_view>{}(names_[slot]) & wrap;
    while (table_[at] != kNoSlot) at = (at + 1) & wrap;
    table_[at] = slot;
  }
}

Slot NodeIndex::find(std::string_view name) const {
  if (table_.empty() || name.empty()) return kNoSlot;
  const std::size_t wrap = table_.size() - 1;
  for (std::size_t at = std::hash<std::string_view>{}(name)&wrap; table_[at] != kNoSlot; at = (at + 1) & wrap) {
    if (names_[table_[at]] == name) return table_[at];
  }
  return kNoSlot;
}

const DatasetPlacement* Snapshot::placement(const DatasetRef& dataset) const {
  const auto found = datasets->find(dataset.label());
  return found == datasets->end() ? nullptr : found->second.get();
}

const LedgerEntry* Snapshot::entry(std::string_view uid) const {
  const auto found = ledger->find(uid);
  return found == ledger->end() ? nullptr : &found->second;
}

}  // namespace berth::model
