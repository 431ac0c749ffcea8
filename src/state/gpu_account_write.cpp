// A node's account as the snapshot shows it.
#include <algorithm>
#include <tuple>
#include <utility>

#include "berth/model/part_placement.h"
#include "gpu_account.h"

namespace berth::state {

using model::FreeSource;
using model::GpuMask;

void GpuAccount::write(model::NodeState& state) const {
  state.shape = shape_;
  state.gpus = gpus_;
  const bool apart = !gpu_.empty() && !overfull_;
  const GpuMask held = held_whole_ | held_part_;
  std::int64_t used = 0;
  GpuMask busy = 0;
  for (const Held& one : held_) {
    used += one.whole + std::int64_t{one.parts.gpus};
    if (one.whole > 1) busy |= one.placed.gpus;
  }
  state.used = apart ? model::count(held & whole_) : gpu_count(used);
  state.free_known = apart && !doubtful_ && (shape_ || (machine_ && !blind_));
  state.free_source = state.free_known ? source_ : FreeSource::kUnknown;
  state.free = state.free_known ? whole_ & ~held : 0;
  state.busy = state.free_known ? busy : 0;
  write_uses(state);
  write_occupants(state);
}

void GpuAccount::write_uses(model::NodeState& state) const {
  GpuMask whole = 0;
  GpuMask part = 0;
  std::vector<model::GpuUse> uses = used_;
  bool parts = parts_;
  std::int32_t dead = 0;  // promised whole, and failed since: no other GPU has to be kept for the pod
  for (const Promise& promise : promises_) {
    (promise.gpus > 0 ? whole : part) |= promise.placement.gpus;
    parts = parts || promise.parts.any();
    if (promise.gpus > 0) dead += model::count(promise.placement.gpus & ~whole_);
    for (std::size_t gpu = 0; promise.gpus > 0 && gpu < uses.size(); ++gpu) {
      if (model::contains(promise.placement.gpus, static_cast<int>(gpu))) model::count_whole(uses[gpu]);
    }
    if (promise.gpus == 0) model::count_parts(promise.parts, promise.placement, uses);
    if (promise.gpus > 0) model::count_parts(promise.parts, {0, promise.placement.slots}, uses);
  }
  state.firm_gpus = (whole | part) & state.free;
  state.firm = gpu_count(std::int64_t{state.firm} + model::count(part & ~whole & state.free) - dead);
  if (!uses.empty() && (parts || !alike_ || gpus_ == 0)) {
    state.uses = std::make_shared<const std::vector<model::GpuUse>>(std::move(uses));
  }
}

void GpuAccount::write_occupants(model::NodeState& state) const {
  state.occupants = nullptr;
  if (held_.empty()) return;
  auto occupants = std::make_shared<std::vector<model::Occupant>>();
  occupants->reserve(held_.size());
  for (const Held& held : held_) {
    model::Occupant& pod = occupants->emplace_back(held.holder.pod);
    if (state.free_known || held.source < FreeSource::kModelled || held.whole == 0) pod.placement = held.placed;
  }
  std::ranges::sort(*occupants, [](const model::Occupant& a, const model::Occupant& b) {
    return std::tie(a.ends, a.gpus, a.uid) < std::tie(b.ends, b.gpus, b.uid);
  });
  state.occupants = std::move(occupants);
}

}  // namespace berth::state
