#include "berth/simulate/replay.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "berth/simulate/tally.h"
#include "fragmentation.h"

namespace berth::simulate {
namespace {

constexpr std::size_t kLearnEvery = 64;  // arrivals
// Two generators of one seed must not run alike.
constexpr std::uint64_t kNodeStream = 0x9e3779b97f4a7c15;
constexpr std::uint64_t kReplayStream = 0xc2b2ae3d27d4eb4f;

template <class T>
void shuffle(std::vector<T>& list, std::mt19937_64& random) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(random, i)]);
}

// What is expected while nothing has been seen: single GPUs, and now and then all of a machine.
model::RequestMix first_mix() {
  return {0, {{{.gpus = 1, .milli = model::kWholeMilli}, 0.9}, {{.gpus = 8, .milli = model::kWholeMilli}, 0.1}}};
}

// Learns from the first arrivals alone.
class Learner {
 public:
  Learner(const Workload& workload, std::size_t until) : workload_(&workload), until_(until) {
    counts_.resize(workload.kinds.size());
  }
  // After an arrival; the mix to go on with, if there is a new one.
  std::optional<model::RequestMix> saw(std::uint32_t kind) {
    if (seen_ >= until_) return std::nullopt;
    ++counts_[kind];
    ++seen_;
    if (seen_ % kLearnEvery != 0 && seen_ != until_) return std::nullopt;
    return mix_of(workload_->kinds, counts_);
  }

 private:
  const Workload* workload_;
  std::size_t until_;
  std::size_t seen_ = 0;
  std::vector<std::int64_t> counts_;
};

}  // namespace

std::size_t size_of(const model::RequestClass& request) {
  if (request.gpus == 0) return 0;
  return request.whole() ? static_cast<std::size_t>(request.gpus) + 1 : 1;
}

std::string size_name(std::size_t size) { return size == 0 ? "cpu" : size == 1 ? "shared" : std::to_string(size - 1); }

std::vector<std::uint32_t> arrivals(const Workload& workload, double inflation, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> order(workload.tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, random);
  const auto kind_of = [&](std::uint32_t task) -> const Kind& { return workload.kinds[workload.tasks[task].kind]; };
  const double most = inflation * static_cast<double>(workload.capacity_milli());
  double asked = 0;
  for (const std::uint32_t task : order) asked += static_cast<double>(kind_of(task).milli());
  while (true) {
    const auto task = static_cast<std::uint32_t>(below(random, workload.tasks.size()));
    if (asked + kind_of(task).request.milli > most) return order;
    asked += static_cast<double>(kind_of(task).milli());
    order.push_back(task);
  }
}

std::vector<std::uint32_t> node_order(const Workload& workload, std::uint64_t seed) {
  std::mt19937_64 random(seed ^ kNodeStream);
  std::vector<std::uint32_t> order(workload.nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, random);
  return order;
}

Replay replay(const Workload& workload, const ReplaySettings& settings, std::uint64_t seed) {
  const auto order = arrivals(workload, settings.inflation, seed);
  Cluster cluster(workload, node_order(workload, seed));
  Chooser chooser(settings.chooser, workload, cluster, settings.mix_from ? first_mix() : workload.mix(),
                  seed ^ kReplayStream);
  Learner learner(workload, settings.mix_from ? static_cast<std::size_t>(
                                                    std::ceil(*settings.mix_from * static_cast<double>(order.size())))
                                              : 0);
  Tally tally(workload, cluster);
  for (const std::uint32_t index : order) {
    const Task& task = workload.tasks[index];
    const auto choice = chooser.choose(task.kind, task.memory_mib);
    tally.arrived(task, choice);
    if (choice) chooser.changed(choice->node);
    if (const auto mix = learner.saw(task.kind)) chooser.learn(*mix);
  }
  return {seed, tally.points()};
}

double empty_fragmentation_milli(const Workload& workload) {
  return Fragmentation(workload, Cluster(workload, node_order(workload, 0))).milli();
}

}  // namespace berth::simulate
