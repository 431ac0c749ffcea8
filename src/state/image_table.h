// Which nodes have which container images.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "berth/model/snapshot.h"

namespace berth::state {

class ImageTable {
 public:
  // The node in `slot` had the images `before` and now has `after`, both by id and each once.
  void change(model::Slot slot, std::span<const model::NodeImage> before, std::span<const model::NodeImage> after);

  [[nodiscard]] bool changed() const { return !changed_.empty(); }
  // Images that no node won or lost are those of the last call. Throws std::bad_alloc; the next call then does what is
  // left.
  void write(model::Snapshot& snapshot);

 private:
  struct Held {
    model::Slot slot = model::kNoSlot;
    std::int64_t bytes = 0;
  };
  void put(std::uint64_t id, const Held& held);
  void drop(std::uint64_t id, model::Slot slot);

  std::unordered_map<std::uint64_t, std::vector<Held>> holders_;  // ascending by slot, none empty
  std::unordered_set<std::uint64_t> changed_;
  model::ImageIndex published_;
};

}  // namespace berth::state
