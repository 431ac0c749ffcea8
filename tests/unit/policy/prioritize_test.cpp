#include "berth/policy/what_if.h"
#include "policy_fixture.h"

namespace berth::policy {
namespace {

TEST(Prioritize, OneWinnerAmongEquals) {
  const auto cluster = SnapshotBuilder().node("c").node("b").node("a");
  EXPECT_THAT(prioritize(cluster, request(1), {"c", "b", "a"}), ElementsAre(Pair("a", 10), Pair("b", 9), Pair("c", 9)));
}

TEST(Prioritize, MapsTotalsBelowTheWinner) {
  // Those who want one GPU have 10,000 thousandths, those who want eight 8,000 and 2,000 · (2/8)⁴. Two GPUs of the used
  // node cost 0.5 · 2,000/10,000 + 7.8/8,008 = 0.101, of the empty one 0.1 + (8,000 - 6,000 · (6/8)⁴)/8,008 = 0.862,
  // where 0.35 would be clean: packing is 0.923 and 0.141. Without data 9 · (2 + 0.141)/(2 + 0.923) = 6.6.
  const auto cluster = SnapshotBuilder()
                           .node("full-after", 8, 6)
                           .node("empty")
                           .mix({1, {{{.gpus = 1, .milli = 1'000}, 0.5}, {{.gpus = 8, .milli = 1'000}, 0.5}}});
  EXPECT_THAT(prioritize(cluster, request(2), {"empty", "full-after"}),
              ElementsAre(Pair("empty", 6), Pair("full-after", 10)));
}

TEST(Prioritize, DataBeforeTopologyBeforePacking) {
  const auto cluster = SnapshotBuilder()
                           .node("data", 8, 0, tests::kV100)
                           .free(model::mask({0, 5}))
                           .holds("team", "a")
                           .node("links", 8, 0, tests::kV100)
                           .free(model::mask({0, 3, 4, 7}))
                           .node("packed", 8, 0, tests::kV100)
                           .free(model::mask({1, 6}));
  const auto scores = prioritize(cluster, request(2, {{"datasets", "a"}}), {"data", "links", "packed"});
  EXPECT_EQ(scores.at("data"), 10);
  EXPECT_GT(scores.at("links"), scores.at("packed"));
}

TEST(Prioritize, NodesFullByOurCountGetNothing) {
  const auto cluster = SnapshotBuilder().node("full", 8, 8).holds("team", "a").node("free");
  EXPECT_THAT(prioritize(cluster, request(1, {{"datasets", "a"}}), {"full", "free"}),
              ElementsAre(Pair("free", 10), Pair("full", 0)));
}

// Clusters without GPU-feature-discovery, new products, unusual machines: packing must work there too.
TEST(Prioritize, PacksMachinesOfUnknownShape) {
  for (const char* product : {"", "NVIDIA-H20", "NVIDIA-B200"}) {
    const auto cluster = SnapshotBuilder().node("used", 8, 6, product).node("empty", 8, 0, product);
    for (const int gpus : {1, 2}) {
      EXPECT_EQ(prioritize(cluster, request(gpus), {"empty", "used"}).at("used"), 10) << product << " " << gpus;
    }
  }
}

TEST(Prioritize, APodWithoutGpusIsNotJudgedByGpuRoom) {
  // The device plugin restarts: nothing is allocatable while pods still hold their GPUs.
  SnapshotBuilder cluster;
  cluster.node("holder", 0, 8, "").holds("team", "a").node("cold", 8, 0);
  EXPECT_EQ(prioritize(cluster, request(0, {{"datasets", "a"}}), {"holder", "cold"}).at("holder"), 10);
}

TEST(Prioritize, UnknownNodesDoNotBeatKnownOnesByPartsThatAreOff) {
  const auto cluster = SnapshotBuilder().node("known", 8, 7);
  EXPECT_EQ(prioritize(cluster, request(1, {{"topology-policy", "none"}}), {"new", "known"}).at("known"), 10);
  const auto cpu_only = SnapshotBuilder().node("known", 0, 0, "");
  EXPECT_EQ(prioritize(cpu_only, request(0, {{"datasets", "a"}}), {"new", "known"}).at("known"), 10);
}

TEST(Prioritize, UnknownNodesAreNeutral) {
  const auto cluster = SnapshotBuilder().node("full-after", 8, 7);
  // (2·0.5 + 1·0.5)/7 against (2·1 + 1·1)/7: 9 · 0.5 = 4.5.
  EXPECT_THAT(prioritize(cluster, request(1), {"new", "full-after"}),
              ElementsAre(Pair("full-after", 10), Pair("new", 4)));
}

TEST(Prioritize, StaysWithinTheProtocolAndHasOneTen) {
  SnapshotBuilder cluster;
  std::vector<std::string> text;
  for (int i = 0; i < 300; ++i) text.push_back("n" + std::to_string(i));
  for (int i = 0; i < 300; ++i) cluster.node(text[static_cast<std::size_t>(i)], 8, i % 9);
  const auto scores = prioritize(cluster, request(2), {text.begin(), text.end()});
  EXPECT_EQ(scores.size(), 300U);
  int tens = 0;
  for (const auto& [node, score] : scores) {
    EXPECT_TRUE(score >= 0 && score <= 10) << node << " " << score;
    tens += score == 10 ? 1 : 0;
  }
  EXPECT_EQ(tens, 1);
}

TEST(WhatIf, AsksFilterThenPrioritize) {
  const auto cluster = SnapshotBuilder().node("full", 8, 8).node("b", 8, 4).node("a");
  const auto snapshot = cluster.build();
  const auto pod = request(4);
  Settings settings;
  settings.gpu_count = GpuCountMode::kEnforce;
  const auto names = all_names(*snapshot);
  EXPECT_THAT(names, ElementsAre("a", "b", "full"));
  const auto told = model::explain(what_if({*snapshot, pod, names, 1, {}}, settings));
  EXPECT_EQ(told.winner, "b");
  EXPECT_TRUE(told.prioritized);
  EXPECT_EQ(told.pod, "team/train");
  EXPECT_EQ(told.asked, 3U);
  ASSERT_EQ(told.rejected.size(), 1U);
  EXPECT_EQ(told.rejected[0].reason, model::Reason::kInsufficientGpu);
  EXPECT_THAT(told.rejected[0].nodes, ElementsAre("full"));
}

}  // namespace
}  // namespace berth::policy
