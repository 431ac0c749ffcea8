// How many are woken at once, what is done when the API server refuses, and what it costs.
#include <gtest/gtest.h>

#include "unit/control/wake_fixture.h"

namespace berth::control {
namespace {

using ::testing::SizeIs;

class WakeLimits : public WakePlanTest {
 protected:
  void reject_many(int count, const std::string& prefix = "p") {
    for (int i = 0; i < count; ++i) reject(pod(prefix + std::to_string(i)), cold_);
  }
};

TEST_F(WakeLimits, FiftyPodsAreWokenThemselvesTheOldestFirst) {
  reject_many(50);
  const auto names = woken(warm_);
  ASSERT_THAT(names, SizeIs(50));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(names[static_cast<std::size_t>(i)], "p" + std::to_string(i));
}

TEST_F(WakeLimits, FiftyOneAreWokenByOneNode) {
  reject_many(51);
  EXPECT_THAT(woken(warm_), ElementsAre("node a"));
  EXPECT_THAT(woken(warm_), IsEmpty());
  clock_.advance(milliseconds(2'000));
  EXPECT_THAT(woken(warm_), ElementsAre("node a")) << "once more, as for a single pod";
  clock_.advance(milliseconds(2'000));
  EXPECT_THAT(woken(warm_), IsEmpty());
}

TEST_F(WakeLimits, NodesAreWrittenOnceASecondAtMost) {
  reject_many(51);
  EXPECT_THAT(woken(warm_), ElementsAre("node a"));
  reject_many(51, "q");
  clock_.advance(milliseconds(999));
  EXPECT_THAT(woken(warm_), IsEmpty());
  clock_.advance(milliseconds(1));
  EXPECT_THAT(woken(warm_), ElementsAre("node a"));
}

TEST_F(WakeLimits, AfterABurstTwentyASecond) {
  reject_many(50);
  EXPECT_THAT(woken(warm_), SizeIs(50));
  reject_many(30, "q");
  EXPECT_THAT(woken(warm_), IsEmpty());
  clock_.advance(milliseconds(100));
  EXPECT_THAT(woken(warm_), ElementsAre("q0", "q1"));
  clock_.advance(milliseconds(1'000));
  EXPECT_THAT(woken(warm_), SizeIs(20));
}

TEST_F(WakeLimits, RejectedAgainRightAwayItWaitsLongerEachTime) {
  const auto p = pod("p");
  reject(p, cold_);
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
  for (const int wait : {250, 500, 1'000, 2'000}) {
    reject(p, cold_);
    clock_.advance(milliseconds(wait - 1));
    EXPECT_THAT(woken(warm_), IsEmpty()) << wait;
    clock_.advance(milliseconds(1));
    EXPECT_THAT(woken(warm_), ElementsAre("p")) << wait;
  }
  clock_.advance(milliseconds(61'000));
  reject(p, cold_);
  clock_.advance(milliseconds(250));
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
}

TEST_F(WakeLimits, PodThatIsGoneIsForgotten) {
  reject(pod("p"), cold_);
  EXPECT_THAT(woken(warm_, WakeAnswer::kGone), ElementsAre("p"));
  EXPECT_EQ(plan_.size(), 0U);
}

TEST_F(WakeLimits, FailedWakeIsTriedAgainWithGrowingWaits) {
  reject(pod("p"), cold_);
  EXPECT_THAT(woken(warm_, WakeAnswer::kFailed), ElementsAre("p"));
  for (const int wait : {1'000, 2'000, 4'000}) {
    clock_.advance(milliseconds(wait - 1));
    EXPECT_THAT(woken(warm_), IsEmpty()) << wait;
    clock_.advance(milliseconds(1));
    EXPECT_THAT(woken(warm_, WakeAnswer::kFailed), ElementsAre("p")) << wait;
  }
}

TEST_F(WakeLimits, RefusedPodsWaitTogether) {
  reject(pod("p"), cold_);
  reject(pod("q"), cold_);
  EXPECT_THAT(woken(warm_, WakeAnswer::kDenied), ElementsAre("p", "q"));
  clock_.advance(milliseconds(1'999));
  EXPECT_THAT(woken(warm_), IsEmpty());
  clock_.advance(milliseconds(1));
  EXPECT_THAT(woken(warm_), ElementsAre("p", "q"));
}

TEST_F(WakeLimits, WhereNodesMayNotBeWrittenPodsAre) {
  reject_many(51);
  EXPECT_THAT(woken(warm_, WakeAnswer::kDenied), ElementsAre("node a"));
  EXPECT_THAT(woken(warm_), SizeIs(50));
}

TEST_F(WakeLimits, WakeUnderWayIsNotRepeated) {
  reject(pod("p"), cold_);
  const auto wakes = plan_.plan(warm_);
  ASSERT_THAT(wakes, SizeIs(1));
  clock_.advance(milliseconds(10'000));
  EXPECT_THAT(woken(warm_), IsEmpty());
  plan_.answered(wakes[0], WakeAnswer::kDone);
  clock_.advance(milliseconds(1'999));
  EXPECT_THAT(woken(warm_), IsEmpty()) << "two seconds from when it was written";
}

TEST_F(WakeLimits, AnswerToAWakeBeforeTheLastDecisionIsStale) {
  const auto p = pod("p");
  reject(p, cold_);
  const auto wakes = plan_.plan(warm_);
  reject(p, cold_);
  plan_.answered(wakes.at(0), WakeAnswer::kDone);
  EXPECT_THAT(woken(warm_), ElementsAre("p"));
}

// 128 nodes, two blocks; the last holds the dataset.
SnapshotPtr wide(float coverage = 0) {
  SnapshotBuilder builder;
  for (int i = 0; i < 128; ++i) builder.node("n" + std::to_string(1'000 + i));
  return builder.holds("team", "data", coverage).build();
}

// Nodes of no kind that there is.
const Keys kImpossible = {{"min-gpu-memory", "1000"}};

TEST_F(WakeLimits, PodsThatAskForTheSameAreJudgedTogether) {
  const auto cluster = wide();
  for (int i = 0; i < 100; ++i) reject(pod("p" + std::to_string(i), 1, kImpossible), cluster);
  EXPECT_THAT(woken(cluster), IsEmpty());
  EXPECT_EQ(plan_.judged(), 128U);
  reject(pod("other", 2, kImpossible), cluster);
  EXPECT_THAT(woken(cluster), IsEmpty());
  EXPECT_EQ(plan_.judged(), 256U);
}

TEST_F(WakeLimits, OnlyBlocksThatHaveChangedAreJudgedAgain) {
  const auto cluster = wide();
  const auto p = pod("p", 1, kImpossible);
  reject(p, cluster);
  EXPECT_THAT(woken(cluster), IsEmpty());
  EXPECT_EQ(plan_.judged(), 128U);
  auto next = std::make_shared<model::Snapshot>(*cluster);
  ++next->version;
  EXPECT_THAT(woken(next), IsEmpty());
  EXPECT_EQ(plan_.judged(), 128U);
  next = std::make_shared<model::Snapshot>(*next);
  next->blocks[1] = std::make_shared<const model::NodeBlock>(*next->blocks[1]);
  EXPECT_THAT(woken(next), IsEmpty());
  EXPECT_EQ(plan_.judged(), 128U + 64U);
  auto changed = std::make_shared<model::Pod>(*p);
  changed->started = clock_.wall();
  plan_.waiting(changed);
  EXPECT_THAT(woken(next), IsEmpty());
  EXPECT_EQ(plan_.judged(), 128U + 64U) << "a change of the pod that means nothing";
}

TEST_F(WakeLimits, OfNodesWithoutARequiredDatasetNoneIsJudged) {
  const auto cluster = wide();
  reject(pod("p"), cluster);
  EXPECT_THAT(woken(cluster), IsEmpty());
  EXPECT_EQ(plan_.judged(), 1U);
  auto next = std::make_shared<model::Snapshot>(*cluster);
  next->blocks[0] = std::make_shared<const model::NodeBlock>(*next->blocks[0]);
  EXPECT_THAT(woken(next), IsEmpty());
  EXPECT_EQ(plan_.judged(), 1U);
  next = std::make_shared<model::Snapshot>(*next);
  next->datasets = wide(1)->datasets;
  EXPECT_THAT(woken(next), ElementsAre("p"));
  EXPECT_EQ(plan_.judged(), 2U);
}

// Every look at it takes 20 ms.
class SlowClock final : public core::Clock {
 public:
  [[nodiscard]] core::SteadyTime now() const override {
    clock_.advance(milliseconds(20));
    return clock_.now();
  }
  [[nodiscard]] core::WallTime wall() const override { return clock_.wall(); }

 private:
  mutable core::ManualClock clock_;
};

TEST_F(WakeLimits, WhatTheTimeDoesNotSufficeForIsJudgedNextTime) {
  const SlowClock slow;
  WakePlan plan(settings_, {}, {}, slow);
  for (int gpus = 1; gpus <= 8; ++gpus) {
    const auto p = pod("p" + std::to_string(gpus), gpus);
    plan.decided(ask(p, cold_));
    plan.waiting(p);
  }
  // 50 ms are over at the third look at the clock.
  EXPECT_THAT(plan.plan(warm_), SizeIs(3));
  EXPECT_THAT(plan.plan(warm_), SizeIs(3));
  EXPECT_THAT(plan.plan(warm_), SizeIs(2));
}

TEST_F(WakeLimits, AtMostSoManyPodsAreKept) {
  WakeOptions options;
  options.most_pods = 2;
  WakePlan plan(settings_, {}, options, clock_);
  for (const char* name : {"p", "q", "r"}) plan.decided(ask(pod(name), cold_));
  EXPECT_EQ(plan.size(), 2U);
}

TEST_F(WakeLimits, WithoutMemoryForItsNodesAPodIsWokenByAnyNode) {
  WakeOptions options;
  options.most_mask_bytes = 0;
  WakePlan plan(settings_, {}, options, clock_);
  const auto p = pod("p");
  plan.decided(ask(p, cold_, {"b"}));
  plan.waiting(p);
  EXPECT_THAT(plan.plan(warm_), SizeIs(1));
}

}  // namespace
}  // namespace berth::control
