// Whom to evict on one node so that the pod may run there: include/berth/policy/preempt.h has the rules.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/policy/preempt.h"
#include "evaluate.h"
#include "hypothesis.h"
#include "victims.h"
#include "whole_options.h"

namespace berth::policy {

struct Clearing {
  OccupantSet victims;
  Evaluated node;  // with the pod there
};

class NodeClearing {
 public:
  // `supposed` has every pod of lower priority gone, on this and on the other nodes that were offered; it is left so.
  NodeClearing(const PreemptionQuery& query, const Settings& settings, Hypothesis& supposed, model::Slot slot);
  ~NodeClearing();
  NodeClearing(const NodeClearing&) = delete;
  NodeClearing& operator=(const NodeClearing&) = delete;

  [[nodiscard]] const NodeVictims& pods() const { return pods_; }
  // Pods of lower priority than the one that is to be placed.
  static OccupantSet evictable(const model::NodeState& state, const model::PodRequest& pod);

  // The cheapest clearing that evicts the scheduler's victims, or pods alike, and whom our rules want gone. `others`:
  // the scheduler evicts pods that hold no GPU, too. nullopt, and why, if there is none.
  std::optional<Clearing> choose(const OccupantSet& offered, bool others);
  [[nodiscard]] model::Reason why_not() const { return why_not_; }

 private:
  [[nodiscard]] std::optional<Evaluated> judge(const OccupantSet& victims);
  [[nodiscard]] bool connected(model::GpuMask set) const;
  // That cost less than `below`, unless it is null. With `by_count` also as if the scheduler's victims stood for
  // nothing but whole GPUs.
  [[nodiscard]] std::vector<WholeOption> options(const OccupantSet& offered, bool by_count,
                                                 const EvictionCost* below) const;
  [[nodiscard]] std::optional<Clearing> add_some(const OccupantSet& offered);
  [[nodiscard]] OccupantSet add_among(const OccupantSet& offered, const OccupantSet& among);
  [[nodiscard]] OccupantSet spare_alike(OccupantSet victims, const OccupantSet& offered);

  const PreemptionQuery& query_;
  const Settings& settings_;
  Hypothesis& supposed_;
  const model::Slot slot_;
  const model::NodeState& state_;
  const NodeVictims pods_;
  const OccupantSet evictable_;
  const bool links_count_;  // how the pod's GPUs are linked makes a difference to it
  model::Reason why_not_ = model::Reason::kNone;
};

}  // namespace berth::policy
