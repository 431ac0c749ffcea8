#include "hypothesis.h"

#include <algorithm>
#include <utility>

#include "berth/model/part_placement.h"

namespace berth::policy {

namespace {

void take_away(const model::Occupant& pod, std::vector<model::GpuUse>& uses) {
  for (std::size_t gpu = 0; pod.gpus > 0 && gpu < uses.size(); ++gpu) {
    if (model::contains(pod.placement.gpus, static_cast<int>(gpu))) uses[gpu].used_mib = uses[gpu].used_milli = 0;
  }
  model::count_parts(pod.parts, {pod.gpus > 0 ? 0 : pod.placement.gpus, pod.placement.slots}, uses, -1);
}

}  // namespace

model::NodeState without(const model::NodeState& state, const OccupantSet& gone) {
  model::NodeState left = state;
  left.stamp = 0;
  if (!state.occupants || gone.none()) return left;
  model::GpuMask freed = 0;
  model::GpuMask held = 0;
  std::int32_t nobody_knows_which = 0;
  for (std::size_t i = 0; i < state.occupants->size(); ++i) {
    const model::Occupant& pod = (*state.occupants)[i];
    if (i >= gone.size() || !gone[i]) {
      held |= pod.placement.gpus;
      continue;
    }
    freed |= pod.placement.gpus;
    if (pod.placement.empty()) nobody_knows_which += pod.gpus;
  }
  freed &= ~held;
  if (state.uses) {
    std::vector<model::GpuUse> uses = *state.uses;
    for (std::size_t i = 0; i < state.occupants->size() && i < gone.size(); ++i) {
      if (gone[i]) take_away((*state.occupants)[i], uses);
    }
    for (std::size_t gpu = 0; gpu < uses.size(); ++gpu) {
      // What is used still is promised to somebody.
      const bool free = uses[gpu].used_mib <= 0 && uses[gpu].used_milli <= 0;
      if (!uses[gpu].healthy || uses[gpu].mig || !free) freed &= ~(model::GpuMask{1} << gpu);
    }
    left.uses = std::make_shared<const std::vector<model::GpuUse>>(std::move(uses));
  }
  left.used = std::max(0, left.used - model::count(freed) - nobody_knows_which);
  left.busy &= ~freed;
  if (state.free_known) left.free |= freed;
  return left;
}

Hypothesis::Hypothesis(const model::Snapshot& truth) : truth_(truth), supposed_(truth) {}

void Hypothesis::evict(model::Slot slot, const OccupantSet& gone) {
  supposed_.node(slot) = without(truth_.at(slot), gone);
}

}  // namespace berth::policy
