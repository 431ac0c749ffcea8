#include "berth/policy/recommend.h"

#include "unit/policy/policy_fixture.h"

namespace berth::policy {
namespace {

using model::Reason;
using namespace std::chrono_literals;

constexpr core::WallTime kAdvisedAt{100h};

std::vector<std::string> names_of(const model::Recommendation& advice) {
  std::vector<std::string> names;
  for (const auto& node : advice.nodes) names.push_back(node.candidate.node);
  return names;
}

std::vector<std::int32_t> weights_of(const model::Recommendation& advice) {
  std::vector<std::int32_t> weights;
  for (const auto& node : advice.nodes) weights.push_back(node.weight);
  return weights;
}

model::Recommendation advise(const SnapshotBuilder& cluster, const model::PodRequest& pod, std::size_t nodes = 10,
                             const Settings& settings = {}) {
  const auto snapshot = cluster.build();
  return recommend({*snapshot, pod, nodes, std::nullopt, kAdvisedAt}, settings);
}

SnapshotBuilder three_nodes() {
  SnapshotBuilder cluster;
  cluster.node("cold").node("warm").holds("team", "imagenet").node("full", 8, 8).holds("team", "imagenet");
  return cluster;
}

// 0.7 is less as a float, in which coverage is kept, than as a double.
TEST(Recommend, ANodeThatHoldsJustEnoughIsWarm) {
  SnapshotBuilder cluster;
  cluster.node("warm").holds("team", "imagenet", 0.7F);
  const auto advice =
      advise(cluster, request(4, {{"datasets", "imagenet"}, {"dataset-policy", "required"}, {"min-coverage", "70"}}));
  EXPECT_THAT(names_of(advice), ElementsAre("warm"));
  EXPECT_EQ(advice.warm_nodes, 1U);
  EXPECT_EQ(advice.reason, Reason::kNone);
}

TEST(Recommend, BestNodeFirstAndTheOneWithoutFreeGpusLast) {
  const auto advice = advise(three_nodes(), request(4, {{"datasets", "imagenet"}}));
  EXPECT_THAT(names_of(advice), ElementsAre("warm", "cold", "full"));
  EXPECT_TRUE(advice.nodes[0].fits);
  EXPECT_FALSE(advice.nodes[2].fits);
  EXPECT_EQ(advice.reason, Reason::kNone);
  EXPECT_EQ(advice.warm_nodes, 2U);
  EXPECT_EQ(advice.candidate_count, 3U);
  EXPECT_FALSE(advice.required);
}

TEST(Recommend, WeightsFallFromAHundredToOne) {
  const auto weights = weights_of(advise(three_nodes(), request(4, {{"datasets", "imagenet"}})));
  ASSERT_EQ(weights.size(), 3U);
  EXPECT_EQ(weights[0], 100);
  EXPECT_LT(weights[1], 100);
  EXPECT_GT(weights[1], 1);
  EXPECT_EQ(weights[2], 1);
}

TEST(Recommend, GradesByTheTotalScore) {
  std::vector<model::Candidate> nodes(4);
  nodes[0].parts.total = 0.8;
  nodes[1].parts.total = 0.4;
  nodes[2].parts.total = 0.6;  // ranked lower all the same: its GPUs are promised
  nodes[3].parts.total = 0.3;
  for (auto& node : nodes) node.gpus_free = 8;
  nodes[3].gpus_free = 1;
  // 99 · 0.4/0.8 = 49.5; no term outweighs the one before it.
  EXPECT_THAT(affinity_weights(nodes, 4), ElementsAre(100, 49, 49, 1));
  EXPECT_THAT(affinity_weights({}, 4), IsEmpty());
}

TEST(Recommend, NodesWithoutAnyScoreAreEqual) {
  std::vector<model::Candidate> nodes(2);
  for (auto& node : nodes) node.gpus_free = 0;
  EXPECT_THAT(affinity_weights(nodes, 0), ElementsAre(100, 99));
}

TEST(Recommend, GivesNoMoreNodesThanAskedFor) {
  const auto advice = advise(three_nodes(), request(4, {{"datasets", "imagenet"}}), 1);
  EXPECT_THAT(names_of(advice), ElementsAre("warm"));
  EXPECT_EQ(advice.candidate_count, 3U);
  EXPECT_THAT(names_of(advise(three_nodes(), request(4), 1000)).size(), 3U);
}

// The coarse stage would hand one node on.
TEST(Recommend, RanksTheWholeCluster) {
  Settings settings;
  settings.candidates = 1;
  EXPECT_EQ(advise(three_nodes(), request(1), 10, settings).nodes.size(), 3U);
}

TEST(Recommend, NobodyHoldsIt) {
  SnapshotBuilder cluster;
  cluster.node("a").holds("team", "imagenet", 0).node("b");
  const auto advice = advise(cluster, request(1, {{"datasets", "imagenet"}}));
  EXPECT_EQ(advice.reason, Reason::kDatasetNotCached);
  EXPECT_EQ(advice.warm_nodes, 0U);
  EXPECT_EQ(advice.nodes.size(), 2U);
}

TEST(Recommend, AMinimumDecidesWhatWarmIs) {
  SnapshotBuilder cluster;
  cluster.node("a").holds("team", "imagenet", 0.5F);
  EXPECT_EQ(advise(cluster, request(1, {{"datasets", "imagenet"}, {"min-coverage", "50"}})).reason, Reason::kNone);
  EXPECT_EQ(advise(cluster, request(1, {{"datasets", "imagenet"}, {"min-coverage", "51"}})).reason,
            Reason::kDatasetNotCached);
}

TEST(Recommend, RequiredAndOnNoSingleNodeTogether) {
  SnapshotBuilder cluster;
  cluster.node("a").holds("team", "imagenet").node("b").holds("team", "laion");
  const auto advice = advise(cluster, request(1, {{"datasets", "imagenet, laion"}, {"dataset-policy", "required"}}));
  EXPECT_THAT(names_of(advice), IsEmpty());
  EXPECT_TRUE(advice.required);
  EXPECT_EQ(advice.warm_nodes, 2U);
  EXPECT_EQ(advice.reason, Reason::kDatasetNotCached);
  ASSERT_EQ(advice.rejected.size(), 1U);
  EXPECT_EQ(advice.rejected[0].count, 2U);
  EXPECT_THAT(advice.rejected[0].nodes, IsEmpty());
}

TEST(Recommend, ANameThatExistsNowhereComesBeforeAllElse) {
  const auto advice = advise(three_nodes(), request(1, {{"datasets", "imagenet, lost"}}));
  EXPECT_EQ(advice.reason, Reason::kDatasetUnknown);
  EXPECT_THAT(advice.unknown_datasets, ElementsAre("team/lost"));
  EXPECT_THAT(advice.datasets, ElementsAre("team/imagenet", "team/lost"));
  EXPECT_EQ(advice.nodes.size(), 3U);
}

TEST(Recommend, WithoutDatasetsThereIsNoReason) {
  const auto advice = advise(three_nodes(), request(1));
  EXPECT_EQ(advice.reason, Reason::kNone);
  EXPECT_EQ(advice.warm_nodes, 0U);
}

TEST(Recommend, SlurmGetsTheNodesThatFitNow) {
  SnapshotBuilder cluster;
  cluster.node("n1").node("n2").node("n3", 8, 8);
  EXPECT_EQ(advise(cluster, request(2)).slurm_node_list, "n[1-2]");
  SnapshotBuilder busy;
  busy.node("n1", 8, 8).node("n2", 8, 8);
  EXPECT_EQ(advise(busy, request(2)).slurm_node_list, "n[1-2]");
}

TEST(Recommend, SlurmKnowsANodeByItsLabel) {
  model::Snapshot snapshot = *SnapshotBuilder().node("ip-10-0-0-7").build();
  auto block = std::make_shared<model::NodeBlock>(*snapshot.blocks[0]);
  auto node = std::make_shared<model::Node>(*(*block)[0].node);
  node->slurm_name = "gpu007";
  (*block)[0].node = node;
  snapshot.blocks[0] = block;
  const auto pod = request(1);
  const auto advice = recommend({snapshot, pod, 10, std::nullopt, kAdvisedAt}, {});
  EXPECT_EQ(advice.nodes.at(0).slurm_name, "gpu007");
  EXPECT_EQ(advice.slurm_node_list, "gpu007");
}

TEST(Recommend, AnEmptyClusterHasNoNodes) {
  const auto advice = advise({}, request(1));
  EXPECT_THAT(names_of(advice), IsEmpty());
  EXPECT_EQ(advice.slurm_node_list, "");
}

}  // namespace
}  // namespace berth::policy
