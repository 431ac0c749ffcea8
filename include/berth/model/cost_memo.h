// Costs of placements that were worked out before, by kind of request and node, and what nodes are worth before.
//
// Thread-safe: readers and writers share rows without a lock. A cost that two of them write at a time is the same.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "berth/model/request_mix.h"

namespace berth::model {

// What the rows of a memo are for.
struct CostKind {
  RequestClass request;
  bool connected = false;  // only connected sets of GPUs
  friend bool operator==(const CostKind&, const CostKind&) = default;
};

class CostMemo {
 public:
  class Row {
   public:
    explicit Row(std::size_t slots) : known_(slots) {}
    // What was put for a node whose NodeState::stamp is still that one. Nothing is kept of stamp 0.
    [[nodiscard]] std::optional<float> get(std::size_t slot, std::uint32_t stamp) const;
    void put(std::size_t slot, std::uint32_t stamp, float cost);

   private:
    std::vector<std::atomic<std::uint64_t>> known_;  // stamp and cost; 0: nothing
  };

  explicit CostMemo(std::size_t slots) : slots_(slots), worths_(slots) {}
  Row& worths() { return worths_; }
  // Made if there is none; null where so many kinds are known that another would cost too much memory.
  Row* row(const CostKind& kind);

 private:
  static constexpr std::size_t kMostKinds = 48;  // 8 bytes a node each

  std::size_t slots_;
  Row worths_;
  std::mutex mutex_;  // of rows_, not of what is in them
  std::vector<std::pair<CostKind, std::unique_ptr<Row>>> rows_;
};

}  // namespace berth::model
