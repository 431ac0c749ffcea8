// The core of the state: takes updates and attempts one by one and makes the next snapshot of what changed.
//
// Time comes in as an argument. Not thread-safe; only the attempts have a lock of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "attempt_counter.h"
#include "berth/model/cluster_update.h"
#include "berth/state/cluster_state.h"
#include "ledger.h"
#include "node_table.h"
#include "placements.h"
#include "pod_table.h"

namespace berth::state {

class Builder {
 public:
  Builder(const StateOptions& options, AttemptCounter& attempts);

  void apply(model::ClusterUpdate update);
  void apply(const Attempt& attempt, core::SteadyTime now);

  // Ends the soft entries that are over; returns how many.
  std::size_t expire(core::SteadyTime now) { return ledger_.expire(now); }
  [[nodiscard]] std::optional<core::SteadyTime> next_expiry() { return ledger_.next_expiry(); }

  // True if the next snapshot would differ from the last.
  [[nodiscard]] bool changed() const;
  // Throws std::bad_alloc; the next call then builds what this one would have.
  [[nodiscard]] std::shared_ptr<const model::Snapshot> build(core::SteadyTime now);

 private:
  void take(model::NodeSet& update);
  void take(model::NodeGone& update);
  void take(model::PodSet& update);
  void take(model::PodGone& update);
  void take(model::AllNodes& update);
  void take(model::AllPods& update);

  void set_node(model::Node node);
  void remove_node(NodeRecord& record);
  PodRecord& set_pod(const model::Pod& pod);
  void count_gpus(PodRecord& record, const model::Pod& pod);
  void keep_ledger(PodRecord& record, const model::Pod& pod);
  // Ends all that others keep for the pod.
  void forget(PodRecord& record);

  StateOptions options_;
  AttemptCounter& attempts_;
  NodeTable nodes_;
  PodTable pods_;
  Ledger ledger_{nodes_};
  Placements placements_;

  std::uint64_t version_ = 0;
  bool build_failed_ = false;
  std::uint32_t list_ = 0;  // complete lists of pods so far
  bool nodes_listed_ = false;
  bool pods_listed_ = false;
  // As last published.
  bool was_ready_ = false;
  std::size_t were_pods_ = 0;
  std::size_t were_bound_ = 0;
};

// Why a snapshot without a first complete list isn't ready, empty if it has both.
std::string_view not_ready_why(bool nodes_listed, bool pods_listed);

}  // namespace berth::state
