// When an Alluxio master is asked: new ones at once, all others at their intervals, the silent ever more seldom.
#include "../src/sources/probe_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace berth::sources {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum ProbeSchedule::Turn;

constexpr double kNoJitter = 0.5;

AlluxioMaster master(const std::string& name, const std::string& address = "10.0.0.7:19999", bool loading = false) {
  return {{"ns", name}, address, loading};
}

class ProbeScheduleTest : public ::testing::Test {
 protected:
  // Names of those that are due now, in the order in which they are given.
  std::vector<std::string> take() {
    std::vector<std::string> names;
    while (const auto taken = schedule_.take(now_)) names.push_back(taken->dataset.name);
    return names;
  }
  void set(const std::vector<AlluxioMaster>& masters) { schedule_.set(masters, now_); }
  ProbeSchedule::Turn answers(const AlluxioMaster& one, double random = kNoJitter) {
    return schedule_.done(one, true, now_, random);
  }
  ProbeSchedule::Turn fails(const AlluxioMaster& one, double random = kNoJitter) {
    return schedule_.done(one, false, now_, random);
  }
  // After how many seconds the master is due again.
  int due_after() {
    for (int second = 0; second < 1'000; ++second) {
      if (schedule_.take(now_)) return second;
      now_ += seconds(1);
    }
    return -1;
  }

  ProbeSchedule schedule_{ProbeIntervals{}};
  core::SteadyTime now_{std::chrono::hours(1)};
};

TEST_F(ProbeScheduleTest, NewMasterIsDueAtOnceAndGivenOnce) {
  set({master("a"), master("b")});
  EXPECT_THAT(take(), ElementsAre("a", "b"));
  EXPECT_THAT(take(), IsEmpty()) << "until they are done";
  set({master("a"), master("b"), master("c")});
  EXPECT_THAT(take(), ElementsAre("c"));
}

TEST_F(ProbeScheduleTest, IntervalIsJitteredByAQuarter) {
  for (const auto& [random, want] : {std::pair{0.0, 15}, std::pair{0.5, 20}, std::pair{0.96, 25}}) {
    set({});
    set({master("a")});
    take();
    answers(master("a"), random);
    EXPECT_EQ(due_after(), want) << random;
  }
}

TEST_F(ProbeScheduleTest, LoadingIsAskedMoreOftenFromNowOn) {
  set({master("a")});
  take();
  answers(master("a"));
  now_ += seconds(5);
  EXPECT_THAT(take(), IsEmpty());
  set({master("a", "10.0.0.7:19999", true)});
  EXPECT_THAT(take(), ElementsAre("a")) << "five seconds ago is long enough";
  answers(master("a"));
  EXPECT_EQ(due_after(), 5);
}

TEST_F(ProbeScheduleTest, MasterOfADatasetThatPodsWaitForIsAskedWithinTheSecond) {
  set({master("a")});
  take();
  answers(master("a"));
  AlluxioMaster awaited = master("a");
  awaited.awaited = true;
  set({awaited});
  now_ += milliseconds(399);
  EXPECT_THAT(take(), IsEmpty());
  now_ += milliseconds(1);
  EXPECT_THAT(take(), ElementsAre("a"));
}

TEST_F(ProbeScheduleTest, LoadingIsNeverAskedMoreSeldom) {
  schedule_ = ProbeSchedule({.every = seconds(2)});
  set({master("a", "10.0.0.7:19999", true)});
  take();
  answers(master("a"));
  EXPECT_EQ(due_after(), 2);
}

TEST_F(ProbeScheduleTest, SilentMasterIsAskedEverMoreSeldomUpToTwoMinutes) {
  set({master("a")});
  take();
  std::vector<int> waits;
  for (int i = 0; i < 5; ++i) {
    fails(master("a"));
    waits.push_back(due_after());
  }
  // 20 s doubled at each failure; 96 s is the longest that stays below 120 s with its jitter.
  EXPECT_THAT(waits, ElementsAre(40, 80, 96, 96, 96));
  fails(master("a"), 0.999);
  EXPECT_LE(due_after(), 120);
  answers(master("a"));
  EXPECT_EQ(due_after(), 20) << "as before, once it answers";
}

TEST_F(ProbeScheduleTest, TellsOfAnOutageOnceAndOfItsEndOnce) {
  set({master("a")});
  EXPECT_EQ(answers(master("a")), kSame);
  EXPECT_EQ(fails(master("a")), kWentSilent);
  EXPECT_EQ(fails(master("a")), kSame);
  EXPECT_EQ(answers(master("a")), kAnswersAgain);
  EXPECT_EQ(answers(master("a")), kSame);
}

TEST_F(ProbeScheduleTest, MasterAtAnotherAddressIsANewOne) {
  set({master("a")});
  take();
  fails(master("a"));
  set({master("a", "10.0.0.8:19999")});
  const auto taken = schedule_.take(now_);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->address, "10.0.0.8:19999");
  EXPECT_EQ(answers(master("a")), kForgotten) << "the old one's answer comes too late";
  EXPECT_EQ(fails(master("a", "10.0.0.8:19999")), kWentSilent);
}

TEST_F(ProbeScheduleTest, MasterThatIsGoneIsForgotten) {
  set({master("a")});
  take();
  set({});
  EXPECT_EQ(answers(master("a")), kForgotten);
  EXPECT_EQ(schedule_.masters(), 0U);
  now_ += seconds(3'600);
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(ProbeScheduleTest, ThoseThatAnswerComeBeforeThoseThatDoNot) {
  set({master("a"), master("b"), master("c")});
  take();
  fails(master("a"));
  answers(master("b"));
  now_ += seconds(1);
  answers(master("c"));
  now_ += seconds(300);
  EXPECT_THAT(take(), ElementsAre("b", "c", "a")) << "the longest waiting first";
}

TEST_F(ProbeScheduleTest, AgeIsThatOfTheLeastRecentAnswer) {
  EXPECT_EQ(schedule_.oldest(now_), seconds(0));
  set({master("a"), master("b")});
  now_ += seconds(10);
  answers(master("a"));
  fails(master("b"));
  now_ += seconds(5);
  EXPECT_EQ(schedule_.oldest(now_), seconds(15)) << "b has never answered since it is known";
  answers(master("b"));
  EXPECT_EQ(schedule_.oldest(now_), seconds(5)) << "a";
}

}  // namespace
}  // namespace berth::sources
