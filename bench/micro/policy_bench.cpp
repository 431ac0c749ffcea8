// Policy work alone: from parsed request to ranked answer.
#include "berth/policy/decide.h"
#include "made_state.h"
#include "measured.h"

namespace berth::bench {
namespace {

enum PodKind : std::int64_t { kEightGpus, kOneGpu };

constexpr double kBoundMs = 1;  // P99 at 5,000 nodes
constexpr int kRepetitions = 5;

model::PodRequest pod_of(benchmark::State& state) {
  return state.range(0) == kEightGpus ? eight_gpus_two_datasets() : one_gpu();
}

Bound bound_of(benchmark::State& state, const std::string& what) {
  const auto nodes = state.range(1);
  const std::string pod = state.range(0) == kEightGpus ? "8-GPU pod with two datasets" : "1-GPU pod";
  return {what + ", " + pod + ", " + std::to_string(nodes) + " nodes", nodes == 5000 ? kBoundMs : 0};
}

void filter(benchmark::State& state, const MadeState& made, std::uint32_t attempt, const std::string& what) {
  const model::PodRequest pod = pod_of(state);
  const policy::Query query{*made.snapshot, pod, made.views, attempt, made.clock.wall()};
  measure(state, bound_of(state, what), [&] { return policy::decide_filter(query, {}); });
}

std::size_t nodes_of(benchmark::State& state) { return static_cast<std::size_t>(state.range(1)); }

void decide_filter(benchmark::State& state) { filter(state, made_state(nodes_of(state)), 1, "decide_filter"); }
// From its third attempt on, a pod's Filter hands on every node that fits.
void decide_filter_wide(benchmark::State& state) {
  filter(state, made_state(nodes_of(state)), 3, "decide_filter, not narrowed");
}
// Every node fits and is scored.
void decide_filter_empty(benchmark::State& state) {
  filter(state, made_state(nodes_of(state), Made::kEmpty), 1, "decide_filter, empty cluster");
}

// What 2,000 datasets cost: the pod with two of them and an image, and the pod with none, against the same pods without
// data where there is no dataset.
void decide_filter_2000_datasets(benchmark::State& state) {
  const MadeState& made = made_state(nodes_of(state), Made::kFluid);
  model::PodRequest pod = pod_of(state);
  if (!pod.datasets.empty()) pod.images = {common_image()};
  const policy::Query query{*made.snapshot, pod, made.views, 1, made.clock.wall()};
  measure(state, bound_of(state, "decide_filter, 2,000 datasets"), [&] { return policy::decide_filter(query, {}); });
}
void decide_filter_no_datasets(benchmark::State& state) {
  const MadeState& made = made_state(nodes_of(state), Made::kPlain);
  const model::PodRequest pod = state.range(0) == kEightGpus ? eight_gpus() : one_gpu();
  const policy::Query query{*made.snapshot, pod, made.views, 1, made.clock.wall()};
  measure(state, {}, [&] { return policy::decide_filter(query, {}); });
}

// A share of a GPU, where none is shared yet and where two shares are on each node.
void decide_filter_share(benchmark::State& state) {
  const Made what = state.range(0) == 0 ? Made::kPlain : Made::kShared;
  const MadeState& made = made_state(nodes_of(state), what);
  const model::PodRequest pod = shared_gpu();
  const policy::Query query{*made.snapshot, pod, made.views, 1, made.clock.wall()};
  const std::string on = what == Made::kPlain ? "none shared" : "two shares a node";
  const auto nodes = state.range(1);
  const Bound bound{"decide_filter, shared pod, " + on + ", " + std::to_string(nodes) + " nodes",
                    nodes == 5000 ? kBoundMs : 0};
  measure(state, bound, [&] { return policy::decide_filter(query, {}); });
}

// A member of a gang of 16 that has no place yet: room is counted everywhere.
void decide_filter_gang(benchmark::State& state) {
  const MadeState& made = made_state(nodes_of(state), Made::kFluid);
  model::PodRequest pod = state.range(0) == kEightGpus ? eight_gpus() : one_gpu();
  pod.gang = {"bench/gang job", 16};
  const policy::Query query{*made.snapshot, pod, made.views, 1, made.clock.wall()};
  measure(state, bound_of(state, "decide_filter, gang of 16"), [&] { return policy::decide_filter(query, {}); });
}

void decide_prioritize(benchmark::State& state) {
  const MadeState& made = made_state(static_cast<std::size_t>(state.range(1)));
  const model::PodRequest pod = pod_of(state);
  const policy::Query query{*made.snapshot, pod, made.views, 1, made.clock.wall()};
  measure(state, bound_of(state, "decide_prioritize"), [&] { return policy::decide_prioritize(query, {}); });
}

void arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"pod", "nodes"})->UseManualTime()->Unit(benchmark::kMillisecond)->Repetitions(kRepetitions);
}
void at_5000(benchmark::internal::Benchmark* bench) {
  arguments(bench);
  bench->Args({kEightGpus, 5000})->Args({kOneGpu, 5000})->Iterations(1000);
}
void at_5000_shared(benchmark::internal::Benchmark* bench) {
  arguments(bench);
  bench->Args({0, 5000})->Args({1, 5000})->Iterations(1000);
}
void at_50000(benchmark::internal::Benchmark* bench) {
  arguments(bench);
  bench->Args({kEightGpus, 50000})->Args({kOneGpu, 50000})->Iterations(100);
}

BENCHMARK(decide_filter)->Apply(at_5000);
BENCHMARK(decide_filter_wide)->Apply(at_5000);
BENCHMARK(decide_filter_empty)->Apply(at_5000);
BENCHMARK(decide_filter_2000_datasets)->Apply(at_5000);
BENCHMARK(decide_filter_gang)->Apply(at_5000);
BENCHMARK(decide_filter_no_datasets)->Apply(at_5000);
BENCHMARK(decide_prioritize)->Apply(at_5000);
BENCHMARK(decide_filter_share)->Apply(at_5000_shared);
BENCHMARK(decide_filter)->Apply(at_50000);
BENCHMARK(decide_filter_wide)->Apply(at_50000);
BENCHMARK(decide_prioritize)->Apply(at_50000);

}  // namespace
}  // namespace berth::bench
