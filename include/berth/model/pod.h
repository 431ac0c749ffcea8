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
#include "berth/model/gpu_parts.h"
#include "berth/model/machine.h"
#include "berth/model/node.h"
#include "berth/model/resources.h"
#include "berth/model/scheduling_policy.h"

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

// A GPU that an annotation of another scheduler gives a pod.
struct DeviceClaim {
  std::string uuid;  // empty: `index` counts
  std::int32_t index = -1;
  std::int64_t mib = 0;    // of its memory; 0: not said
  std::int32_t milli = 0;  // of its time; 0: not said
  TopologySource source = TopologySource::kHami;
  friend bool operator==(const DeviceClaim&, const DeviceClaim&) = default;
};

// A gang that a pod says it belongs to.
struct GangRef {
  std::string name;          // "NAMESPACE/NAME", behind it what kind of name it is; empty: the pod is in none
  std::int32_t members = 0;  // how many pods it has, 0 if nobody said
  friend bool operator==(const GangRef&, const GangRef&) = default;
};

struct Label {
  std::string key;
  std::string value;
  friend bool operator==(const Label&, const Label&) = default;
};

struct Pod {
  std::string ns;  // metadata.namespace
  std::string name;
  std::string uid;
  std::string node;            // spec.nodeName, empty while unbound
  std::string nominated_node;  // status.nominatedNodeName
  std::string scheduler_name;
  PodPhase phase = PodPhase::kPending;
  bool deleting = false;         // metadata.deletionTimestamp is set
  bool gated = false;            // spec.schedulingGates is not empty
  std::int32_t priority = 0;     // spec.priority
  std::int64_t gpus = 0;         // whole GPUs it holds, counted as kube-scheduler counts a pod's requests
  GpuParts parts;                // shares and partitions of GPUs that it holds
  Resources requests = {};       // all it holds of its node, GPUs included, as kube-scheduler counts it
  bool resource_claims = false;  // it asks for devices by ResourceClaims
  GangRef gang;                  // by the labels and owners of docs/configuration.md, "Gangs"
  std::string owner;             // UID of its controller, empty if it has none
  std::string failed_reason;     // status.reason of a failed pod: "UnexpectedAdmissionError"
  // What HAMi or Koordinator wrote that it holds, by UUID or minor; empty if they didn't.
  std::vector<DeviceClaim> devices;
  std::vector<Label> labels;          // by key; kept only for pods that hold GPUs
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

// The closest level of a gang's topology: one node.
inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";
// How strongly a gang's members belong together, and by which of ResourceNames::levels.
struct GangTopology {
  std::string label;  // empty: any level, the closer the better
  bool required = false;
  std::int32_t level = -1;  // index of the label in PodDefaults::gang_levels, and so into Place::levels; -1: a node
  friend bool operator==(const GangTopology&, const GangTopology&) = default;
};

// What holds for pods that do not say otherwise: the server's configuration.
struct PodDefaults {
  DatasetPolicy dataset_policy = DatasetPolicy::kPreferred;
  TopologyPolicy topology_policy = TopologyPolicy::kBestEffort;
  std::int64_t min_gpu_memory_mib = 0;    // 0: no minimum
  std::vector<std::string> gpu_products;  // empty: any
  Weights weights = {};
  WeightBounds weight_bounds = {};
  std::vector<std::string> gang_levels = ResourceNames{}.levels;
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
  std::int64_t gpus = 0;  // whole
  GpuParts parts;
  Resources requests = {};  // as Pod::requests
  bool resource_claims = false;
  GangRef gang;
  GangTopology gang_topology;
  std::string owner;
  std::string policy_name;  // annotation scheduling-policy; empty: the namespace's policy "default", if there is one
  PolicyTerms given;        // by its annotations
  std::string policy;       // name of the SchedulingPolicy that counted, empty if none; with weights: apply_policy()
  model::Weights weights;
  std::vector<WantedDataset> datasets;
  std::vector<std::string> claims;           // not resolved yet: resolve_claims() of snapshot.h
  std::vector<std::string> required_claims;  // of them, by a label of Fluid's
  std::vector<std::uint64_t> images;
  std::chrono::seconds expected_duration{0};  // how long it is likely to run, 0 if nobody said
  core::WallTime saved;                       // when it last saved its work, epoch if it didn't say
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
  [[nodiscard]] bool ours() const {
    return gpus > 0 || parts.any() || has_key_of_ours || !datasets.empty() || !claims.empty();
  }
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
