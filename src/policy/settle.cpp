#include "settle.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "berth/policy/ledger_credit.h"
#include "own_snapshot.h"

namespace berth::policy {
namespace {

using model::GpuMask;
using model::LedgerEntry;

void move_in(const LedgerEntry& entry, model::NodeState& state) {
  const GpuMask taken = entry.placement.gpus & state.free;
  // As NodeState::firm counts it: a failed GPU that was promised is kept free for nobody.
  const GpuMask failed = state.uses ? unhealthy(*state.uses) : 0;
  state.firm -= entry.gpus > 0 ? entry.gpus - model::count(entry.placement.gpus & failed) : model::count(taken);
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
  std::vector<const LedgerEntry*> given;
  for (const auto& [uid, entry] : *truth.ledger) {
    const bool placed = entry.kind == model::EntryKind::kFirm && !entry.placement.empty();
    if (placed && uid != but) given.push_back(&entry);
  }
  if (given.empty()) return truth;
  OwnSnapshot result(truth);
  std::ranges::sort(given, {}, &LedgerEntry::uid);
  auto ledger = std::make_shared<model::LedgerMap>(*truth.ledger);
  for (const LedgerEntry* entry : given) {
    move_in(*entry, result.node(entry->slot));
    ledger->erase(entry->uid);
  }
  result.get().ledger = std::move(ledger);
  return std::move(result.get());
}

}  // namespace berth::policy
