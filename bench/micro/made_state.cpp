#include "made_state.h"

#include <map>
#include <utility>

#include "generated_datasets.h"

namespace berth::bench {
namespace {

constexpr std::size_t kPodsPerNode = 10;

constexpr std::size_t kDatasetCount = 2000;
constexpr std::size_t kNodesPerClique = 18;
constexpr std::size_t kNodesPerRack = 40;
constexpr std::size_t kNodesPerZone = 1280;

void place(model::Node& node, std::size_t number) {
  node.rack = "rack-" + std::to_string(number / kNodesPerRack);
  node.zone = "zone-" + std::to_string(number / kNodesPerZone);
  node.levels = {"clique-" + std::to_string(number / kNodesPerClique), node.rack, node.zone};
  for (std::uint64_t image = 1; image <= 20; ++image) node.images.push_back({image, 8'000'000'000});
  if (number % 2 == 0) node.images.push_back({common_image(), 12'000'000'000});
}

// Two shares on each node that has room.
void share(std::vector<model::Pod>& pods, const GeneratedCluster& cluster) {
  for (std::size_t node = 0; node < cluster.nodes(); ++node) {
    for (const char* name : {"share-a-", "share-b-"}) {
      model::Pod& pod = pods.emplace_back();
      pod.ns = "serving";
      pod.name = name + std::to_string(node);
      pod.uid = pod.name;
      pod.node = GeneratedCluster::node_name(node);
      pod.phase = model::PodPhase::kRunning;
      pod.parts = {.gpus = 1, .mib = 4'096 + 1'024 * static_cast<std::int64_t>(node % 8), .milli = 200};
    }
  }
}

model::AllPods pods_of(const GeneratedCluster& cluster, const GeneratedDatasets* datasets) {
  model::AllPods all;
  for (std::size_t pod = 0; pod < cluster.pods(); ++pod) {
    all.pods.push_back(cluster.pod(pod));
    if (datasets == nullptr || pod % cluster.pods_per_node() > 1) continue;
    const bool wanted = pod / cluster.pods_per_node() % 50 == 0;
    const std::string read = wanted ? "imagenet-0" : "corpus-" + std::to_string(2 + mixed(pod) % (kDatasetCount - 2));
    all.pods.back().annotations = {{"berth.io/datasets", read}};
  }
  for (std::size_t worker = 0; datasets != nullptr && worker < datasets->workers(); ++worker) {
    all.pods.push_back(datasets->worker(worker));
  }
  return all;
}

}  // namespace

MadeState::MadeState(std::size_t nodes, Made what)
    : cluster(nodes, kPodsPerNode, what == Made::kLabels || what == Made::kEmpty), state({}, clock) {
  std::unique_ptr<GeneratedDatasets> datasets;
  if (what == Made::kFluid) datasets = std::make_unique<GeneratedDatasets>(nodes, kDatasetCount);
  model::AllNodes all_nodes;
  for (std::size_t node = 0; node < cluster.nodes(); ++node) {
    all_nodes.nodes.push_back(cluster.node(node));
    if (datasets) place(all_nodes.nodes.back(), node);
  }
  state.push(std::move(all_nodes));
  if (datasets) {
    model::AllDatasets all;
    for (std::size_t dataset = 0; dataset < datasets->datasets(); ++dataset) {
      all.datasets.push_back(datasets->dataset(dataset));
    }
    state.push(model::FluidServed{true});
    state.push(std::move(all));
  }
  model::AllPods pods = what == Made::kEmpty ? model::AllPods{} : pods_of(cluster, datasets.get());
  if (what == Made::kShared) share(pods.pods, cluster);
  state.push(std::move(pods));
  state.push(model::DataListed{});
  state.step();
  snapshot = state.snapshots().load();
  // The scheduler begins its list where it stopped for the pod before.
  for (std::size_t i = 0; i < nodes; ++i) names.push_back(GeneratedCluster::node_name((i + nodes / 3) % nodes));
  views.assign(names.begin(), names.end());
}

MadeState& made_state(std::size_t nodes, Made what) {
  static std::map<std::pair<std::size_t, Made>, std::unique_ptr<MadeState>> all;
  auto& made = all[{nodes, what}];
  if (!made) made = std::make_unique<MadeState>(nodes, what);
  return *made;
}

model::PodRequest eight_gpus_two_datasets() {
  return model::make_request(waiting_pod("train-8", "00000000-0000-0000-0000-000000000008", 8, kDatasets), {});
}

model::PodRequest eight_gpus() {
  return model::make_request(waiting_pod("train-0", "00000000-0000-0000-0000-000000000000", 8, ""), {});
}

model::PodRequest one_gpu() {
  return model::make_request(waiting_pod("train-1", "00000000-0000-0000-0000-000000000001", 1, ""), {});
}

model::PodRequest shared_gpu() {
  model::Pod pod = waiting_pod("serve-1", "00000000-0000-0000-0000-000000000002", 0, "");
  pod.parts = {.gpus = 1, .mib = 8'192, .milli = 250};
  return model::make_request(pod, {});
}

std::uint64_t common_image() { return 4711; }

}  // namespace berth::bench
