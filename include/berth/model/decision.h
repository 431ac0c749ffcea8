// The record of one answered Filter or Prioritize call: what explain, the decisions list and events show.
//
// Thread-safe: a plain value, immutable once posted.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/gpu_set.h"
#include "berth/model/pod.h"
#include "berth/model/reason.h"
#include "berth/model/snapshot.h"

namespace berth::model {

// Parts of a score, each in [0, 1]; total is their weighted mean.
struct ScoreParts {
  double locality = 0;
  double topology = 0;
  double packing = 0;
  double total = 0;
  double proximity = 0;  // to members of the pod's gang; counts only for a pod that is in one
  double failures = 0;   // what total was multiplied by one minus, for pods that could not run there lately
};

// What a node holds of one of the pod's datasets.
struct DatasetShare {
  float coverage = 0;
  CoverageSource source = CoverageSource::kAssumed;  // of a node that holds nothing: without meaning
  core::WallTime observed;                           // epoch: nothing is known of it on this node
};

struct Candidate {
  std::string node;
  ScoreParts parts;
  std::int32_t gpus_free = -1;            // before this pod; -1 for a node that the snapshot doesn't know
  GpuMask gpu_set = 0;                    // the GPUs it would get, 0 if not known; a hint (docs/gpu-topology.md)
  std::vector<MigSlot> mig_slots = {};    // the partitions it would get
  double coverage = 0;                    // of the pod's datasets, fraction of all their bytes held; 0 without datasets
  double load_seconds = 0;                // expected time to load datasets and images there
  double saved_seconds = 0;               // of it, saved over a node that has nothing near
  std::vector<DatasetShare> shares = {};  // by dataset, as in PodRequest::datasets
  std::int32_t score = 0;                 // 0..10 as answered to Prioritize; best first even where equal
};

// What is known of all of a candidate's datasets together: as certain as the least certain share of which anything is
// known, and as old as the oldest; nullopt if nothing is.
std::optional<DatasetShare> together(const Candidate& candidate);

struct Rejection {
  Slot slot = kNoSlot;  // kNoSlot: a node that the snapshot doesn't know
  Reason reason = Reason::kNone;
};

enum class Verb : std::uint8_t { kFilter, kPrioritize };
std::string_view to_string(Verb verb);

struct Decision {
  Verb verb = Verb::kFilter;
  PodRequest pod;
  core::WallTime at;
  std::uint64_t snapshot_version = 0;
  std::chrono::milliseconds snapshot_age{0};
  std::chrono::microseconds took{0};  // policy work, from parsed request to ranked answer
  std::uint32_t attempt = 1;          // scheduling attempts of this pod so far
  std::size_t asked = 0;              // nodes in the request
  std::vector<Candidate> candidates;  // what was answered, best first; at most kKeptCandidates of them are kept
  std::size_t candidate_count = 0;
  std::vector<Rejection> rejected;            // every other node of the request
  std::string winner;                         // empty if there is no candidate
  std::vector<std::string> unknown_datasets;  // of the pod, that exist nowhere: NAMESPACE/NAME
  std::string error;                          // as answered in Error, empty if none
  bool one_node = false;                      // a call for a single node, which never writes the ledger
  std::shared_ptr<const NodeIndex> index;     // names the slots of `rejected`
};
inline constexpr std::size_t kKeptCandidates = 64;

// The last answers about one pod; a pointer is null if that verb was not asked for.
struct PodDecisions {
  std::shared_ptr<const Decision> filter;
  std::shared_ptr<const Decision> prioritize;
};

// What a person is told about a pod's placement: the two answers joined, and names instead of slots.
struct Explanation {
  struct Rejected {
    Reason reason = Reason::kNone;
    std::size_t count = 0;
    std::vector<std::string> nodes;
  };
  std::string pod;  // NAMESPACE/NAME
  std::string uid;
  std::int64_t gpus = 0;
  std::vector<std::string> datasets;          // NAMESPACE/NAME
  std::vector<std::string> unknown_datasets;  // of them, that exist nowhere
  std::vector<std::string> ignored_keys;      // annotations with our prefix that this version does not know
  std::string gang;                           // GangRef::name, empty if the pod is in none
  std::string policy;                         // NAMESPACE/NAME of the SchedulingPolicy that counted, empty if none
  core::WallTime at;
  std::uint32_t attempt = 1;
  std::uint64_t snapshot_version = 0;
  std::chrono::milliseconds snapshot_age{0};
  std::size_t asked = 0;
  std::string winner;
  std::string error;
  bool prioritized = false;  // candidates carry the scores as answered; false: only Filter was asked
  std::size_t candidate_count = 0;
  std::vector<Candidate> candidates;
  std::vector<Rejected> rejected;  // by reason, in the order of Reason
  std::chrono::microseconds filter_took{0};
  std::chrono::microseconds prioritize_took{0};
};
enum class Detail : std::uint8_t { kAll, kCounts };  // kCounts: neither candidates nor the names of rejected nodes
// At least one of the two pointers must be set. A Prioritize older than the Filter is left out.
Explanation explain(const PodDecisions& decisions, Detail detail = Detail::kAll);

}  // namespace berth::model
