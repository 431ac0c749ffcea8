// What the ledger's entries hold against one pod: all but its own, and but firm ones of a lower priority.
//
// Thread-safe: immutable once built. Cost: one pass over the ledger, a second one where entries that say which GPUs are
// given back.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "berth/model/pod.h"
#include "berth/model/snapshot.h"
#include "berth/policy/node_view.h"

namespace berth::policy {

class LedgerCredit {
 public:
  // The snapshot must outlive it.
  LedgerCredit(const model::Snapshot& snapshot, const model::PodRequest& pod);

  // The node as the pod sees it, its data left out. Valid as long as this.
  [[nodiscard]] NodeView view(model::Slot slot) const;

 private:
  // A node on which more than counts differ from what the snapshot has.
  struct Differing {
    std::int32_t firm = 0;
    model::GpuMask firm_gpus = 0;
    std::vector<model::GpuUse> uses;
    std::vector<model::GpuUse> expected;
  };
  void recount(const model::PodRequest& pod);

  const model::Snapshot* snapshot_;
  std::vector<std::int32_t> firm_;  // GPUs given back, by slot; empty if none
  std::vector<std::int32_t> soft_;
  std::vector<std::int64_t> cpu_;
  std::unordered_map<model::Slot, Differing> differing_;
};

// The GPUs of a node one by one, where the snapshot has only what they have in common: those that are held whole are
// the ones that are not free, or any of them where that is not known. Empty if there are too many.
std::vector<model::GpuUse> uses_of(const model::NodeState& state);

// Those that are broken.
model::GpuMask unhealthy(const std::vector<model::GpuUse>& uses);

// Counts what another pod was promised, which the snapshot doesn't show yet. The view's uses move into `uses`, which
// must outlive it.
void promise(NodeView& view, std::int32_t gpus, const model::GpuParts& parts, const model::GpuPlacement& placement,
             std::vector<model::GpuUse>& uses);

}  // namespace berth::policy
