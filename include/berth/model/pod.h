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

namespace berth::model {

inline constexpr std::string_view kAnnotationPrefix = "berth.io/";
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
  bool deleting = false;                // metadata.deletionTimestamp is set
  bool gated = false;                   // spec.schedulingGates is not empty
  std::int32_t priority = 0;            // spec.priority
  std::int64_t gpus = 0;                // whole GPUs it holds, counted as kube-scheduler counts a pod's requests
  core::WallTime created;               // metadata.creationTimestamp
  std::vector<Annotation> annotations;  // those whose key begins with kAnnotationPrefix, by key

  friend bool operator==(const Pod&, const Pod&) = default;

  // Kubernetes frees a pod's resources when it has ended, not when its deletion begins.
  [[nodiscard]] bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
};

struct DatasetRef {
  std::string ns;
  std::string name;
  // The node label that Fluid sets where a worker of the dataset is assigned: "fluid.io/s-<ns>-<name>".
  [[nodiscard]] std::string label() const { return "fluid.io/s-" + ns + "-" + name; }
  [[nodiscard]] std::string to_string() const { return ns + "/" + name; }
  friend bool operator==(const DatasetRef&, const DatasetRef&) = default;
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

// A pod's demand, read from its resources and annotations.
struct PodRequest {
  std::string ns;
  std::string name;
  std::string uid;
  std::string nominated_node;
  core::WallTime created;
  std::int32_t priority = 0;
  std::int64_t gpus = 0;
  std::vector<DatasetRef> datasets;
  DatasetPolicy dataset_policy = DatasetPolicy::kPreferred;
  std::optional<std::chrono::milliseconds> dataset_wait;  // kRequired becomes kPreferred this long after `created`
  std::optional<double> min_coverage;                     // fraction in (0, 1]
  TopologyPolicy topology_policy = TopologyPolicy::kBestEffort;
  std::int64_t min_gpu_memory_mib = 0;
  std::vector<std::string> gpu_products;
  std::vector<std::string> ignored_keys;  // annotations with our prefix that this version does not know
  bool has_key_of_ours = false;           // an annotation with our prefix
  std::optional<core::Error> invalid;     // the first annotation with a value that is not allowed

  // A pod that asks for no GPU and no dataset and carries no key of ours is none of our business.
  [[nodiscard]] bool ours() const { return gpus > 0 || has_key_of_ours; }
  // The dataset policy at `now`, dataset-wait counted in.
  [[nodiscard]] DatasetPolicy dataset_policy_at(core::WallTime now) const;
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
