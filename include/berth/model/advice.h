// Advice for a job before it is submitted: where it should run, and where warming a dataset would let it start soonest.
//
// Thread-safe: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/dataset.h"
#include "berth/model/decision.h"
#include "berth/model/reason.h"

namespace berth::model {

struct AdvisedNode {
  Candidate candidate;
  std::string slurm_name;   // label berth.io/slurm-node, else the node's name
  bool fits = false;        // enough GPUs are free now
  std::int32_t weight = 1;  // of its term in a node affinity, from 100 for the best down to 1
};

// Why it is not known when GPUs of a node will be free.
enum class StartUnknown : std::uint8_t {
  kNone,
  kNobodySays,  // what runs there has neither a deadline nor an expected duration
  kOverdue,     // the end that a pod there stated has passed
  kPromised,    // to pods that are not bound yet
};

// A node on which the job could run once the dataset is warm.
struct WarmNode {
  std::string node;
  std::string slurm_name;
  std::int32_t gpus_free = 0;                        // neither held nor promised
  std::optional<std::chrono::seconds> starts_in;     // until enough GPUs are free; nullopt: not known
  StartUnknown unknown = StartUnknown::kNobodySays;  // why not
  bool worker = false;                               // a ready worker of the dataset is there
  DatasetShare share;                                // what the node holds of it already
};

// An order to warm a dataset, as Fluid takes it.
struct LoadOrder {
  DatasetRef dataset;  // physical
  std::string name;    // of the DataLoad, in the dataset's namespace
  std::int32_t copies = 1;
};

struct WarmAdvice {
  DatasetRef dataset;  // physical; as asked for if it does not exist
  bool exists = false;
  bool bound = false;  // Fluid serves it
  std::string runtime;
  std::int32_t ready_workers = 0;
  bool loading = false;
  std::size_t node_count = 0;     // nodes that could ever run the job
  std::vector<WarmNode> nodes;    // soonest first, unknown last
  bool worker_near = false;       // one of `nodes` whose time is known has a ready worker
  std::optional<LoadOrder> load;  // nullopt: Fluid can't load this dataset
};

struct Recommendation {
  core::WallTime at;
  std::uint64_t snapshot_version = 0;
  std::int64_t gpus = 0;
  std::vector<std::string> datasets;          // NAMESPACE/NAME
  std::vector<std::string> unknown_datasets;  // of them, that exist nowhere
  std::vector<std::string> ignored_keys;      // annotations with our prefix that this version does not know
  Reason reason = Reason::kNone;              // DATASET_UNKNOWN or DATASET_NOT_CACHED, else none
  bool required = false;                      // the nodes must hold the datasets
  std::size_t warm_nodes = 0;                 // nodes of the cluster that hold at least one of the datasets
  std::size_t candidate_count = 0;
  std::vector<AdvisedNode> nodes;               // best first
  std::vector<Explanation::Rejected> rejected;  // counts by reason, without names
  std::string slurm_node_list;                  // of `nodes` that fit now, of all of them if none does
  std::optional<WarmAdvice> warm;
};

}  // namespace berth::model
