// A generated cluster as `state` sees it. Kept: every size is built once.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/pod.h"
#include "berth/state/cluster_state.h"
#include "generated_cluster.h"

namespace berth::bench {

// What is on the nodes.
enum class Made : std::uint8_t {
  kLabels,  // pods, and datasets that labels tell of
  kEmpty,   // no pods, the same labels
  kPlain,   // pods, no dataset anywhere
  kShared,  // pods, and two shares on each node
  kFluid,   // pods of which some read, 2,000 datasets with their workers; racks, zones and images
};

struct MadeState {
  explicit MadeState(std::size_t nodes, Made what = Made::kLabels);

  GeneratedCluster cluster;
  core::SystemClock clock;
  state::ClusterState state;
  std::shared_ptr<const model::Snapshot> snapshot;  // with all nodes and pods
  std::vector<std::string> names;                   // in the rotated order of kube-scheduler, not ascending
  std::vector<std::string_view> views;
};

MadeState& made_state(std::size_t nodes, Made what = Made::kLabels);

// A pod with eight GPUs and two datasets, with as many and none, with one GPU and none, and with a share of one.
model::PodRequest eight_gpus_two_datasets();
model::PodRequest eight_gpus();
model::PodRequest one_gpu();
model::PodRequest shared_gpu();
// An image that every other node of Made::kFluid has.
std::uint64_t common_image();

}  // namespace berth::bench
