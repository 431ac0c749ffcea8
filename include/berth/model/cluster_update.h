// What sources tell about the cluster, and whom they tell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/dataset.h"
#include "berth/model/disruption_budget.h"
#include "berth/model/machine.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"
#include "berth/model/scheduling_policy.h"

namespace berth::model {

struct NodeSet {
  Node node;
};
struct NodeGone {
  std::string name;
};
struct PodSet {
  Pod pod;
};
struct PodGone {
  std::string ns;
  std::string name;
  std::string uid;
};
// A complete list: what is not in it no longer exists.
struct AllNodes {
  std::vector<Node> nodes;
};
struct AllPods {
  std::vector<Pod> pods;
};

struct DatasetSet {
  Dataset dataset;
};
struct DatasetGone {
  DatasetRef ref;
};
struct AllDatasets {
  std::vector<Dataset> datasets;
};
// Claims without a dataset behind them may be left out.
struct ClaimSet {
  Claim claim;
};
struct ClaimGone {
  std::string ns;
  std::string name;
};
struct AllClaims {
  std::vector<Claim> claims;
};
struct RuntimeSet {
  CacheRuntime runtime;
};
struct RuntimeGone {
  DatasetRef dataset;
  std::string type;
};
// Of one type.
struct AllRuntimes {
  std::string type;
  std::vector<CacheRuntime> runtimes;
};
struct DataLoadSet {
  DataLoad load;
};
struct DataLoadGone {
  std::string ns;
  std::string name;
};
struct AllDataLoads {
  std::vector<DataLoad> loads;
};
// What an Alluxio master said of its workers.
struct WorkerBytes {
  std::string host;        // as the worker registered: the node's IP, else the pod's, else a name
  std::int64_t bytes = 0;  // cached there
  friend bool operator==(const WorkerBytes&, const WorkerBytes&) = default;
};
struct Measured {
  DatasetRef dataset;
  std::vector<WorkerBytes> workers;
  core::WallTime at;  // when it was asked
};
// Whether datasets can be seen at all. Where Fluid's API is not served, node labels are all that tells of datasets.
struct FluidServed {
  bool served = false;
};
// What one source tells of one node's GPUs; `machine->source` says which. Node objects carry what they tell themselves.
struct MachineSet {
  std::string node;
  std::shared_ptr<const Machine> machine;
};
struct MachineGone {
  std::string node;
  TopologySource source = TopologySource::kLabels;
};
// Of one source.
struct AllMachines {
  TopologySource source = TopologySource::kLabels;
  std::vector<MachineSet> machines;
};

struct PolicySet {
  SchedulingPolicy policy;
};
struct PolicyGone {
  std::string ns;
  std::string name;
};
struct AllPolicies {
  std::vector<SchedulingPolicy> policies;
};

// A PodDisruptionBudget.
struct BudgetSet {
  DisruptionBudget budget;
};
struct BudgetGone {
  std::string ns;
  std::string name;
};
struct AllBudgets {
  std::vector<DisruptionBudget> budgets;
};

// GPUs promised to a pod by Bind, before the API server is asked; and that the promise is off.
struct Reserved {
  std::string uid;
  std::string node;
  std::int32_t gpus = 0;
  GpuParts parts;
  GpuPlacement placement;
  std::int32_t priority = 0;
  GangRef gang;
};
struct Unreserved {
  std::string uid;
};
// A pod could not run where it was sent: the API server refused its binding, or kubelet the pod.
struct PlacementFailed {
  std::string node;
  std::string owner;  // empty if the pod has none
};

// All that is to be known of datasets and claims at the start has been pushed, or will not come soon.
struct DataListed {};

using ClusterUpdate =
    std::variant<NodeSet, NodeGone, PodSet, PodGone, AllNodes, AllPods, DatasetSet, DatasetGone, AllDatasets, ClaimSet,
                 ClaimGone, AllClaims, RuntimeSet, RuntimeGone, AllRuntimes, DataLoadSet, DataLoadGone, AllDataLoads,
                 Measured, FluidServed, DataListed, MachineSet, MachineGone, AllMachines, PolicySet, PolicyGone,
                 AllPolicies, BudgetSet, BudgetGone, AllBudgets, Reserved, Unreserved, PlacementFailed>;

class UpdateSink {
 public:
  virtual ~UpdateSink() = default;
  // Thread-safe; returns at once. Updates of one kind must come in the order in which they happened.
  virtual void push(ClusterUpdate update) = 0;
};

}  // namespace berth::model
