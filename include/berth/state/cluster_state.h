// Builds the snapshot: takes what sources and request handlers tell, keeps pods, nodes and ledger, and publishes.
//
// The only writer of the snapshot. Thread-safe: every public function may be called from any thread; the work is done
// on one thread of its own, started by start() and ended by stop() (or by step(), in tests).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "berth/core/clock.h"
#include "berth/core/snapshot_cell.h"
#include "berth/model/cluster_update.h"
#include "berth/model/snapshot.h"

namespace berth::state {

struct StateOptions {
  std::chrono::milliseconds soft_lifetime{30'000};  // of a soft ledger entry
  std::chrono::milliseconds attempt_gap{1'000};     // calls closer together belong to one scheduling attempt
  std::size_t max_attempts_kept = 100'000;          // pods whose attempts are counted
};

// A pod that Filter or Prioritize was asked about, told after the answer.
struct Attempt {
  std::string uid;
  std::string winner;     // node that the answer prefers; empty if none, or if no soft entry is to be written
  std::int32_t gpus = 0;  // that it would hold there
};

struct StateCounters {
  std::uint64_t updates = 0;       // taken from sources
  std::uint64_t publications = 0;  // snapshots
  std::uint64_t soft_expired = 0;  // soft entries that ended by time
  std::uint64_t queue = 0;         // waiting now
  std::chrono::microseconds last_build{0};
};

class ClusterState final : public model::UpdateSink {
 public:
  ClusterState(StateOptions options, const core::Clock& clock);
  ~ClusterState() override;
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  void push(model::ClusterUpdate update) override;
  void post(Attempt attempt);
  // Attempts of this pod so far, this one counted: 1 for the first.
  [[nodiscard]] std::uint32_t attempt_number(const std::string& uid) const;

  [[nodiscard]] const core::SnapshotCell<model::Snapshot>& snapshots() const;
  [[nodiscard]] StateCounters counters() const;

  void start();
  void stop();
  // Takes all that waits and ends what is over, as the thread would; for tests and for reading a file once.
  void step();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace berth::state
