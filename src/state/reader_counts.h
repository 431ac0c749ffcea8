// How many pods read each dataset on each node.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/model/snapshot.h"
#include "node_table.h"

namespace berth::state {

class ReaderCounts {
 public:
  // One pod more (+1) or less (-1) on the node, which need not be known.
  void add(NodeRecord& node, model::DatasetId dataset, int sign);
  // To be called when a node has got its slot, and before it loses it.
  void node_comes(const NodeRecord& node);
  void node_goes(const NodeRecord& node);
  // Makes room for ids below `ids`.
  void grow(std::size_t ids);

  [[nodiscard]] bool changed() const { return !dirty_.empty() || grown_; }
  // Throws std::bad_alloc; the next call then does what is left.
  void write(model::Snapshot& snapshot);

 private:
  void put(model::Slot slot, model::DatasetId dataset, std::int32_t pods);

  std::vector<model::DatasetReaders> counts_;  // by id
  std::vector<model::DatasetId> dirty_;
  std::vector<bool> is_dirty_;  // by id
  bool grown_ = false;
  std::vector<std::shared_ptr<const model::DatasetReaders>> published_;  // by id
};

}  // namespace berth::state
