#include "berth/model/cost_memo.h"

#include <algorithm>
#include <bit>

namespace berth::model {

std::optional<float> CostMemo::Row::get(std::size_t slot, std::uint32_t stamp) const {
  if (slot >= known_.size() || stamp == 0) return std::nullopt;
  const std::uint64_t known = known_[slot].load(std::memory_order_relaxed);
  if (known >> 32U != stamp) return std::nullopt;
  return std::bit_cast<float>(static_cast<std::uint32_t>(known));
}

void CostMemo::Row::put(std::size_t slot, std::uint32_t stamp, float cost) {
  if (slot >= known_.size() || stamp == 0) return;
  known_[slot].store(std::uint64_t{stamp} << 32U | std::bit_cast<std::uint32_t>(cost), std::memory_order_relaxed);
}

CostMemo::Row* CostMemo::row(const CostKind& kind) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(rows_, kind, &std::pair<CostKind, std::unique_ptr<Row>>::first);
  if (found != rows_.end()) return found->second.get();
  if (rows_.size() == kMostKinds) return nullptr;
  return rows_.emplace_back(kind, std::make_unique<Row>(slots_)).second.get();
}

}  // namespace berth::model
