// What users of other schedulers reported, replayed. docs/known-problems.md has the list; most of its tests are beside
// what they test.
#include "berth/policy/recommend.h"
#include "berth/policy/what_if.h"
#include "unit/policy/policy_fixture.h"

namespace berth::policy {
namespace {

constexpr const char* kA10 = "NVIDIA-A10";
constexpr const char* kA100Pcie = "NVIDIA-A100-PCIE-40GB";

std::string winner(const std::map<std::string, int>& scores) {
  for (const auto& [node, score] : scores) {
    if (score == 10) return node;
  }
  return {};
}

// volcano#3948: one, two and one GPUs are free on three nodes of four, and a job for four has no place.
TEST(KnownProblems, SmallJobsLeaveANodeWhole) {
  std::map<std::string, int> taken{{"a", 0}, {"b", 0}, {"c", 0}};
  const auto place = [&](int gpus) {
    SnapshotBuilder cluster;
    std::vector<std::string_view> fitting;
    for (const auto& [name, used] : taken) {
      cluster.node(name, 4, used, kA10);
      if (4 - used >= gpus) fitting.push_back(name);
    }
    const std::string node = winner(prioritize(cluster, request(gpus), fitting));
    taken[node] += gpus;
    return node;
  };
  for (const int gpus : {1, 2, 1, 1, 2, 1}) place(gpus);  // eight GPUs: two nodes full
  const std::string node = place(4);
  EXPECT_EQ(taken[node], 4);
}

// kubernetes#68036: nodes of four, four and two GPUs; a job for two on a node of four strands one of the jobs for four.
TEST(KnownProblems, ASmallJobGoesToTheSmallNode) {
  const auto cluster = SnapshotBuilder().node("four-a", 4, 0, kA10).node("four-b", 4, 0, kA10).node("two", 2, 0, kA10);
  EXPECT_EQ(winner(prioritize(cluster, request(2), {"four-a", "four-b", "two"})), "two");
}

// HAMi#1168, koordinator#1116, scheduler-plugins#690: links decide between nodes, not only between the GPUs of one. Both
// nodes have two GPUs free: 0 and 3 on a double link, 0 and 5 across sockets.
TEST(KnownProblems, ALinkedPairBeatsTwoLoneGpus) {
  const auto cluster = SnapshotBuilder()
                           .node("lone", 8, 0, tests::kV100)
                           .free(model::mask({0, 5}))
                           .node("pair", 8, 0, tests::kV100)
                           .free(model::mask({0, 3}));
  EXPECT_EQ(winner(prioritize(cluster, request(2), {"lone", "pair"})), "pair");
}

// volcano#4998: four GPUs out of {0,1,2,7}, across sockets, or out of {0..5}, of which 0 to 3 are on one.
TEST(KnownProblems, FourOnOneSocketBeatFourAcross) {
  const auto cluster = SnapshotBuilder()
                           .node("across", 8, 0, kA100Pcie)
                           .free(model::mask({0, 1, 2, 7}))
                           .node("socket", 8, 0, kA100Pcie)
                           .free(model::mask({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(winner(prioritize(cluster, request(4), {"across", "socket"})), "socket");
}

// HAMi#1006, HAMi#1806: NUMA nodes decide before packing does. Links are equal everywhere on these machines: the set
// across sockets scores 0.8 + 0.2 · 1/2, and (2 · 0.9 + 1 · 1)/3 is more than (2 · 1 + 1 · 0.25)/3.
TEST(KnownProblems, NumaNodesAreTheLesserTerm) {
  const auto cluster = SnapshotBuilder().node("nearly-full").free(model::mask({0, 7})).node("empty");
  EXPECT_EQ(winner(prioritize(cluster, request(2), {"empty", "nearly-full"})), "nearly-full");
  // Where packing is equal they decide.
  const auto equal = SnapshotBuilder().node("across").free(model::mask({0, 7})).node("one").free(model::mask({6, 7}));
  EXPECT_EQ(winner(prioritize(equal, request(2), {"across", "one"})), "one");
}

// kueue#4329, kueue#5243: eight GPUs are free in all, on no node together, and a job for eight is let in. Asked
// beforehand, Berth knows no node where it fits now.
TEST(KnownProblems, AdviceSaysThatNoSingleNodeHasRoom) {
  const auto snapshot = SnapshotBuilder().node("a", 8, 4).node("b", 8, 4).build();
  const model::PodRequest pod = request(8);
  const model::Recommendation advice = recommend({*snapshot, pod, 10, std::nullopt, {}}, {});
  ASSERT_EQ(advice.nodes.size(), 2U);
  for (const auto& node : advice.nodes) EXPECT_FALSE(node.fits) << node.candidate.node;
}

}  // namespace
}  // namespace berth::policy
