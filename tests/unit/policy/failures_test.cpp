#include "berth/policy/scores.h"
#include "policy_fixture.h"

namespace berth::policy {
namespace {

// (1/2)^others * (1/4)^own, at least 1/64.
TEST(ScoreFailures, HalvesForOthersAndQuartersForItsOwn) {
  EXPECT_DOUBLE_EQ(score_failures(0, 0), 0);
  EXPECT_DOUBLE_EQ(score_failures(1, 0), 0.5);
  EXPECT_DOUBLE_EQ(score_failures(1, 1), 0.75);
  EXPECT_DOUBLE_EQ(score_failures(3, 1), 1 - 1.0 / 16);
  EXPECT_DOUBLE_EQ(score_failures(100, 50), 1 - 1.0 / 64);
}

TEST(ScoreFailures, TotalLosesWhatTheyTake) {
  // (4 * 1 + 2 * 0.5 + 1 * 0) / 7, of which a quarter is left.
  EXPECT_DOUBLE_EQ(weigh({.locality = 1, .topology = 0.5, .failures = 0.75}, {}).total, 5.0 / 7 / 4);
}

model::PodRequest owned(std::int64_t gpus, const std::string& owner) {
  model::PodRequest pod = request(gpus);
  pod.owner = owner;
  return pod;
}

// "a" is fuller, therefore best, until a pod is refused there.
TEST(Failures, BestNodeLosesAfterItRefusedOnce) {
  const SnapshotBuilder clean = SnapshotBuilder().node("a", 8, 4).node("b", 8, 0);
  EXPECT_THAT(filter(clean, owned(2, "job"), {"a", "b"}).kept, ElementsAre("a", "b"));
  const SnapshotBuilder refused = SnapshotBuilder().node("a", 8, 4).failed(1, {{"job", 1}}).node("b", 8, 0);
  const Filtered after = filter(refused, owned(2, "job"), {"a", "b"});
  EXPECT_THAT(after.kept, ElementsAre("b", "a"));
  EXPECT_DOUBLE_EQ(candidate(after, "a").parts.failures, 0.75);
  EXPECT_DOUBLE_EQ(candidate(after, "b").parts.failures, 0);
}

TEST(Failures, OfAnotherOwnerCountLess) {
  const SnapshotBuilder refused = SnapshotBuilder().node("a", 8, 4).failed(1, {{"job", 1}}).node("b", 8, 0);
  EXPECT_DOUBLE_EQ(candidate(filter(refused, owned(2, "other"), {"a", "b"}), "a").parts.failures, 0.5);
  EXPECT_DOUBLE_EQ(candidate(filter(refused, owned(2, ""), {"a", "b"}), "a").parts.failures, 0.5);
}

TEST(Failures, WhereAllFailedAlikeTheBestStaysBest) {
  const SnapshotBuilder all =
      SnapshotBuilder().node("a", 8, 4).failed(2, {{"job", 2}}).node("b", 8, 0).failed(2, {{"job", 2}});
  EXPECT_THAT(filter(all, owned(2, "job"), {"a", "b"}).kept, ElementsAre("a", "b"));
}

// A pod without GPUs and data has a total of 0 where packing weighs nothing, which no factor would bring below.
TEST(Failures, RefusedTwiceComesAfterANodeThatIsWorthNothing) {
  const SnapshotBuilder twice = SnapshotBuilder().node("a", 8, 8).failed(1.9F, {{"job", 1.9F}}).node("b", 8, 0);
  auto pod = owned(0, "job");
  pod.weights = {.locality = 1, .topology = 1, .packing = 0};
  EXPECT_THAT(filter(twice, pod, {"a", "b"}).kept, ElementsAre("b", "a"));
  EXPECT_EQ(prioritize(twice, pod, {"a", "b"}), (std::map<std::string, int>{{"a", 9}, {"b", 10}}));
}

}  // namespace
}  // namespace berth::policy
