// On which of the offered nodes pods may be evicted, and which are answered.
#include "preempt_fixture.h"

namespace berth::policy {
namespace {

TEST(PreemptNodes, ThoseThatOurRulesRejectAreDropped) {
  model::PodRequest pod = preemptor(1, {{"min-gpu-memory", "40Gi"}});
  pod.gpu_products = {tests::kH100};
  const auto cluster = SnapshotBuilder()
                           .node("good", 1)
                           .occupant(holder("a", {0}))
                           .node("product", 1, 0, tests::kV100)
                           .occupant(holder("b", {0}))
                           .node("memory", 1, 0, tests::kH100, 32768)
                           .occupant(holder("c", {0}));
  const auto answered = preempt(cluster, pod, {offer("good", {"a"}), offer("product", {"b"}), offer("memory", {"c"})});
  EXPECT_THAT(answered.victims, ElementsAre(Pair("good", ElementsAre("a"))));
  EXPECT_THAT(answered.rejected,
              ElementsAre(Pair("memory", "GPU_MEMORY_TOO_SMALL"), Pair("product", "GPU_PRODUCT_MISMATCH")));
}

TEST(PreemptNodes, WithoutTheRequiredDatasetAreDropped) {
  const auto cluster = SnapshotBuilder()
                           .node("cold")
                           .occupant(holder("a", {0}))
                           .node("warm")
                           .occupant(holder("b", {0}))
                           .holds("team", "d");
  const auto answered = preempt(cluster, preemptor(8, {{"datasets", "d"}, {"dataset-policy", "required"}}),
                                {offer("cold", {"a"}), offer("warm", {"b"})});
  EXPECT_THAT(answered.victims, ElementsAre(Pair("warm", ElementsAre("b"))));
  EXPECT_THAT(answered.rejected, ElementsAre(Pair("cold", "DATASET_NOT_CACHED")));
}

TEST(PreemptNodes, WhereNoConnectedSetCanBeFreedAreDropped) {
  const auto cluster = SnapshotBuilder()
                           .node("dgx", 8, 0, tests::kV100)
                           .occupant(holder("a", {0}))
                           .occupant(holder("b", {5}))
                           .occupant(holder("high", {1, 2, 3, 4, 6, 7}, 100));
  EXPECT_THAT(preempt(cluster, restricted(2), {offer("dgx", {"a", "b"})}).rejected,
              ElementsAre(Pair("dgx", "TOPOLOGY_RESTRICTED")));
}

TEST(PreemptNodes, AnInvalidPolicyEvictsNobody) {
  const auto answered =
      preempt(dgx1_full_of_ones(), preemptor(1, {{"topology-policy", "strict"}}), {offer("dgx", {"g0"})});
  EXPECT_THAT(answered.victims, IsEmpty());
}

TEST(PreemptNodes, UnknownOnesPassUnlessARuleIsHard) {
  const auto cluster = SnapshotBuilder().node("known");
  EXPECT_THAT(preempt(cluster, preemptor(1), {offer("new", {"a"}), offer("empty", {})}).victims,
              ElementsAre(Pair("new", ElementsAre("a"))));
  EXPECT_THAT(preempt(cluster, restricted(1), {offer("new", {"a"})}).rejected,
              ElementsAre(Pair("new", "NODE_UNKNOWN")));
}

// The scheduler refuses the whole answer for one victim that is not on the node it is named for. Pod groups of v1.37
// may have members elsewhere.
TEST(PreemptNodes, WithVictimsElsewhereAreDropped) {
  const auto cluster = SnapshotBuilder()
                           .node("here", 2)
                           .occupant(holder("a", {0}))
                           .node("there", 2)
                           .occupant(holder("b", {0}))
                           .occupant(holder("c", {1}));
  const auto answered = preempt(cluster, preemptor(1), {offer("here", {"a", "b"}), offer("there", {"c"})});
  EXPECT_THAT(answered.victims, ElementsAre(Pair("there", ElementsAre("c"))));
  EXPECT_EQ(answered.outcome.misplaced, 1U);
}

TEST(PreemptNodes, AVictimWithoutGpusIsTheSchedulersBusiness) {
  const auto cluster = SnapshotBuilder().node("n", 1).occupant(holder("gpu", {0}));
  EXPECT_THAT(preempt(cluster, preemptor(1), {offer("n", {"web", "gpu"})}).victims,
              ElementsAre(Pair("n", ElementsAre("web", "gpu"))));
}

TEST(PreemptNodes, WholePodsTellWhereTheyAre) {
  const auto cluster = SnapshotBuilder().node("n", 1).occupant(holder("gpu", {0})).node("m", 1);
  const auto whole = [](std::string uid, std::string on) {
    return model::Victim{std::move(uid), true, std::move(on), 5, {}};
  };
  const std::vector<model::PreemptionCandidate> offered = {{"n", {whole("web", "n"), whole("gpu", "n")}, 0},
                                                           {"m", {whole("far", "n")}, 0}};
  EXPECT_THAT(preempt(cluster, preemptor(1), offered).victims, ElementsAre(Pair("n", ElementsAre("web", "gpu"))));
}

class PreemptRank : public testing::Test {
 protected:
  // Two DGX-1s with pods on each GPU that differ only as the tests say.
  static SnapshotBuilder two(int minutes_on_first = 60, int priority_on_first = 0) {
    SnapshotBuilder cluster;
    for (const char* node : {"first", "second"}) {
      const bool first = std::string(node) == "first";
      cluster.node(node, 8, 0, tests::kV100);
      for (int gpu = 0; gpu < 8; ++gpu) {
        cluster.occupant(holder(std::string(node) + std::to_string(gpu), {gpu}, first ? priority_on_first : 0,
                                first ? minutes_on_first : 60));
      }
    }
    return cluster;
  }
  static std::vector<std::string> nodes(const Answered& answered) {
    std::vector<std::string> names;
    for (const auto& [node, victims] : answered.victims) names.push_back(node);
    return names;
  }
};

TEST_F(PreemptRank, BestConnectedSetFirst) {
  // 0-4 has two links, 0-1 one, 0-5 none.
  const auto answered =
      preempt(two(1), preemptor(2), {offer("first", {"first0", "first1"}), offer("second", {"second0", "second4"})});
  EXPECT_THAT(nodes(answered), ElementsAre("second"));
  EXPECT_EQ(answered.outcome.outranked, 1U);
}

TEST_F(PreemptRank, ThenLeastWorkLost) {
  EXPECT_THAT(nodes(preempt(two(59), preemptor(1), {offer("second", {"second0"}), offer("first", {"first0"})})),
              ElementsAre("first"));
}

TEST_F(PreemptRank, EqualsAreAllAnswered) {
  EXPECT_THAT(nodes(preempt(two(), preemptor(1), {offer("first", {"first0"}), offer("second", {"second0"})})),
              ElementsAre("first", "second"));
}

TEST_F(PreemptRank, TheSchedulersFirstCriteriaComeFirst) {
  // A worse set, but no budget violated, or a lower priority.
  EXPECT_THAT(nodes(preempt(two(), preemptor(2),
                            {offer("first", {"first0", "first5"}, 0), offer("second", {"second0", "second4"}, 1)})),
              ElementsAre("first"));
  EXPECT_THAT(nodes(preempt(two(60, -1), preemptor(2),
                            {offer("first", {"first0", "first5"}), offer("second", {"second0", "second4"})})),
              ElementsAre("first"));
}

TEST_F(PreemptRank, AnotherFilteringExtenderMayRejectTheBest) {
  Settings settings;
  settings.other_filtering_extender = true;
  EXPECT_THAT(
      nodes(preempt(two(1), preemptor(1), {offer("first", {"first0"}), offer("second", {"second0"})}, settings)),
      ElementsAre("first", "second"));
}

TEST_F(PreemptRank, ANodeWhoseFirstVictimWeDoNotKnowIsLeftToTheScheduler) {
  EXPECT_THAT(nodes(preempt(two(1), preemptor(1), {offer("first", {"first0"}), offer("second", {"web", "second0"})})),
              ElementsAre("first", "second"));
}

TEST(PassPreemption, AnswersWhatCanBeAnswered) {
  const std::vector<model::PreemptionCandidate> offered = {
      offer("a", {"x", "y"}, 1), offer("empty", {}), {"far", {{"z", true, "elsewhere", 0, {}}}, 0}};
  const auto outcome = pass_preemption(offered);
  EXPECT_THAT(outcome.answer, ElementsAre(offered[0]));
  EXPECT_EQ(outcome.misplaced, 2U);
}

}  // namespace
}  // namespace berth::policy
