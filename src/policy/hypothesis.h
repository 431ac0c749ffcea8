// A cluster as it would be if some pods were gone, for asking the usual rules about it.
//
// Not thread-safe. The snapshot it is made of must outlive it.
#pragma once

#include <bitset>
#include <memory>
#include <vector>

#include "berth/model/snapshot.h"
#include "own_snapshot.h"

namespace berth::policy {

// Pods of a node, by their place in NodeState::occupants. Those beyond are never taken away.
inline constexpr std::size_t kMostOccupants = 256;
using OccupantSet = std::bitset<kMostOccupants>;

// The node without some of its pods.
model::NodeState without(const model::NodeState& state, const OccupantSet& gone);

class Hypothesis {
 public:
  explicit Hypothesis(const model::Snapshot& truth);

  // From now on the node is as it would be without `gone`, whoever was said to be gone before.
  void evict(model::Slot slot, const OccupantSet& gone);
  [[nodiscard]] const model::Snapshot& snapshot() const { return supposed_.get(); }

 private:
  const model::Snapshot& truth_;
  OwnSnapshot supposed_;
};

}  // namespace berth::policy
