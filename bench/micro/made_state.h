// A generated cluster as `state` sees it. Kept: every size is built once.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/pod.h"
#include "berth/state/cluster_state.h"
#include "generated_cluster.h"

namespace berth::bench {

struct MadeState {
  // `empty`: without pods.
  explicit MadeState(std::size_t nodes, bool empty = false);

  GeneratedCluster cluster;
  core::SystemClock clock;
  state::ClusterState state;
  std::shared_ptr<const model::Snapshot> snapshot;  // with all nodes and pods
  std::vector<std::string> names;                   // in the rotated order of kube-scheduler, not ascending
  std::vector<std::string_view> views;
};

MadeState& made_state(std::size_t nodes, bool empty = false);

// A pod with eight GPUs and two datasets, or with one GPU and none.
model::PodRequest eight_gpus_two_datasets();
model::PodRequest one_gpu();

}  // namespace berth::bench
