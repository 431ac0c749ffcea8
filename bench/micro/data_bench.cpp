// Datasets in the state: a burst of changes, one pod that reads some, and what images of nodes take.
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "made_state.h"
#include "measured.h"

namespace berth::bench {
namespace {

constexpr std::size_t kNodes = 5'000;
constexpr std::size_t kWorkers = 5;  // of a dataset

std::string dataset_name(std::size_t dataset) { return "dataset-" + std::to_string(dataset); }

model::Dataset made_dataset(std::size_t number) {
  model::Dataset made;
  made.ref = {std::string(kNamespace), dataset_name(number)};
  made.uid = "dataset-uid-" + std::to_string(number);
  made.phase = "Bound";
  made.runtime = "alluxio";
  made.total_bytes = std::int64_t{1} << 38;
  made.cached = 0.75;
  return made;
}

// Worker number `worker` of all; kWorkers follow each other for one dataset, spread over the nodes.
model::Pod made_worker(std::size_t worker, bool ready) {
  model::Pod made;
  made.ns = kNamespace;
  made.name = dataset_name(worker / kWorkers) + "-worker-" + std::to_string(worker % kWorkers);
  made.uid = "worker-uid-" + std::to_string(worker);
  made.node = GeneratedCluster::node_name(mixed(worker) % kNodes);
  made.phase = model::PodPhase::kRunning;
  model::CachePod part;
  part.dataset = dataset_name(worker / kWorkers);
  part.ready = ready;
  part.host_ip = "10.0.0." + std::to_string(worker % 250);
  part.started = core::WallTime(std::chrono::seconds(1));
  made.cache = std::move(part);
  return made;
}

// 5,000 nodes with 50,000 pods, and datasets with workers where Fluid is served.
std::unique_ptr<MadeState> with_datasets(std::size_t datasets) {
  auto made = std::make_unique<MadeState>(kNodes);
  made->state.push(model::FluidServed{true});
  model::AllDatasets all;
  for (std::size_t number = 0; number < datasets; ++number) all.datasets.push_back(made_dataset(number));
  made->state.push(std::move(all));
  for (std::size_t worker = 0; worker < datasets * kWorkers; ++worker) {
    made->state.push(model::PodSet{made_worker(worker, true)});
  }
  made->state.step();
  return made;
}

// So many worker pods become ready or cease to be, and one snapshot is published.
void publish_worker_burst(benchmark::State& state) {
  constexpr std::size_t kDatasets = 2'000;
  const auto made = with_datasets(kDatasets);
  const auto changes = static_cast<std::size_t>(state.range(0));
  bool ready = false;
  measure(
      state, {"publish_worker_burst", 1'000},
      [&] {
        for (std::size_t i = 0; i < changes; ++i) {
          made->state.push(model::PodSet{made_worker(i * kDatasets * kWorkers / changes, ready)});
        }
        ready = !ready;
      },
      [&] {
        made->state.step();
        return made->state.snapshots().load()->version;
      });
}

// A pod that reads two datasets is bound, and one snapshot is published.
void publish_reader(benchmark::State& state) {
  const auto datasets = static_cast<std::size_t>(state.range(0));
  const auto made = with_datasets(datasets);
  std::size_t next = 0;
  measure(
      state, {},
      [&] {
        const std::string wanted = dataset_name(next % 2'000) + "," + dataset_name((next + 7) % 2'000);
        model::Pod pod = waiting_pod("reader-" + std::to_string(next), "reader-" + std::to_string(next), 1, wanted);
        pod.node = GeneratedCluster::node_name(mixed(next) % kNodes);
        made->state.push(model::PodSet{std::move(pod)});
        ++next;
      },
      [&] {
        made->state.step();
        return made->state.snapshots().load()->version;
      });
}

// Every node reports its images: 50, of which 20 are everywhere and the others those of few.
void take_images(benchmark::State& state) {
  const GeneratedCluster cluster(kNodes, 0);
  core::SystemClock clock;
  std::unique_ptr<state::ClusterState> with_images;
  double bytes = 0;
  model::AllNodes all;
  measure(
      state, {},
      [&] {
        with_images = std::make_unique<state::ClusterState>(state::StateOptions{}, clock);
        all.nodes.clear();
        for (std::size_t node = 0; node < kNodes; ++node) {
          model::Node made = cluster.node(node);
          for (std::uint64_t image = 0; image < static_cast<std::uint64_t>(state.range(0)); ++image) {
            made.images.push_back({mixed(image < 20 ? image : 20 + mixed(node * 50 + image) % 3'000), 1 << 30});
          }
          std::ranges::sort(made.images, {}, &model::NodeImage::id);
          const auto doubles = std::ranges::unique(made.images, {}, &model::NodeImage::id);
          made.images.erase(doubles.begin(), doubles.end());
          all.nodes.push_back(std::move(made));
        }
        bytes = static_cast<double>(mallinfo2().uordblks);
        with_images->push(std::move(all));
      },
      [&] {
        with_images->step();
        return with_images->snapshots().load()->version;
      });
  state.counters["MiB"] = (static_cast<double>(mallinfo2().uordblks) - bytes) / (1 << 20);
}

void arguments(benchmark::internal::Benchmark* bench) { bench->UseManualTime()->Unit(benchmark::kMillisecond); }

BENCHMARK(publish_worker_burst)->Apply(arguments)->ArgName("changes")->Arg(5'000)->Iterations(20);
BENCHMARK(publish_reader)->Apply(arguments)->ArgName("datasets")->Arg(0)->Arg(2'000)->Iterations(500);
BENCHMARK(take_images)->Apply(arguments)->ArgName("images")->Arg(0)->Arg(50)->Iterations(5);

}  // namespace
}  // namespace berth::bench
