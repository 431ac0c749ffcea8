#include <gtest/gtest.h>

#include "unit/control/wake_fixture.h"

namespace berth::control {
namespace {

TEST_F(WakePlanTest, PodIsWokenWhenItsDatasetIsOnANodeThatOnlyBerthRejected) {
  reject(pod("p"), cold_);
  EXPECT_THAT(woken(cold_), IsEmpty());
  const auto wakes = plan_.plan(warm_);
  ASSERT_EQ(wakes.size(), 1U);
  EXPECT_FALSE(wakes[0].node);
  EXPECT_EQ(wakes[0].ns, "team");
  EXPECT_EQ(wakes[0].name, "p");
  EXPECT_EQ(wakes[0].uid, "uid-p");
}

TEST_F(WakePlanTest, DatasetsThatPodsAreRejectedForTheWantOfAreAwaited) {
  reject(pod("p"), cold_);
  reject(pod("q"), cold_);
  EXPECT_THAT(plan_.awaited(8), IsEmpty()) << "nothing is worked out before the next look";
  EXPECT_THAT(woken(cold_), IsEmpty());
  EXPECT_THAT(plan_.awaited(8), ElementsAre(model::DatasetRef{"team", "data"}));
  EXPECT_THAT(plan_.awaited(0), IsEmpty());
  plan_.left("uid-p");
  plan_.left("uid-q");
  EXPECT_THAT(plan_.awaited(8), IsEmpty());
}

TEST_F(WakePlanTest, OnceMoreAfterTwoSecondsThenOnlyAfterANewRejection) {
  const auto p = pod("p");
  reject(p, cold_);
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
  clock_.advance(milliseconds(1'999));
  EXPECT_THAT(woken(warm_), IsEmpty());
  clock_.advance(milliseconds(1));
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
  clock_.advance(milliseconds(60'000));
  EXPECT_THAT(woken(SnapshotBuilder().node("a").holds("team", "data").node("b").build()), IsEmpty());
  reject(p, cold_);
  clock_.advance(milliseconds(250));
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
}

TEST_F(WakePlanTest, NotOnceMoreIfItNoLongerFits) {
  reject(pod("p"), cold_);
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
  clock_.advance(milliseconds(2'000));
  EXPECT_THAT(woken(cold_), IsEmpty());
}

TEST_F(WakePlanTest, NotOnceMoreIfTheSchedulerHasDecidedSince) {
  const auto p = pod("p");
  reject(p, cold_);
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
  EXPECT_EQ(ask(p, warm_).candidate_count, 1U);
  clock_.advance(milliseconds(10'000));
  EXPECT_THAT(woken(warm_), IsEmpty());
}

TEST_F(WakePlanTest, BoundOrDeletedPodIsForgotten) {
  reject(pod("p"), cold_);
  plan_.left("uid-p");
  EXPECT_THAT(woken(warm_), IsEmpty());
  EXPECT_EQ(plan_.size(), 0U);
}

TEST_F(WakePlanTest, NeverForANodeWithoutTheGpus) {
  reject(pod("p", 4), cold_);
  EXPECT_THAT(woken(SnapshotBuilder().node("a", 8, 5).holds("team", "data").node("b").build()), IsEmpty());
  EXPECT_THAT(woken(SnapshotBuilder().node("a", 8, 4).holds("team", "data").node("b").build()), ElementsAre("p"));
}

TEST_F(WakePlanTest, NeverForANodeThatTheSchedulerRejectedItself) {
  reject(pod("p"), cold_, {"b"});
  EXPECT_THAT(woken(warm_), IsEmpty());
  EXPECT_THAT(woken(SnapshotBuilder().node("a").node("b").holds("team", "data").build()), ElementsAre("p"));
}

TEST_F(WakePlanTest, GpusThatComeFreeAreForTheSchedulerToSee) {
  settings_.gpu_count = policy::GpuCountMode::kEnforce;
  const auto full = SnapshotBuilder().node("a", 8, 8).build();
  EXPECT_EQ(ask(pod("p", 1, {}), full).candidate_count, 0U);
  EXPECT_THAT(woken(SnapshotBuilder().node("a").build()), IsEmpty());
}

TEST_F(WakePlanTest, FirmPromisesAreWaitedFor) {
  const auto promised = SnapshotBuilder().node("a").promised("other", 8, model::EntryKind::kFirm).build();
  reject(pod("p", 8, {}), promised);
  EXPECT_THAT(woken(promised), IsEmpty());
  EXPECT_THAT(woken(SnapshotBuilder().node("a").build()), ElementsAre("p"));
}

TEST_F(WakePlanTest, NodeThatWasNotKnownYetMayBeTheOne) {
  const auto without = SnapshotBuilder().node("a").holds("team", "data", 0).build();
  reject(pod("p"), without, {"new"});
  EXPECT_THAT(woken(SnapshotBuilder().node("a").holds("team", "data").build()), IsEmpty());
  EXPECT_THAT(woken(SnapshotBuilder().node("a").node("new").holds("team", "data").build()), ElementsAre("p"));
}

TEST_F(WakePlanTest, EndOfDatasetWaitWakes) {
  Keys keys = kNeedsData;
  keys.emplace_back("dataset-wait", "10m");
  const auto p = pod("p", 1, keys);
  reject(p, cold_);
  clock_.advance(milliseconds(600'000));
  EXPECT_THAT(woken(cold_), IsEmpty()) << "created a millisecond later";
  clock_.advance(milliseconds(1));
  EXPECT_THAT(woken(cold_), ElementsAre("p"));
}

TEST_F(WakePlanTest, WaitOfAPodThatIsGoneIsForgotten) {
  Keys keys = kNeedsData;
  keys.emplace_back("dataset-wait", "8760h");
  const auto p = pod("p", 1, keys);
  reject(p, cold_);
  EXPECT_THAT(woken(cold_), IsEmpty());
  EXPECT_EQ(plan_.waits(), 1U);
  plan_.left(p->uid);
  EXPECT_EQ(plan_.waits(), 0U);
}

TEST_F(WakePlanTest, DatasetThatDidNotExistIsWaitedForUntilANodeHoldsIt) {
  const auto without = SnapshotBuilder().node("a").node("b").build();
  const auto p = pod("p");
  EXPECT_EQ(ask(p, without).rejected.at(0).reason, model::Reason::kDatasetUnknown);
  plan_.waiting(p);
  EXPECT_THAT(woken(without), IsEmpty());
  EXPECT_THAT(woken(cold_), IsEmpty()) << "it exists, and no node holds it";
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
}

TEST_F(WakePlanTest, AfterARestartAnyNodeMayBeTheOne) {
  auto known = std::make_shared<model::Pod>(*pod("p"));
  known->rejected_by_us = true;
  plan_.waiting(known);
  plan_.waiting(pod("q"));
  EXPECT_THAT(woken(cold_), IsEmpty());
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
}

TEST_F(WakePlanTest, ConditionOfAnEarlierAttemptIsNoRejection) {
  auto known = std::make_shared<model::Pod>(*pod("p"));
  known->rejected_by_us = true;
  EXPECT_EQ(ask(known, warm_).candidate_count, 1U);
  plan_.waiting(known);
  EXPECT_THAT(woken(warm_), IsEmpty());
}

TEST_F(WakePlanTest, PodWhoseClaimTurnsOutToBeADatasetsIsWoken) {
  auto claims = std::make_shared<model::Pod>(*pod("p", 1, {{"dataset-policy", "required"}}));
  claims->claims = {"volume"};
  claims->annotations.push_back({"berth.io/datasets", "data"});
  auto snapshot = std::make_shared<model::Snapshot>(*warm_);
  snapshot->claims = std::make_shared<const model::ClaimMap>(model::ClaimMap{{"team/volume", {"team", "elsewhere"}}});
  reject(claims, snapshot);
  EXPECT_THAT(woken(snapshot), IsEmpty());
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
}

TEST_F(WakePlanTest, PodThatWasChangedIsJudgedByWhatItSaysNow) {
  const auto p = pod("p");
  reject(p, cold_);
  auto changed = std::make_shared<model::Pod>(*p);
  changed->annotations.pop_back();
  plan_.waiting(changed);
  EXPECT_THAT(woken(cold_), ElementsAre("p"));
}

TEST_F(WakePlanTest, PodThatTheWatchNeverShowsIsForgotten) {
  EXPECT_EQ(ask(pod("p"), cold_).candidate_count, 0U);
  EXPECT_THAT(woken(warm_), IsEmpty());
  clock_.advance(milliseconds(61'000));
  EXPECT_THAT(woken(warm_), IsEmpty());
  EXPECT_EQ(plan_.size(), 0U);
}

TEST_F(WakePlanTest, NothingIsDoneBeforeTheClusterIsKnown) {
  reject(pod("p"), cold_);
  auto early = std::make_shared<model::Snapshot>(*warm_);
  early->ready = false;
  EXPECT_THAT(woken(early), IsEmpty());
}

}  // namespace
}  // namespace berth::control
