#include "settle.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace berth::policy {
namespace {

using model::GpuMask;
using model::LedgerEntry;

GpuMask failed(const model::NodeState& state) {
  GpuMask set = 0;
  for (std::size_t gpu = 0; state.uses && gpu < state.uses->size(); ++gpu) {
    if (!(*state.uses)[gpu].healthy) set |= GpuMask{1} << gpu;
  }
  return set;
}

void move_in(const LedgerEntry& entry, model::NodeState& state) {
  const GpuMask taken = entry.placement.gpus & state.free;
  // As NodeState::firm counts it: a failed GPU that was promised is kept free for nobody.
  state.firm -= entry.gpus > 0 ? entry.gpus - model::count(entry.placement.gpus & failed(state)) : model::count(taken);
  state.used += state.free_known ? model::count(taken) : entry.gpus + entry.parts.gpus;
  state.free &= ~taken;
  state.firm_gpus &= ~taken;
  if (entry.gpus > 1) state.busy |= taken;
  auto occupants = state.occupants ? std::make_shared<std::vector<model::Occupant>>(*state.occupants)
                                   : std::make_shared<std::vector<model::Occupant>>();
  model::Occupant& pod = occupants->emplace_back();
  pod.uid = entry.uid;
  pod.gpus = entry.gpus;
  pod.parts = entry.parts;
  pod.placement = entry.placement;
  pod.priority = entry.priority;
  pod.ends = core::WallTime::max();
  state.occupants = std::move(occupants);
}

}  // namespace

model::Snapshot settled(const model::Snapshot& truth, std::string_view but) {
  model::Snapshot result = truth;
  std::vector<const LedgerEntry*> given;
  for (const auto& [uid, entry] : *truth.ledger) {
    const bool placed = entry.kind == model::EntryKind::kFirm && !entry.placement.empty();
    if (placed && uid != but) given.push_back(&entry);
  }
  if (given.empty()) return result;
  std::ranges::sort(given, {}, &LedgerEntry::uid);
  auto ledger = std::make_shared<model::LedgerMap>(*truth.ledger);
  std::vector<std::shared_ptr<model::NodeBlock>> blocks(truth.blocks.size());
  for (const LedgerEntry* entry : given) {
    auto& block = blocks[entry->slot / 64];
    if (!block) block = std::make_shared<model::NodeBlock>(*truth.blocks[entry->slot / 64]);
    model::NodeState& state = (*block)[entry->slot % 64];
    result.blocks[entry->slot / 64] = block;
    move_in(*entry, state);
    ledger->erase(entry->uid);
  }
  result.ledger = std::move(ledger);
  return result;
}

}  // namespace berth::policy
