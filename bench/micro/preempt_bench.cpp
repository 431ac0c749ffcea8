// Preempt: 100 candidates of 5,000 nodes, whom to evict on each.
#include <algorithm>

#include "berth/policy/preempt.h"
#include "made_state.h"
#include "measured.h"

namespace berth::bench {
namespace {

constexpr std::size_t kCandidates = 100;

// Nodes on which pods hold GPUs, each with the first of these, as many as free so many GPUs.
std::vector<model::PreemptionCandidate> offered(const MadeState& made, std::int64_t gpus) {
  std::vector<model::PreemptionCandidate> candidates;
  for (const std::string_view name : made.views) {
    const model::NodeState& node = made.snapshot->at(made.snapshot->find(name));
    if (!node.occupants || node.gpus < gpus) continue;
    model::PreemptionCandidate candidate{std::string(name), {}, 0};
    std::int64_t free = node.unused();
    for (const model::Occupant& pod : *node.occupants) {
      if (free >= gpus) break;
      free += pod.gpus;
      candidate.victims.push_back({pod.uid, false, {}, 0, {}});
    }
    if (candidate.victims.empty() || free < gpus) continue;
    candidates.push_back(std::move(candidate));
    if (candidates.size() == kCandidates) break;
  }
  return candidates;
}

void preempt(benchmark::State& state, model::PodRequest pod, model::TopologyPolicy policy) {
  const MadeState& made = made_state(5000, Made::kLabels);
  pod.priority = 1000;
  pod.topology_policy = policy;
  const auto candidates = offered(made, pod.gpus);
  if (candidates.size() < kCandidates) return state.SkipWithError("too few nodes to clear");
  const policy::PreemptionQuery query{*made.snapshot, pod, candidates, made.clock.wall()};
  measure(state, {}, [&] { return policy::decide_preemption(query, {}); });
}

void preempt_eight_gpus_two_datasets(benchmark::State& state) {
  preempt(state, eight_gpus_two_datasets(), model::TopologyPolicy::kBestEffort);
}
void preempt_four_gpus_restricted(benchmark::State& state) {
  model::PodRequest pod = one_gpu();
  pod.gpus = 4;
  preempt(state, pod, model::TopologyPolicy::kRestricted);
}
void preempt_one_gpu(benchmark::State& state) { preempt(state, one_gpu(), model::TopologyPolicy::kBestEffort); }

void repeated(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Repetitions(3)->Iterations(100);
}
BENCHMARK(preempt_eight_gpus_two_datasets)->Apply(repeated);
BENCHMARK(preempt_four_gpus_restricted)->Apply(repeated);
BENCHMARK(preempt_one_gpu)->Apply(repeated);

}  // namespace
}  // namespace berth::bench
