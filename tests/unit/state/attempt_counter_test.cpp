#include "../src/state/attempt_counter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using std::chrono::milliseconds;

core::SteadyTime at(int ms) { return core::SteadyTime(milliseconds(ms)); }

constexpr auto kFilter = model::Verb::kFilter;
constexpr auto kPrioritize = model::Verb::kPrioritize;

struct Call {
  int at_ms;
  model::Verb verb;
  std::uint32_t attempt;
};
struct Sequence {
  const char* name;
  std::vector<Call> calls;
};
class AttemptOf : public testing::TestWithParam<Sequence> {};

TEST_P(AttemptOf, EachCallWithAGapOfOneSecond) {
  AttemptCounter attempts(milliseconds(1000), 10);
  for (const Call& call : GetParam().calls) {
    EXPECT_EQ(attempts.number("p", call.verb, at(call.at_ms)), call.attempt) << call.at_ms << " ms";
    attempts.record("p", call.verb, at(call.at_ms));
  }
  EXPECT_EQ(attempts.number("q", kFilter, at(60'000)), 1U) << "another pod";
}

INSTANTIATE_TEST_SUITE_P(
    Table, AttemptOf,
    testing::Values(
        Sequence{"one_attempt_is_filter_and_prioritize", {{0, kFilter, 1}, {5, kPrioritize, 1}}},
        Sequence{"the_gap_is_counted_from_the_filter",
                 {{0, kFilter, 1}, {5, kPrioritize, 1}, {999, kFilter, 1}, {1000, kFilter, 2}, {1999, kFilter, 2}}},
        Sequence{"retries_every_900_ms",
                 {{0, kFilter, 1}, {900, kFilter, 1}, {1800, kFilter, 2}, {2700, kFilter, 2}, {3600, kFilter, 3}}},
        Sequence{"retries_every_100_ms",
                 {{0, kFilter, 1},
                  {100, kFilter, 1},
                  {900, kFilter, 1},
                  {1000, kFilter, 2},
                  {1100, kFilter, 2},
                  {1900, kFilter, 2},
                  {2000, kFilter, 3}}},
        Sequence{"every_prioritize_is_late",
                 {{0, kFilter, 1},
                  {1500, kPrioritize, 1},
                  {2000, kFilter, 2},
                  {9000, kPrioritize, 2},
                  {9001, kFilter, 3},
                  {9002, kPrioritize, 3}}},
        Sequence{"a_late_prioritize_does_not_put_the_next_attempt_off",
                 {{0, kFilter, 1}, {1900, kPrioritize, 1}, {1950, kFilter, 2}}},
        Sequence{
            "a_repeated_filter_waits_for_its_prioritize_again",
            {{0, kFilter, 1}, {10, kPrioritize, 1}, {900, kFilter, 1}, {1100, kPrioritize, 1}, {1800, kFilter, 2}}},
        Sequence{"a_late_prioritize_repeated_is_an_attempt_but_once",
                 {{0, kFilter, 1}, {1500, kPrioritize, 1}, {1600, kPrioritize, 2}, {1700, kPrioritize, 2}}},
        Sequence{"prioritize_only",
                 {{0, kPrioritize, 1}, {500, kPrioritize, 1}, {5000, kPrioritize, 2}, {9000, kPrioritize, 3}}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Attempts, AskingForTheNumberCountsNothing) {
  AttemptCounter attempts(milliseconds(1000), 10);
  for (int second = 0; second < 5; ++second) EXPECT_EQ(attempts.number("p", kFilter, at(1000 * second)), 1U);
  EXPECT_EQ(attempts.size(), 0U);
}

TEST(Attempts, ThePodAskedAboutLongestAgoMakesRoom) {
  AttemptCounter attempts(milliseconds(1000), 2);
  attempts.record("p", kFilter, at(0));
  attempts.record("q", kFilter, at(1));
  attempts.record("p", kFilter, at(2));
  attempts.record("r", kFilter, at(3));
  EXPECT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts.number("p", kFilter, at(5000)), 2U);
  EXPECT_EQ(attempts.number("q", kFilter, at(5000)), 1U);
  EXPECT_EQ(attempts.number("r", kFilter, at(5000)), 2U);
}

TEST(Attempts, NoneAreKeptWithoutRoom) {
  AttemptCounter attempts(milliseconds(1000), 0);
  attempts.record("p", kFilter, at(0));
  EXPECT_EQ(attempts.number("p", kFilter, at(5000)), 1U);
}

TEST(Attempts, PrioritizeOfAPostedFilterIsNoNewOne) {
  Cluster cluster;
  cluster.set_pods(pod("p", 2));
  cluster.state.post({.uid = "p-uid", .winner = "", .gpus = 2});
  cluster.clock.advance(milliseconds(2000));
  EXPECT_EQ(cluster.state.attempt_number("p-uid", kPrioritize), 1U);
  cluster.state.post({.uid = "p-uid", .winner = "", .gpus = 2, .verb = kPrioritize});
  EXPECT_EQ(cluster.state.attempt_number("p-uid"), 2U);
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
