#include "../src/state/attempt_counter.h"

#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using std::chrono::milliseconds;

core::SteadyTime at(int ms) { return core::SteadyTime(milliseconds(ms)); }

TEST(Attempts, CallsCloserTogetherThanTheGapAreOneAttempt) {
  AttemptCounter attempts(milliseconds(1000), 10);
  EXPECT_EQ(attempts.number("p", at(0)), 1U);
  attempts.record("p", at(0));
  EXPECT_EQ(attempts.number("p", at(5)), 1U);  // Prioritize after Filter
  attempts.record("p", at(5));
  EXPECT_EQ(attempts.number("p", at(1004)), 1U);
  EXPECT_EQ(attempts.number("p", at(1005)), 2U);
  attempts.record("p", at(1005));
  EXPECT_EQ(attempts.number("p", at(1006)), 2U);
  EXPECT_EQ(attempts.number("q", at(1006)), 1U);
}

TEST(Attempts, AskingForTheNumberCountsNothing) {
  AttemptCounter attempts(milliseconds(1000), 10);
  for (int second = 0; second < 5; ++second) EXPECT_EQ(attempts.number("p", at(1000 * second)), 1U);
  EXPECT_EQ(attempts.size(), 0U);
}

TEST(Attempts, ThePodAskedAboutLongestAgoMakesRoom) {
  AttemptCounter attempts(milliseconds(1000), 2);
  attempts.record("p", at(0));
  attempts.record("q", at(1));
  attempts.record("p", at(2));
  attempts.record("r", at(3));
  EXPECT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts.number("p", at(5000)), 2U);
  EXPECT_EQ(attempts.number("q", at(5000)), 1U);
  EXPECT_EQ(attempts.number("r", at(5000)), 2U);
}

TEST(Attempts, NoneAreKeptWithoutRoom) {
  AttemptCounter attempts(milliseconds(1000), 0);
  attempts.record("p", at(0));
  EXPECT_EQ(attempts.number("p", at(5000)), 1U);
}

TEST(Attempts, ArePostedWithTheAnswer) {
  Cluster cluster;
  cluster.set_pods(pod("p", 2));
  EXPECT_EQ(cluster.state.attempt_number("p-uid"), 1U);
  cluster.state.post({"p-uid", "", 2});
  cluster.clock.advance(milliseconds(999));
  EXPECT_EQ(cluster.state.attempt_number("p-uid"), 1U);
  cluster.clock.advance(milliseconds(1));
  EXPECT_EQ(cluster.state.attempt_number("p-uid"), 2U) << "known before the builder has seen the first";
}

struct ForgottenCase {
  const char* name;
  model::ClusterUpdate by;
};
class Forgotten : public testing::TestWithParam<ForgottenCase> {};
INSTANTIATE_TEST_SUITE_P(Table, Forgotten,
                         testing::Values(ForgottenCase{"bound", model::PodSet{bound(pod("p", 2), "a")}},
                                         ForgottenCase{"ended", model::PodSet{ended(pod("p", 2))}},
                                         ForgottenCase{"deleted", model::PodGone{"ns", "p", "p-uid"}},
                                         ForgottenCase{"not in a complete list", model::AllPods{}}));

TEST_P(Forgotten, WithThePod) {
  Cluster cluster;
  cluster.set_pods(pod("p", 2));
  cluster.post({"p-uid", "", 2});
  cluster.clock.advance(milliseconds(5000));
  EXPECT_EQ(cluster.state.attempt_number("p-uid"), 2U);
  cluster.tell(GetParam().by);
  EXPECT_EQ(cluster.state.attempt_number("p-uid"), 1U) << GetParam().name;
}

TEST(Attempts, OfAPodThatIsKnownToBeBoundAreNotKept) {
  Cluster cluster;
  cluster.set_pods(bound(pod("p", 2), "a"));
  cluster.post({"p-uid", "", 2});
  cluster.clock.advance(milliseconds(5000));
  EXPECT_EQ(cluster.state.attempt_number("p-uid"), 1U);
}

}  // namespace
}  // namespace berth::state
