// Fluid's objects as Berth keeps them, and how a figure of coverage came to be.
//
// Fields and label keys: api/v1alpha1 and pkg/ddc/base/label.go of fluid-cloudnative/fluid, 0.9 to 1.0.8.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/core/clock.h"

namespace berth::model {

struct DatasetRef {
  std::string ns;
  std::string name;
  [[nodiscard]] std::string to_string() const { return ns + "/" + name; }
  friend bool operator==(const DatasetRef&, const DatasetRef&) = default;
};

// "NAME" of the namespace `ns`, or "NAMESPACE/NAME"; nullopt if a part can't be a Kubernetes name (RFC 1123).
std::optional<DatasetRef> parse_dataset_ref(std::string_view text, std::string_view ns);

// Keys of the node labels that Fluid sets for a dataset. They are generated and looked up, never parsed: "s-a-b-c" may
// be dataset b-c of namespace a or c of a-b. A key of 63 characters or more has the dataset's UID in place of its names
// (Fluid 1.0.5; earlier versions could not set such a label).
std::string worker_label(const DatasetRef& dataset,
                         std::string_view uid);  // "fluid.io/s-NS-NAME": a worker is assigned
std::string runtime_label(const DatasetRef& dataset, std::string_view uid,
                          std::string_view runtime);  // "…s-alluxio-NS-NAME"
std::string fuse_label(const DatasetRef& dataset,
                       std::string_view uid);  // "fluid.io/f-NS-NAME": a client is or was there

// A Dataset of data.fluid.io.
struct Dataset {
  DatasetRef ref;
  std::string uid;
  std::string phase;             // status.phase, "Bound" when usable
  std::string runtime;           // status.runtimes[0].type, "alluxio"; empty if not bound yet
  std::int64_t total_bytes = 0;  // status.ufsTotal; 0 while Fluid has not worked it out
  // status.cacheStates.cachedPercentage as a fraction, at most 1. Absent, empty and 0 are the same: reports of 0 with
  // a full cache are common (juicefs#4201, fluid#1827).
  std::optional<double> cached;
  DatasetRef physical;  // the dataset that a reference dataset ("dataset://ns/name") stands for; empty name: none

  friend bool operator==(const Dataset&, const Dataset&) = default;
  // Fluid serves it: workers of a dataset in another phase count for nothing.
  [[nodiscard]] bool bound() const { return phase == "Bound" || phase == "Updating" || phase == "DataMigrating"; }
};

// A persistent volume claim behind which a dataset stands. Others have an empty dataset name.
struct Claim {
  std::string ns;
  std::string name;
  DatasetRef dataset;
  friend bool operator==(const Claim&, const Claim&) = default;
};

// A runtime (AlluxioRuntime and so on); it has the namespace and name of its dataset.
struct CacheRuntime {
  DatasetRef dataset;
  std::string type;               // as in labels: "alluxio", "juicefs", "jindo", "goosefs", "efc", "thin", "vineyard"
  std::int32_t workers = 0;       // wanted, spec.replicas
  std::int64_t worker_bytes = 0;  // that a worker may cache: sum of spec.tieredstore quotas; 0 if it says none
  friend bool operator==(const CacheRuntime&, const CacheRuntime&) = default;
};

// A DataLoad: an order to warm a dataset.
struct DataLoad {
  std::string ns;
  std::string name;
  DatasetRef dataset;
  bool running = false;  // phase Executing: coverage is about to rise
  friend bool operator==(const DataLoad&, const DataLoad&) = default;
};

enum class CacheRole : std::uint8_t { kWorker, kMaster, kFuse };

// The part that a pod of Fluid's plays in a dataset's cache; the dataset is in the pod's namespace.
struct CachePod {
  CacheRole role = CacheRole::kWorker;
  std::string dataset;         // its name
  bool ready = false;          // condition Ready
  bool own_cache = false;      // a FUSE client that keeps a cache of its own (JuiceFS community edition)
  std::string host_ip;         // status.hostIP: as what Alluxio's master knows its workers
  std::string pod_ip;          // status.podIP
  std::uint16_t web_port = 0;  // of an Alluxio master, container port "web"; 0 if it has none
  core::WallTime started;      // status.startTime, epoch if not started
  friend bool operator==(const CachePod&, const CachePod&) = default;
};

// Where a figure of coverage comes from, best first.
enum class CoverageSource : std::uint8_t {
  kMeasured,   // bytes that the Alluxio master reports of the worker, over the dataset's bytes
  kUniform,    // cachedPercentage of the Dataset, spread evenly over its ready workers
  kAssumed,    // a ready worker of which nothing is known: the prior of the configuration
  kNewWorker,  // a worker that came after the last figure: it holds nothing yet
  kLabel,      // a node label without a worker pod
  kFuse,       // a client of the dataset is or was there
};
std::string_view to_string(CoverageSource source);  // "measured", "uniform", "assumed", "new-worker", "label", "fuse"

// How old a figure is: "0s", "119s", "2m", "3h", "2d". Never negative: clocks of two machines differ.
std::string age_text(core::WallTime observed, core::WallTime now);

}  // namespace berth::model
