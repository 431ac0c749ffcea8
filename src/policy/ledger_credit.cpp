#include "berth/policy/ledger_credit.h"

#include <algorithm>
#include <tuple>

#include "berth/model/part_placement.h"

namespace berth::policy {

using model::GpuMask;
using model::LedgerEntry;

namespace {

bool given_back(const LedgerEntry& entry, const model::PodRequest& pod) {
  return entry.uid == pod.uid || (entry.kind == model::EntryKind::kFirm && entry.priority < pod.priority);
}

void mark_whole(std::vector<model::GpuUse>& uses, GpuMask gpus) {
  for (std::size_t gpu = 0; gpu < uses.size(); ++gpu) {
    if (model::contains(gpus, static_cast<int>(gpu))) model::count_whole(uses[gpu]);
  }
}

void mark_free(std::vector<model::GpuUse>& uses, GpuMask gpus) {
  for (std::size_t gpu = 0; gpu < uses.size(); ++gpu) {
    if (model::contains(gpus, static_cast<int>(gpu))) uses[gpu].used_mib = uses[gpu].used_milli = 0;
  }
}

}  // namespace

GpuMask unhealthy(const std::vector<model::GpuUse>& uses) {
  GpuMask set = 0;
  for (std::size_t gpu = 0; gpu < uses.size(); ++gpu) {
    if (!uses[gpu].healthy) set |= GpuMask{1} << gpu;
  }
  return set;
}

std::vector<model::GpuUse> uses_of(const model::NodeState& state) {
  if (state.uses) return *state.uses;
  const std::size_t gpus =
      state.told_apart() ? state.machine->gpus.size() : static_cast<std::size_t>(std::max(0, state.gpus));
  if (gpus > model::kMaxGpus) return {};
  std::vector<model::GpuUse> uses(gpus, {.memory_mib = state.gpu_memory_mib()});
  const GpuMask all = model::mask_all(static_cast<int>(gpus));
  mark_whole(uses, state.free_known ? all & ~state.free : all & model::mask_all(std::min(state.used, state.gpus)));
  return uses;
}

LedgerCredit::LedgerCredit(const model::Snapshot& snapshot, const model::PodRequest& pod) : snapshot_(&snapshot) {
  for (const auto& [uid, entry] : *snapshot.ledger) {
    const bool firm = entry.kind == model::EntryKind::kFirm;
    const bool back = given_back(entry, pod);
    const bool exact = !entry.placement.empty();
    // What soft entries will get matters to pods of the same kind alone.
    const bool unplaced = !exact && entry.parts.any() && !back && (firm || pod.parts.any());
    if (unplaced || (exact && back)) differing_[entry.slot];
    if (!back) continue;
    auto& credit = firm ? firm_ : soft_;
    if (credit.empty()) credit.assign(snapshot.index->slots(), 0);
    credit[entry.slot] += entry.gpus;
    if (entry.requests == nullptr) continue;
    if (cpu_.empty()) cpu_.assign(snapshot.index->slots(), 0);
    cpu_[entry.slot] += entry.requests->basic.cpu_milli;
  }
  if (!differing_.empty()) recount(pod);
}

void LedgerCredit::recount(const model::PodRequest& pod) {
  struct Found {
    GpuMask whole = 0;
    GpuMask part = 0;
    std::vector<const LedgerEntry*> unplaced;
  };
  std::unordered_map<model::Slot, Found> found;
  for (auto& [slot, differing] : differing_) differing.uses = uses_of(snapshot_->at(slot));
  for (const auto& [uid, entry] : *snapshot_->ledger) {
    const auto at = differing_.find(entry.slot);
    if (at == differing_.end()) continue;
    Differing& differing = at->second;
    const bool firm = entry.kind == model::EntryKind::kFirm;
    if (given_back(entry, pod)) {
      if (entry.gpus > 0) mark_free(differing.uses, entry.placement.gpus);
      const GpuMask shared = entry.gpus > 0 ? 0 : entry.placement.gpus;
      model::count_parts(entry.parts, {shared, entry.placement.slots}, differing.uses, -1);
      continue;
    }
    if (firm) differing.firm += entry.gpus;
    // A GPU that has failed since it was promised is nobody else's loss.
    if (firm && entry.gpus > 0) differing.firm -= model::count(entry.placement.gpus & unhealthy(differing.uses));
    (entry.gpus > 0 ? found[entry.slot].whole : found[entry.slot].part) |= entry.placement.gpus;
    if (entry.placement.empty() && entry.parts.any()) found[entry.slot].unplaced.push_back(&entry);
  }
  for (auto& [slot, differing] : differing_) {
    const model::NodeState& state = snapshot_->at(slot);
    Found& here = found[slot];
    const auto place = [&](std::vector<model::GpuUse>& uses, const LedgerEntry& entry) {
      const auto placed = model::place_parts(entry.parts, uses, state.machine.get(), state.shape.get());
      if (placed) model::count_parts(entry.parts, placed->placement(), uses);
      return placed ? placed->gpus : 0;
    };
    std::ranges::sort(here.unplaced, [](const LedgerEntry* a, const LedgerEntry* b) {
      return a->kind != b->kind ? a->kind == model::EntryKind::kFirm : a->uid < b->uid;
    });
    bool soft = false;
    for (const LedgerEntry* entry : here.unplaced) {
      if (entry->kind == model::EntryKind::kFirm) {
        here.part |= place(differing.uses, *entry);
        continue;
      }
      if (!soft) differing.expected = differing.uses;
      soft = true;
      place(differing.expected, *entry);
    }
    differing.firm_gpus = (here.whole | here.part) & state.free;
    differing.firm += model::count(here.part & ~here.whole & state.free);
  }
}

NodeView LedgerCredit::view(model::Slot slot) const {
  const model::NodeState& state = snapshot_->at(slot);
  NodeView view{.state = &state,
                .firm_others = state.firm,
                .soft_others = state.soft,
                .firm_gpus = state.firm_gpus,
                .uses = state.uses.get()};
  if (!firm_.empty()) view.firm_others -= firm_[slot];
  if (!soft_.empty()) view.soft_others -= soft_[slot];
  if (!cpu_.empty()) view.cpu_back = cpu_[slot];
  view.as_published = view.firm_others == state.firm && view.soft_others == state.soft && view.cpu_back == 0;
  if (differing_.empty()) return view;
  const auto found = differing_.find(slot);
  if (found == differing_.end()) return view;
  const Differing& differing = found->second;
  view.as_published = false;
  view.firm_others = differing.firm;
  view.firm_gpus = differing.firm_gpus;
  view.uses = differing.uses.empty() ? nullptr : &differing.uses;
  if (!differing.expected.empty()) view.expected = &differing.expected;
  return view;
}

void promise(NodeView& view, std::int32_t gpus, const model::GpuParts& parts, const model::GpuPlacement& placement,
             std::vector<model::GpuUse>& uses) {
  if (view.uses != &uses) uses = view.uses != nullptr ? *view.uses : uses_of(*view.state);
  // What is promised one by one is not free for a share either, though the node's GPUs are all alike.
  if (view.uses == nullptr) mark_whole(uses, view.firm_gpus);
  view.uses = &uses;
  view.expected = nullptr;
  view.as_published = false;
  const GpuMask free = view.state->free & ~view.firm_gpus;
  if (gpus > 0) {
    view.firm_others += gpus;
    mark_whole(uses, placement.gpus);
    model::count_parts(parts, {0, placement.slots}, uses);
  } else {
    view.firm_others += model::count(placement.gpus & free);
    model::count_parts(parts, placement, uses);
  }
  view.firm_gpus |= placement.gpus & view.state->free;
}

}  // namespace berth::policy
