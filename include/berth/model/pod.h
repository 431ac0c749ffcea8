// What Berth keeps of a Kubernetes Pod, and what such a pod asks for.
//
// Thread-safe: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/core/result.h"
#include "berth/model/dataset.h"

namespace berth::model {

inline constexpr std::string_view kAnnotationPrefix = "berth.io/";
// Written, on pods and nodes: when Berth last asked the scheduler to try again.
inline constexpr std::string_view kWakeKey = "wake";
// What follows the prefix in the annotations that Berth reads; docs/api.md lists the same.
std::span<const std::string_view> annotation_keys();

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };

struct Annotation {
  std::string key;
  std::string value;
  friend bool operator==(const Annotation&, const Annotation&) = default;
};

struct Pod {
  std::string ns;  // metadata.namespace
  std::string name;
  std::string uid;
  std::string node;            // spec.nodeName, empty while unbound
  std::string nominated_node;  // status.nominatedNodeName
  std::string scheduler_name;
  PodPhase phase = PodPhase::kPending;
  bool deleting = false;              // metadata.deletionTimestamp is set
  bool gated = false;                 // spec.schedulingGates is not empty
  std::int32_t priority = 0;          // spec.priority
  std::int64_t gpus = 0;              // whole GPUs it holds, counted as kube-scheduler counts a pod's requests
  core::WallTime created;             // metadata.creationTimestamp
  core::WallTime started;             // status.startTime
  std::int64_t deadline_seconds = 0;  // spec.activeDeadlineSeconds, 0 if none
  // The scheduler found no place for it and the message of its PodScheduled condition has a reason of ours.
  bool rejected_by_us = false;
  std::vector<Annotation> annotations;       // those whose key begins with kAnnotationPrefix, by key
  std::vector<std::string> claims;           // persistent volume claims that it mounts, ephemeral ones included
  std::vector<std::string> required_claims;  // of labels fluid.io/dataset.CLAIM.sched: "required"
  std::vector<std::string> datasets_in_use;  // annotation fluid.io/datasets-in-use
  std::vector<std::uint64_t> images;         // image_id() of its containers' images, each once
  std::optional<CachePod> cache;             // a pod of Fluid's own

  friend bool operator==(const Pod&, const Pod&) = default;

  // Kubernetes frees a pod's resources when it has ended, not when its deletion begins.
  [[nodiscard]] bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
};

enum class DatasetPolicy : std::uint8_t { kPreferred, kRequired };
enum class TopologyPolicy : std::uint8_t { kNone, kBestEffort, kRestricted };

// What holds for pods that do not say otherwise: the server's configuration.
struct PodDefaults {
  DatasetPolicy dataset_policy = DatasetPolicy::kPreferred;
  TopologyPolicy topology_policy = TopologyPolicy::kBestEffort;
  std::int64_t min_gpu_memory_mib = 0;    // 0: no minimum
  std::vector<std::string> gpu_products;  // empty: any
};

// A dataset that a pod wants.
struct WantedDataset {
  DatasetRef ref;
  bool required = false;  // by a label of its own; otherwise PodRequest::dataset_policy says
  friend bool operator==(const WantedDataset&, const WantedDataset&) = default;
};

// A pod's demand, read from its resources and annotations.
struct PodRequest {
  std::string ns;
  std::string name;
  std::string uid;
  std::string nominated_node;
  core::WallTime created;
  std::int32_t priority = 0;
  std::int64_t gpus = 0;
  std::vector<WantedDataset> datasets;
  std::vector<std::string> claims;           // not resolved yet: resolve_claims() of snapshot.h
  std::vector<std::string> required_claims;  // of them, by a label of Fluid's
  std::vector<std::uint64_t> images;
  std::chrono::seconds expected_duration{0};  // how long it is likely to run, 0 if nobody said
  DatasetPolicy dataset_policy = DatasetPolicy::kPreferred;
  std::optional<std::chrono::milliseconds> dataset_wait;  // kRequired becomes kPreferred this long after `created`
  std::optional<double> min_coverage;                     // fraction in (0, 1]
  TopologyPolicy topology_policy = TopologyPolicy::kBestEffort;
  std::int64_t min_gpu_memory_mib = 0;
  std::vector<std::string> gpu_products;
  std::vector<std::string> ignored_keys;  // annotations with our prefix that this version does not know
  bool has_key_of_ours = false;           // an annotation with our prefix
  std::optional<core::Error> invalid;     // the first annotation with a value that is not allowed

  // A pod that asks for no GPU and no dataset and carries no key of ours is none of our business. Before claims can be
  // resolved, any claim may be a dataset's.
  [[nodiscard]] bool ours() const { return gpus > 0 || has_key_of_ours || !datasets.empty() || !claims.empty(); }
  [[nodiscard]] bool requires_claim(std::string_view claim) const;
  // Whether a node must hold `dataset` at `now`, dataset-wait counted in.
  [[nodiscard]] bool requires_dataset(const WantedDataset& dataset, core::WallTime now) const;
  [[nodiscard]] bool requires_any_dataset(core::WallTime now) const;
  // A rule of ours that a node may fail on what Berth alone knows.
  [[nodiscard]] bool has_hard_rule(core::WallTime now) const;
};

// Never fails: a bad value lands in PodRequest::invalid, naming key, value and what is allowed.
PodRequest make_request(const Pod& pod, const PodDefaults& defaults);

// The names of configuration and annotations; nullopt if `text` is none of them.
std::optional<DatasetPolicy> parse_dataset_policy(std::string_view text);
std::optional<TopologyPolicy> parse_topology_policy(std::string_view text);
std::string_view to_string(DatasetPolicy policy);
std::string_view to_string(TopologyPolicy policy);
// A quantity ("80Gi"), or an integer in GiB ("80"), as MiB.
core::Result<std::int64_t> parse_gpu_memory(std::string_view text);

}  // namespace berth::model
