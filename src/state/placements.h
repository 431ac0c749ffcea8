// Which nodes hold which dataset, by the node labels that Fluid sets.
//
// A label says that a worker of the dataset is assigned to the node, not how much it holds: coverage is 1.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "berth/model/snapshot.h"

namespace berth::state {

class Placements {
 public:
  // The node in `slot` had the labels `before` and now has `after`, both sorted.
  void change(model::Slot slot, std::span<const std::string> before, std::span<const std::string> after);

  [[nodiscard]] bool changed() const { return !changed_.empty(); }
  // Placements of labels that did not change are those of the last call.
  void write(model::Snapshot& snapshot);

 private:
  model::StringMap<std::set<model::Slot>> holders_;  // by label
  std::set<std::string> changed_;                    // labels
  std::shared_ptr<const model::DatasetNames> names_ = std::make_shared<const model::DatasetNames>();
  std::vector<std::shared_ptr<const model::DatasetPlacement>> published_;
};

}  // namespace berth::state
