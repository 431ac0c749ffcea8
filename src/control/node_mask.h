// A set of nodes by slot, small enough to keep one for each rejected pod.
//
// Thread-safe: plain values and a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "berth/model/decision.h"
#include "berth/model/snapshot.h"

namespace berth::control {

struct NodeMask {
  std::vector<std::uint64_t> words;  // 64 slots each, as blocks of the snapshot
  bool beyond = false;               // slots after the last word are in it

  [[nodiscard]] std::uint64_t word(std::size_t block) const {
    return block < words.size() ? words[block] : beyond ? ~std::uint64_t{0} : 0;
  }
  [[nodiscard]] bool empty() const;
  friend bool operator==(const NodeMask&, const NodeMask&) = default;
};

// Nodes that the decision rejects for a reason that only Berth gives: all but INSUFFICIENT_GPU, which is the
// scheduler's to watch, and OUTRANKED. If it names a node that the snapshot did not know, every slot that was free at
// that time is in it, because that is where such a node will be.
NodeMask rejected_by_us(const model::Decision& decision);

}  // namespace berth::control
