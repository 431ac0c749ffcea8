// Names to slots, and from an update to the snapshot that holds it, without the threads in between.
#include <utility>

#include "made_state.h"
#include "measured.h"

namespace berth::bench {
namespace {

void find_all_names(benchmark::State& state) {
  const MadeState& made = made_state(static_cast<std::size_t>(state.range(0)));
  measure(state, {}, [&] {
    std::size_t sum = 0;
    for (const std::string_view name : made.views) sum += made.snapshot->find(name);
    return sum;
  });
}

void build_index(benchmark::State& state) {
  const MadeState& made = made_state(static_cast<std::size_t>(state.range(0)));
  std::vector<std::string> names;
  measure(state, {}, [&] { names = made.names; }, [&] { return model::NodeIndex(std::move(names)).nodes(); });
}

// `updates` pods begin or end, each on a node of its own, and one snapshot is published.
void publish_pods(benchmark::State& state) {
  MadeState& made = made_state(static_cast<std::size_t>(state.range(0)));
  const std::size_t pods_per_node = made.cluster.pods_per_node();
  const auto updates = static_cast<std::size_t>(state.range(1));
  std::size_t node = 0;
  std::vector<std::pair<model::Pod, bool>> changes;
  measure(
      state, {},
      [&] {
        for (std::size_t i = 0; i < updates; ++i) {
          node = (node + 101) % made.cluster.nodes();
          model::Pod pod = made.cluster.pod(node * pods_per_node);
          pod.gpus = static_cast<std::int64_t>(made.snapshot->version + node) % 8 + 1;
          pod.phase = (node + made.state.counters().publications) % 2 == 0 ? model::PodPhase::kSucceeded
                                                                           : model::PodPhase::kRunning;
          made.state.push(model::PodSet{std::move(pod)});
        }
      },
      [&] {
        made.state.step();
        return made.state.snapshots().load()->version;
      });
}

// A winner's soft ledger entry while `entries` others stand.
void publish_soft_entry(benchmark::State& state) {
  MadeState made(5000);
  std::size_t next = 0;
  const auto post = [&] {
    made.state.post({"uid-" + std::to_string(next), made.names[next % made.names.size()], 1, 0});
    ++next;
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) post();
  made.state.step();
  measure(state, {}, post, [&] {
    made.state.step();
    return made.state.snapshots().load()->version;
  });
}

void arguments(benchmark::internal::Benchmark* bench) { bench->UseManualTime()->Unit(benchmark::kMillisecond); }

BENCHMARK(find_all_names)->Apply(arguments)->ArgName("nodes")->Arg(5000)->Iterations(1000);
BENCHMARK(find_all_names)->Apply(arguments)->ArgName("nodes")->Arg(50000)->Iterations(100);
BENCHMARK(build_index)->Apply(arguments)->ArgName("nodes")->Arg(5000)->Arg(50000)->Iterations(100);
BENCHMARK(publish_pods)
    ->Apply(arguments)
    ->ArgNames({"nodes", "updates"})
    ->Args({5000, 1})
    ->Args({5000, 10})
    ->Args({50000, 1})
    ->Args({50000, 10})
    ->Iterations(500);
BENCHMARK(publish_soft_entry)->Apply(arguments)->ArgName("entries")->Arg(100)->Arg(1500)->Iterations(300);

}  // namespace
}  // namespace berth::bench
