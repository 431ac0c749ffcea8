// The gang table in the snapshot: where members are, how many there are to be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kGang = "ns/train pod-group";

model::Pod member(model::Pod what, std::int32_t members = 0, std::string gang = kGang) {
  what.gang = {std::move(gang), members};
  return what;
}

class Gangs : public testing::Test {
 protected:
  Gangs() { cluster_.tell(model::AllNodes{{node("n1"), node("n2")}}, model::AllPods{}); }
  // By node: so many members for certain, so many expected.
  std::map<std::string, std::pair<int, int>> placed(const std::string& gang = kGang) {
    const auto now = cluster_.snapshot();
    std::map<std::string, std::pair<int, int>> found;
    if (const auto* const one = now->gangs.find(gang)) {
      for (const auto& each : one->nodes)
        found[std::string(now->index->name(each.slot))] = {each.certain, each.expected};
    }
    return found;
  }
  std::int32_t size() {
    const auto* const found = cluster_.snapshot()->gangs.find(kGang);
    return found == nullptr ? -1 : found->size;
  }
  Cluster cluster_;
};

TEST_F(Gangs, MembersHaveAPlaceWhereTheyAreBoundNominatedOrExpected) {
  cluster_.set_pods(member(bound(pod("a", 8), "n1")), member(nominated(pod("b", 8), "n2")), member(pod("c", 8)),
                    member(pod("d", 8)));
  cluster_.post({.uid = "c-uid", .winner = "n2", .gpus = 8, .gang = {kGang, 0}});
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n1", Pair(1, 0)), Pair("n2", Pair(1, 1))));
  EXPECT_EQ(size(), 4);  // as many as are known, d without a place among them
}

// Two members scheduled within one second: the second is asked about before any watch has shown the first.
TEST_F(Gangs, APodThatTheWatchHasNotShownYetIsAMemberByItsSoftEntry) {
  cluster_.post({.uid = "a-uid", .winner = "n1", .gpus = 8, .gang = {kGang, 4}});
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n1", Pair(0, 1))));
  EXPECT_EQ(size(), 4);
  cluster_.pass(std::chrono::seconds(31));
  EXPECT_EQ(size(), -1);
}

TEST_F(Gangs, ASoftEntryThatEndsByTimeTakesThePlaceAndNotTheMember) {
  cluster_.set_pods(member(pod("a", 8)));
  cluster_.post({.uid = "a-uid", .winner = "n1", .gpus = 8, .gang = {kGang, 0}});
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n1", Pair(0, 1))));
  cluster_.pass(std::chrono::seconds(31));
  EXPECT_THAT(placed(), IsEmpty());
  EXPECT_EQ(size(), 1);
}

TEST_F(Gangs, AnExpectedMemberThatIsNominatedThereIsCertain) {
  cluster_.set_pods(member(pod("a", 8)));
  cluster_.post({.uid = "a-uid", .winner = "n1", .gpus = 8, .gang = {kGang, 0}});
  cluster_.set_pods(member(nominated(pod("a", 8), "n1")));
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n1", Pair(1, 0))));
}

TEST_F(Gangs, APodThatChangesItsGangTakesItsPlaceAlong) {
  cluster_.set_pods(member(bound(pod("a", 8), "n1")), member(bound(pod("b", 8), "n1")));
  cluster_.set_pods(member(bound(pod("a", 8), "n1"), 0, "ns/other job"));
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n1", Pair(1, 0))));
  EXPECT_THAT(placed("ns/other job"), UnorderedElementsAre(Pair("n1", Pair(1, 0))));
  EXPECT_EQ(size(), 1);
}

TEST_F(Gangs, WhoIsBoundElsewhereThanExpectedStandsWhereItIsBound) {
  cluster_.set_pods(member(pod("a", 8)));
  cluster_.post({.uid = "a-uid", .winner = "n1", .gpus = 8, .gang = {kGang, 0}});
  cluster_.set_pods(member(bound(pod("a", 8), "n2")));
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n2", Pair(1, 0))));
}

