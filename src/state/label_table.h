// Which nodes have which of the labels that Fluid sets for a dataset, and since when.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/snapshot.h"

namespace berth::state {

class LabelTable {
 public:
  struct Labelled {
    model::Slot slot = model::kNoSlot;
    core::WallTime since;  // when it was first seen
  };
  using Nodes = std::vector<Labelled>;  // ascending by slot

  // The node in `slot` had the labels `before` and now has `after`, both sorted. Returns the labels that it lost or
  // won.
  std::vector<std::string> change(model::Slot slot, std::span<const std::string> before,
                                  std::span<const std::string> after, core::WallTime now);

  // Empty if no node has it.
  [[nodiscard]] std::span<const Labelled> nodes(std::string_view label) const;
  [[nodiscard]] bool has(std::string_view label, model::Slot slot) const;
  [[nodiscard]] const model::StringMap<Nodes>& all() const { return nodes_; }

 private:
  model::StringMap<Nodes> nodes_;  // by label, none empty
};

}  // namespace berth::state
