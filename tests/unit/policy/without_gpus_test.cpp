#include "berth/policy/decide.h"
#include "policy_fixture.h"

namespace berth::policy {
namespace {

// Jobs of eight GPUs and 80 CPUs are all that is asked for.
const model::RequestMix kEights{1, {{{.cpu_milli = 80'000, .gpus = 8, .milli = 1'000}, 1}}};

std::map<std::string, int> scores(const SnapshotBuilder& cluster, std::int64_t cpu_milli,
                                  const std::vector<std::string_view>& names) {
  const auto snapshot = cluster.build();
  auto pod = request(0);
  pod.requests.basic.cpu_milli = cpu_milli;
  std::map<std::string, int> found;
  for (const HostScore& host : prioritize_without_gpus({*snapshot, pod, names}, {})) {
    found[std::string(names[host.name])] = host.score;
  }
  return found;
}

TEST(PrioritizeWithoutGpus, KeepsTheCpuThatFreeGpusNeed) {
  SnapshotBuilder cluster;
  cluster.node("tight").cpu(96'000, 84'000).node("roomy").cpu(128'000, 120'000).node("full", 8, 8).cpu(96'000, 84'000);
  cluster.node("without", 0, 0, "").cpu(32'000, 8'000).mix(kEights);
  const auto found = scores(cluster, 8'000, {"tight", "roomy", "full", "without"});
  EXPECT_EQ(found.at("tight"), 0) << "nobody could use its GPUs any more";
  EXPECT_EQ(found.at("roomy"), 10);
  EXPECT_EQ(found.at("full"), 10);
  EXPECT_EQ(found.at("without"), 10);
  EXPECT_EQ(scores(cluster, 4'000, {"tight", "full"}).at("tight"), 10) << "80 are left";
}

// Half of all pods ask for 1 CPU alone: each costs them something, wherever it is.
TEST(PrioritizeWithoutGpus, WhatCostsTheSameEverywhereIsLeftToTheScheduler) {
  SnapshotBuilder cluster;
  cluster.node("a").cpu(96'000, 90'000).node("b").cpu(96'000, 90'000).mix({1, {{{.cpu_milli = 1'000}, 1}}});
  EXPECT_EQ(scores(cluster, 8'000, {"a", "b"}), (std::map<std::string, int>{{"a", 10}, {"b", 10}}));
}

// Nodes of all kinds, on none of which anybody loses GPUs: arithmetic that is off by a little decides nothing.
TEST(PrioritizeWithoutGpus, HarmlessNodesAreEquals) {
  SnapshotBuilder cluster;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) {
    names.push_back(name_of(i));
    cluster.node(names.back(), 8, i % 9).cpu(400'000, 300'000 + 7'919 * i);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  auto mix = model::default_mix();
  for (const bool alone : {false, true}) {
    if (alone) mix.classes.push_back({{.cpu_milli = 1'000}, 0.2});
    for (const auto& [name, score] : scores(cluster.mix(mix).stamped(), 3'000, views)) EXPECT_EQ(score, 10) << name;
  }
}

TEST(PrioritizeWithoutGpus, ANodeThatIsNotKnownIsNeutral) {
  SnapshotBuilder cluster;
  cluster.node("harmless", 8, 8).cpu(96'000, 90'000).mix(kEights);
  EXPECT_EQ(scores(cluster, 8'000, {"harmless", "new"}).at("new"), 5);
}

}  // namespace
}  // namespace berth::policy