// The greater of what is told and what is known; those that succeeded are no longer to run.
TEST_F(Gangs, SizeIsWhatIsToRunAtOnce) {
  cluster_.set_pods(member(bound(pod("a", 8), "n1"), 4), member(pod("b", 8), 4));
  EXPECT_EQ(size(), 4);
  cluster_.set_pods(member(ended(bound(pod("a", 8), "n1")), 4));
  EXPECT_EQ(size(), 3);
  EXPECT_THAT(placed(), IsEmpty());
  cluster_.set_pods(member(ended(pod("b", 8), model::PodPhase::kFailed), 4), member(pod("b2", 8), 4));
  EXPECT_EQ(size(), 3);
  cluster_.set_pods(member(pod("c", 8), 2), member(pod("d", 8), 2), member(pod("e", 8), 2), member(pod("f", 8), 2));
  EXPECT_EQ(size(), 5);  // b2, c, d, e, f
}

TEST_F(Gangs, AGangWithoutPodsIsForgotten) {
  cluster_.set_pods(member(bound(pod("a", 8), "n1")), member(pod("b", 8)));
  cluster_.remove_pod(pod("a", 8));
  EXPECT_THAT(placed(), IsEmpty());
  EXPECT_EQ(size(), 1);
  cluster_.set_pods(pod("b", 8));  // its label was taken away
  EXPECT_EQ(size(), -1);
}

TEST_F(Gangs, AGangThatComesAgainHasNothingOfTheOneBefore) {
  cluster_.set_pods(member(bound(pod("a", 8), "n1")));
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n1", Pair(1, 0))));
  cluster_.tell(model::PodGone{"ns", "a", "a-uid"}, model::PodSet{member(bound(pod("b", 8), "n2"))});
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n2", Pair(1, 0))));
}

TEST_F(Gangs, ANodeThatGoesTakesItsMembersPlacesAndGivesThemBack) {
  cluster_.set_pods(member(bound(pod("a", 8), "n1")), member(bound(pod("b", 8), "n2")));
  cluster_.tell(model::NodeGone{"n1"});
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n2", Pair(1, 0))));
  cluster_.set_nodes(node("n0"), node("n1"));  // n0 has taken the slot
  EXPECT_THAT(placed(), UnorderedElementsAre(Pair("n1", Pair(1, 0)), Pair("n2", Pair(1, 0))));
}

// A cluster's jobs without GPUs are many, and none of our business.
TEST_F(Gangs, PodsThatAskForNothingOfOursAreNotKept) {
  cluster_.set_pods(member(bound(pod("a", 0), "n1")));
  EXPECT_EQ(size(), -1);
}

TEST_F(Gangs, OnlyShardsOfChangedGangsAreCopied) {
  cluster_.set_pods(member(bound(pod("a", 1), "n1")), member(bound(pod("b", 1), "n1"), 0, "ns/other job"));
  const auto before = cluster_.snapshot();
  cluster_.set_pods(member(pod("c", 1)));
  const auto after = cluster_.snapshot();
  EXPECT_EQ(before->gangs.find("ns/other job"), after->gangs.find("ns/other job"));
  EXPECT_NE(before->gangs.find(kGang), after->gangs.find(kGang));
}

// By level, whether two nodes are near each other.
TEST_F(Gangs, NodesAreNearByTheLevelsWhoseLabelTheyShare) {
  const auto stands = [](std::string name, std::vector<std::string> levels) {
    model::Node made = node(std::move(name));
    made.levels = std::move(levels);
    return made;
  };
  cluster_.set_nodes(stands("n1", {"c1", "r1", "z"}), stands("n2", {"", "r1", "z"}), stands("n3", {"", "", "z"}));
  const auto now = cluster_.snapshot();
  const auto place = [&](const char* name) { return (*now->places)[cluster_.at(name).place]; };
  const model::Place one = place("n1");
  const model::Place two = place("n2");
  const model::Place three = place("n3");
  EXPECT_NE(one.levels[0], 0U);
  EXPECT_EQ(two.levels[0], 0U);  // NVIDIA-NeMo/RL#2924: no clique is not a clique of its own
  EXPECT_EQ(three.levels[0], 0U);
  EXPECT_EQ(one.levels[1], two.levels[1]);
  EXPECT_EQ(three.levels[1], 0U);
  EXPECT_EQ(one.levels[2], three.levels[2]);
  cluster_.set_nodes(stands("n2", {"c1", "r2", "z"}));
  const auto later = cluster_.snapshot();
  const auto& moved = (*later->places)[cluster_.at("n2").place];
  EXPECT_EQ(moved.levels[0], one.levels[0]);
  EXPECT_NE(moved.levels[1], one.levels[1]);
}

}  // namespace
}  // namespace berth::state
