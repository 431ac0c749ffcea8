// Which GPUs of a node were given to pods that are being bound: what the newest snapshot does not show yet.
//
// Binds on one node are judged one after another under a lock, in which nobody waits for the network; Binds on
// different nodes rarely meet. What is given to one pod is seen by the next at once, and pushed to `next` as Reserved,
// so that Filter counts it too. An entry ends when the snapshot shows the pod bound, when the binding failed, or, where
// nobody knows whether it happened, after 30 seconds.
//
// Thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/core/snapshot_cell.h"
#include "berth/model/cluster_update.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"
#include "berth/policy/bind.h"
#include "berth/policy/settings.h"

namespace berth::control {

class BindBook {
 public:
  // The references must outlive it.
  BindBook(const core::SnapshotCell<model::Snapshot>& snapshots, model::UpdateSink& next,
           const policy::Settings& settings, const core::Clock& clock)
      : snapshots_(snapshots), next_(next), settings_(settings), clock_(clock) {}

  // Judges the node and gives the pod its GPUs there. The same pod on the same node gets the same ones again. Each call
  // whose verdict has no reason is followed by one of the three below. `pod` must have a UID.
  policy::BindVerdict give(const model::PodRequest& pod, const std::string& node);
  // The pod is bound there.
  void bound(const std::string& uid, const std::string& node);
  // It is not, and won't be by what was asked.
  void failed(const std::string& uid, const std::string& node);
  // Nobody knows.
  void unanswered(const std::string& uid, const std::string& node);

  // Forgets what is over; to be called about once a second.
  void sweep();
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::string uid;
    policy::Promise promise;
    int asking = 0;                     // calls that have not ended
    bool bound = false;                 // as one of them told
    std::uint64_t version = 0;          // newest snapshot when it did
    core::SteadyTime doubtful_until{};  // somebody didn't know; epoch if nobody
  };
  using Entries = std::vector<Entry>;
  struct Shard {
    mutable std::mutex mutex;
    model::StringMap<Entries> nodes;  // none empty
  };

  Shard& shard_of(const std::string& node) { return shards_[std::hash<std::string>{}(node) % shards_.size()]; }
  template <class Change>
  void settle(const std::string& uid, const std::string& node, const Change& change);
  [[nodiscard]] bool over(const Entry& entry, const model::Snapshot& snapshot, model::Slot slot) const;
  void drop_over(Entries& entries, const model::Snapshot& snapshot, model::Slot slot);

  const core::SnapshotCell<model::Snapshot>& snapshots_;
  model::UpdateSink& next_;
  const policy::Settings settings_;
  const core::Clock& clock_;
  std::array<Shard, 64> shards_;
};

}  // namespace berth::control
