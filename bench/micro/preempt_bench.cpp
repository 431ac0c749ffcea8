// Preempt: 100 candidates, whom to evict on each.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "berth/policy/preempt.h"
#include "made_state.h"
#include "measured.h"

namespace berth::bench {
namespace {

constexpr std::size_t kCandidates = 100;

// Of 5,000 nodes: on which pods hold GPUs, each with the first of these, as many as free so many GPUs.
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

// Nodes of 16 GPUs on four boards in a row, each GPU linked to those of its board and to its like on the next boards,
// and held by a pod of its own. The scheduler would clear the first and the third board, between which there is no
// link.
struct FullNodes {
  model::Snapshot snapshot;
  std::vector<model::PreemptionCandidate> offered;
};

std::shared_ptr<const model::Machine> four_boards() {
  model::Machine machine;
  machine.gpus.resize(16);
  machine.links = model::LinkMatrix::uniform(16, model::Link::kSys);
  for (int a = 0; a < 16; ++a) {
    for (int b = a + 1; b < 16; ++b) {
      if (a / 4 == b / 4) machine.links->set(a, b, model::nvlink(2));
      if (b == a + 4) machine.links->set(a, b, model::nvlink(1));
    }
  }
  return std::make_shared<const model::Machine>(std::move(machine));
}

FullNodes full_nodes(int controllers, core::WallTime now) {
  FullNodes made;
  std::vector<std::string> names;
  std::array<std::shared_ptr<model::NodeBlock>, kCandidates / 64 + 1> blocks;
  for (auto& block : blocks) made.snapshot.blocks.push_back(block = std::make_shared<model::NodeBlock>());
  const auto machine = four_boards();
  for (std::size_t slot = 0; slot < kCandidates; ++slot) {
    auto node = std::make_shared<model::Node>();
    node->name = names.emplace_back("full-" + std::to_string(slot));
    node->gpus = 16;
    auto pods = std::make_shared<std::vector<model::Occupant>>();
    model::PreemptionCandidate& candidate = made.offered.emplace_back();
    candidate.node = node->name;
    for (std::size_t gpu = 0; gpu < 16; ++gpu) {
      const std::uint64_t random = mixed(slot * 16 + gpu);
      model::Occupant& pod = pods->emplace_back();
      pod.uid = pod.name = std::to_string(random);
      pod.gpus = 1;
      pod.placement.gpus = model::GpuMask{1} << gpu;
      pod.started = now - std::chrono::minutes(random % 600);
      if (controllers > 0) pod.owner = std::to_string(random % static_cast<unsigned>(controllers));
      if (gpu / 4 % 2 == 0) candidate.victims.push_back({pod.uid, false, {}, 0, {}});
    }
    model::NodeState& state = (*blocks[slot / 64])[slot % 64];
    state.node = std::move(node);
    state.machine = machine;
    state.shape = model::shape_of(*machine);
    state.gpus = state.used = 16;
    state.free_known = true;
    state.occupants = std::move(pods);
  }
  made.snapshot.index = std::make_shared<const model::NodeIndex>(std::move(names));
  return made;
}

// `controllers`: that the pods are of; 0: none has one.
void preempt_on_full_nodes(benchmark::State& state, model::TopologyPolicy policy, int controllers) {
  const core::WallTime now = core::SystemClock().wall();
  const FullNodes made = full_nodes(controllers, now);
  model::PodRequest pod = eight_gpus();
  pod.priority = 1000;
  pod.topology_policy = policy;
  const policy::PreemptionQuery query{made.snapshot, pod, made.offered, now};
  measure(state, {"decide_preemption, 8 of 16 GPUs", 100}, [&] { return policy::decide_preemption(query, {}); });
}
void preempt_eight_of_sixteen_restricted(benchmark::State& state) {
  preempt_on_full_nodes(state, model::TopologyPolicy::kRestricted, 0);
}
void preempt_eight_of_sixteen_two_controllers(benchmark::State& state) {
  preempt_on_full_nodes(state, model::TopologyPolicy::kRestricted, 2);
}
void preempt_eight_of_sixteen_all_alike(benchmark::State& state) {
  preempt_on_full_nodes(state, model::TopologyPolicy::kBestEffort, 1);
}

void repeated(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Repetitions(3)->Iterations(100);
}
BENCHMARK(preempt_eight_gpus_two_datasets)->Apply(repeated);
BENCHMARK(preempt_four_gpus_restricted)->Apply(repeated);
BENCHMARK(preempt_one_gpu)->Apply(repeated);
BENCHMARK(preempt_eight_of_sixteen_restricted)->Apply(repeated);
BENCHMARK(preempt_eight_of_sixteen_two_controllers)->Apply(repeated);
BENCHMARK(preempt_eight_of_sixteen_all_alike)->Apply(repeated);

}  // namespace
}  // namespace berth::bench
