// A whole cluster in one file: what `kubectl get nodes,pods,pvc,datasets.data.fluid.io,... -A -o json` prints, a v1
// List of mixed kinds; or a list of one kind, or a single object. ObjectReader::read_cluster_dump() makes it.
//
// Thread-safe: plain values.
#pragma once

#include <cstddef>
#include <vector>

#include "berth/codec/gpu_objects.h"
#include "berth/model/cluster_update.h"

namespace berth::codec {

struct ClusterDump {
  std::vector<model::Node> nodes;
  std::vector<model::Pod> pods;
  std::vector<model::Claim> claims;
  std::vector<model::Dataset> datasets;
  std::vector<model::CacheRuntime> runtimes;
  std::vector<model::DataLoad> data_loads;
  std::vector<model::DisruptionBudget> budgets;
  std::vector<model::SchedulingPolicy> policies;
  std::vector<KoordinatorDevice> devices;
  std::vector<NumaTopology> topologies;
  std::vector<ResourceSlice> slices;
  std::size_t broken = 0;        // objects of which a part could not be read and was passed over
  std::string first_broken_why;  // of them
  bool fluid_served = false;     // a Dataset, or a list of Datasets, was there
  std::size_t skipped = 0;       // objects of other kinds
};

// Tells `sink` that this is all there is: complete lists, pods last, so that what they hold is known when they come.
void push_dump(ClusterDump dump, model::UpdateSink& sink);

}  // namespace berth::codec
