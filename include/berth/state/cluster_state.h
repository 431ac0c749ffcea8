// Builds the snapshot: takes what sources and request handlers tell, keeps pods, nodes and ledger, and publishes.
//
// The only writer of the snapshot. Thread-safe: every public function may be called from any thread; the work is done
// on one thread of its own, started by start() and ended by stop() (or by step(), in tests). Nothing here fails but for
// want of memory: where a snapshot finds none, the last one stays in use, the log and the snapshot's age tell of it,
// and it is built again in a second at the latest; where an update finds none, the program ends, because counts of half
// an update would be wrong for ever. What contradicts itself (more GPUs held than a node has, a pod deleted that
// another has replaced) is counted as it comes.
//
// What counts when: a pod's GPUs from the moment it is bound until it has ended or is gone, its deletion in progress
// included (as kube-scheduler's NodeInfo). An unbound pod's nominated node is a firm ledger entry, an answer's winner a
// soft one; an entry ends when the pod is seen bound, anywhere, or ended, deleted or being deleted; a firm one when the
// nomination is withdrawn, a soft one by time or when its node goes. Pods that want neither a GPU nor a dataset have
// none. What Bind reserves is firm too, and ends when the pod is seen bound, ended, deleted or being deleted, when Bind
// takes it back, or after five minutes. A pod is a member of its gang from the moment it is known until it has ended;
// where it is bound, or else where its entry is, it has a place. A pod reads its datasets where it is bound, until it
// has ended, and before that where its entry is.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/core/snapshot_cell.h"
#include "berth/model/cluster_update.h"
#include "berth/model/decision.h"
#include "berth/model/request_mix.h"
#include "berth/model/snapshot.h"

namespace berth::state {

// What coverage is taken to be where nobody measured it (docs/datasets.md).
struct CoverageOptions {
  double assumed = 0.5;                           // of a dataset's bytes, over all its ready workers together
  std::chrono::milliseconds label_grace{60'000};  // how long a node label counts without a worker pod
};

// How the mix of requests is learned (docs/packing.md).
struct MixOptions {
  std::size_t window = 10'000;                     // pods that it is learned from, the last ones seen
  std::vector<model::RequestShare> declared = {};  // least shares; together at most 1
  std::vector<std::string> gpu_products = {};      // that pods may get for whom no policy says which
};

struct StateOptions {
  CoverageOptions coverage = {};
  model::LinkBandwidths link_bandwidths = {};
  MixOptions mix = {};
  bool preemption = false;                          // what only preemption needs is kept: pods' labels and owners
  bool await_data = false;                          // the snapshot is not ready before DataListed
  std::chrono::milliseconds soft_lifetime{30'000};  // of a soft ledger entry
  std::chrono::milliseconds attempt_gap{1'000};     // a pod asked about again so long after an attempt began: the next
  std::size_t max_attempts_kept = 100'000;          // pods whose attempts are counted
};

// A pod that Filter or Prioritize was asked about, told after the answer.
struct Attempt {
  std::string uid;
  std::string winner;     // node that the answer prefers; empty if none, or if no soft entry is to be written
  std::int32_t gpus = 0;  // that it would hold there
  std::int32_t priority = 0;
  model::Verb verb = model::Verb::kFilter;
  bool reads_data = false;  // it wants a dataset: expected there even without a GPU
  model::GpuParts parts = {};
  model::GangRef gang = {};
};

// Why a pod could not run where it was sent.
enum class FailureCause : std::uint8_t {
  kBinding,    // the API server refused the binding
  kAdmission,  // kubelet: UnexpectedAdmissionError, as when a device plugin can't give the GPUs
  kTopology,   // kubelet: TopologyAffinityError, SMTAlignmentError
  kResources,  // kubelet: OutOfcpu, OutOfnvidia.com/gpu and the like
  kOther,      // kubelet: NodeAffinity, NodePorts, NodeShutdown and the like
};
using FailureCounts = std::array<std::uint64_t, 5>;  // by FailureCause
std::string_view to_string(FailureCause cause);      // "binding", "admission", "topology", "resources", "other"

struct StateCounters {
  std::uint64_t updates = 0;                // taken from sources
  std::uint64_t publications = 0;           // snapshots
  std::uint64_t failed_builds = 0;          // snapshots that found no memory
  std::uint64_t soft_expired = 0;           // soft entries that ended by time
  FailureCounts placement_failures{};       // so far
  std::uint64_t queue = 0;                  // waiting now
  std::chrono::microseconds last_build{0};  // of the last snapshot, taking its updates included
};

class ClusterState final : public model::UpdateSink {
 public:
  ClusterState(const StateOptions& options, const core::Clock& clock);
  ~ClusterState() override;
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  void push(model::ClusterUpdate update) override;
  // Counts the attempt at once; the soft entry is in the next snapshot. A winner that the snapshot doesn't know, or a
  // pod without GPUs and data, ends the pod's earlier soft entry; no winner leaves it. Ignored without a UID.
  void post(Attempt attempt);
  // Attempts of this pod so far, a call made now counted: 1 for the first. A Filter less than attempt_gap after an
  // attempt began belongs to it, and so does the Prioritize that follows a posted Filter, at any time. Waits for
  // nothing that the builder does.
  [[nodiscard]] std::uint32_t attempt_number(const std::string& uid, model::Verb verb = model::Verb::kFilter) const;

  [[nodiscard]] const core::SnapshotCell<model::Snapshot>& snapshots() const;
  [[nodiscard]] StateCounters counters() const;

  // Neither does anything a second time. What is pushed before start() or after stop() waits.
  void start();
  void stop();
  // Takes all that waits, ends what is over and publishes if anything changed, as the thread would; for tests and for
  // reading a file once.
  void step();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace berth::state
