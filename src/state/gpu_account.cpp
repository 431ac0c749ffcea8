#include "gpu_account.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace berth::state {

using model::GpuMask;

std::int32_t gpu_count(std::int64_t value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  return static_cast<std::int32_t>(std::clamp(value, std::int64_t{0}, kMost));
}

void GpuAccount::set_capacity(std::int32_t gpus, std::shared_ptr<const model::GpuShape> shape) {
  capacity_ = gpus;
  shape_ = std::move(shape);
  // A node that loses its shape for a while (a GPU drops out, the node is gone) finds its pods as they were.
  if (shape_ == nullptr || shape_ == handed_for_) return;
  handed_for_ = shape_;
  for (Holder& holder : holders_) holder.held = 0;
}

bool GpuAccount::put(const Holder& holder) {
  const auto found = std::ranges::find(holders_, holder.uid, &Holder::uid);
  if (found == holders_.end()) {
    holders_.push_back(holder);
    holders_.back().held = 0;
    used_ += holder.gpus;
    return true;
  }
  const bool same_end = std::exchange(found->ends, holder.ends) == holder.ends;
  if (found->gpus == holder.gpus && found->claim == holder.claim) return !same_end;
  used_ += holder.gpus - found->gpus;
  *found = holder;
  found->held = 0;
  return true;
}

void GpuAccount::remove(const std::string* uid) {
  const auto found = std::ranges::find(holders_, uid, &Holder::uid);
  if (found == holders_.end()) return;
  used_ -= found->gpus;
  *found = holders_.back();
  holders_.pop_back();
}

GpuMask GpuAccount::free() const {
  GpuMask held = 0;
  for (const Holder& holder : holders_) held |= holder.held;
  return model::mask_all(capacity_) & ~held;
}

void GpuAccount::settle() {
  if (!known()) return;
  std::vector<Holder*> waiting;
  for (Holder& holder : holders_) {
    if (holder.held == 0) waiting.push_back(&holder);
  }
  if (waiting.empty()) return;
  std::ranges::sort(waiting, [](const Holder* a, const Holder* b) {
    return std::forward_as_tuple(a->claim == 0, a->created, *a->uid) <
           std::forward_as_tuple(b->claim == 0, b->created, *b->uid);
  });
  GpuMask left = free();
  for (Holder* holder : waiting) {
    const bool claim_fits = (holder->claim & ~left) == 0 && model::count(holder->claim) == holder->gpus;
    // There are enough: what is held plus what waits is at most the capacity.
    holder->held = claim_fits ? holder->claim : shape_->table.best(left, holder->gpus).value_or(0);
    left &= ~holder->held;
  }
}

void GpuAccount::write(model::NodeState& state) const {
  state.shape = shape_;
  state.gpus = capacity_;
  state.used = gpu_count(used_);
  state.free_known = known();
  state.free = state.free_known ? free() : 0;
  state.occupants = nullptr;
  if (holders_.empty()) return;
  auto occupants = std::make_shared<std::vector<model::Occupant>>();
  occupants->reserve(holders_.size());
  for (const Holder& holder : holders_) occupants->push_back({.gpus = holder.gpus, .ends = holder.ends});
  std::ranges::sort(*occupants, {}, [](const model::Occupant& one) { return std::tuple(one.ends, one.gpus); });
  state.occupants = std::move(occupants);
}

}  // namespace berth::state
