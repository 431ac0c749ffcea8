#include "node_mask.h"

#include <algorithm>

namespace berth::control {

bool NodeMask::empty() const {
  return !beyond && std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
}

NodeMask rejected_by_us(const model::Decision& decision) {
  NodeMask mask;
  const std::size_t slots = decision.index ? decision.index->slots() : 0;
  mask.words.resize((slots + 63) / 64);
  const auto add = [&mask](model::Slot slot) { mask.words[slot / 64] |= std::uint64_t{1} << slot % 64; };
  for (const auto& [slot, reason] : decision.rejected) {
    if (reason == model::Reason::kInsufficientGpu || reason == model::Reason::kOutranked) continue;
    if (slot == model::kNoSlot) {
      mask.beyond = true;
    } else if (slot < slots) {
      add(slot);
    }
  }
  if (!mask.beyond) return mask;
  const std::size_t all = mask.words.size() * 64;
  for (std::size_t slot = 0; slot < all; ++slot) {
    if (slot >= slots || decision.index->name(static_cast<model::Slot>(slot)).empty()) {
      add(static_cast<model::Slot>(slot));
    }
  }
  return mask;
}

}  // namespace berth::control
