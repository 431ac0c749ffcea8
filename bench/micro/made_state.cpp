#include "made_state.h"

#include <map>
#include <utility>

namespace berth::bench {
namespace {

constexpr std::size_t kPodsPerNode = 10;

}  // namespace

MadeState::MadeState(std::size_t nodes, bool empty) : cluster(nodes, kPodsPerNode), state({}, clock) {
  model::AllNodes all_nodes;
  for (std::size_t node = 0; node < cluster.nodes(); ++node) all_nodes.nodes.push_back(cluster.node(node));
  state.push(std::move(all_nodes));
  model::AllPods all_pods;
  for (std::size_t pod = 0; !empty && pod < cluster.pods(); ++pod) all_pods.pods.push_back(cluster.pod(pod));
  state.push(std::move(all_pods));
  state.step();
  snapshot = state.snapshots().load();
  // The scheduler begins its list where it stopped for the pod before.
  for (std::size_t i = 0; i < nodes; ++i) names.push_back(GeneratedCluster::node_name((i + nodes / 3) % nodes));
  views.assign(names.begin(), names.end());
}

MadeState& made_state(std::size_t nodes, bool empty) {
  static std::map<std::pair<std::size_t, bool>, std::unique_ptr<MadeState>> all;
  auto& made = all[{nodes, empty}];
  if (!made) made = std::make_unique<MadeState>(nodes, empty);
  return *made;
}

model::PodRequest eight_gpus_two_datasets() {
  return model::make_request(waiting_pod("train-8", "00000000-0000-0000-0000-000000000008", 8, kDatasets), {});
}

model::PodRequest one_gpu() {
  return model::make_request(waiting_pod("train-1", "00000000-0000-0000-0000-000000000001", 1, ""), {});
}

}  // namespace berth::bench
