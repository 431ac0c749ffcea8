// A copy of a snapshot in which nodes may be changed. Blocks of nodes are shared with the original until then.
//
// Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "berth/model/snapshot.h"

namespace berth::policy {

class OwnSnapshot {
 public:
  explicit OwnSnapshot(const model::Snapshot& of) : snapshot_(of), blocks_(of.blocks.size()) {}

  [[nodiscard]] const model::Snapshot& get() const { return snapshot_; }
  model::Snapshot& get() { return snapshot_; }
  model::NodeState& node(model::Slot slot) {
    auto& block = blocks_[slot / 64];
    if (!block) {
      block = std::make_shared<model::NodeBlock>(*snapshot_.blocks[slot / 64]);
      snapshot_.blocks[slot / 64] = block;
    }
    (*block)[slot % 64].stamp = 0;
    return (*block)[slot % 64];
  }

 private:
  model::Snapshot snapshot_;
  std::vector<std::shared_ptr<model::NodeBlock>> blocks_;  // ours to change; null where nothing is
};

}  // namespace berth::policy
