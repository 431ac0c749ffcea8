#include "berth/control/waiting_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/update_recorder.h"

namespace berth::control {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

model::Pod waiting_pod(const std::string& name, std::int64_t gpus = 1, const std::string& node = {}) {
  model::Pod made;
  made.ns = "ns";
  made.name = name;
  made.uid = "uid-" + name;
  made.gpus = gpus;
  made.node = node;
  return made;
}

class WaitingPodsTest : public ::testing::Test {
 protected:
  void set(model::Pod pod) { pods_.push(model::PodSet{std::move(pod)}); }
  // "+p" waits, "=p" is bound, "-p" is gone.
  std::vector<std::string> heard() {
    std::vector<std::string> told;
    for (const PodNotice& notice : pods_.take()) {
      told.push_back("+=-"[static_cast<int>(notice.news)] + notice.pod->name);
    }
    return told;
  }

  testing::UpdateRecorder next_;
  WaitingPods pods_{next_, 3};
};

TEST_F(WaitingPodsTest, EveryUpdateIsHandedOnInOrder) {
  pods_.push(model::AllNodes{});
  set(waiting_pod("p"));
  pods_.push(model::PodGone{"ns", "p", "uid-p"});
  pods_.push(model::AllPods{{waiting_pod("q"), waiting_pod("r", 1, "a")}});
  EXPECT_THAT(next_.told(), ElementsAre("all nodes 0", "pod ns/p", "pod ns/p uid-p gone", "all pods 2"));
}

TEST_F(WaitingPodsTest, TellsWhoWaitsIsBoundAndGoes) {
  set(waiting_pod("p"));
  set(waiting_pod("q"));
  EXPECT_EQ(pods_.size(), 2U);
  set(waiting_pod("p", 1, "a"));
  pods_.push(model::PodGone{"ns", "q", "uid-q"});
  EXPECT_THAT(heard(), ElementsAre("+p", "+q", "=p", "-q"));
  EXPECT_THAT(heard(), IsEmpty());
  EXPECT_EQ(pods_.size(), 0U);
}

TEST_F(WaitingPodsTest, PodThatEndsOrIsBeingDeletedIsGone) {
  set(waiting_pod("p"));
  set(waiting_pod("q"));
  model::Pod failed = waiting_pod("p");
  failed.phase = model::PodPhase::kFailed;
  set(failed);
  model::Pod deleting = waiting_pod("q");
  deleting.deleting = true;
  set(deleting);
  EXPECT_THAT(heard(), ElementsAre("+p", "+q", "-p", "-q"));
}

TEST_F(WaitingPodsTest, OthersPodsAndPodsSeenBoundAtFirstAreNotTold) {
  set(waiting_pod("p", 0));
  set(waiting_pod("q", 1, "a"));
  model::Pod woken = waiting_pod("r", 0);
  woken.annotations = {{"berth.io/wake", "2026-11-29T16:00:00Z"}};
  set(woken);
  EXPECT_THAT(heard(), IsEmpty());
  model::Pod claims = waiting_pod("s", 0);
  claims.claims = {"volume"};
  set(claims);
  model::Pod uses = waiting_pod("t", 0);
  uses.datasets_in_use = {"imagenet"};
  set(uses);
  EXPECT_THAT(heard(), ElementsAre("+s", "+t"));
}

TEST_F(WaitingPodsTest, NewListTellsWhatHappenedMeanwhile) {
  for (const char* name : {"p", "q", "r"}) set(waiting_pod(name));
  EXPECT_THAT(heard(), ElementsAre("+p", "+q", "+r"));
  pods_.push(model::AllPods{{waiting_pod("q", 1, "a"), waiting_pod("r")}});
  EXPECT_THAT(heard(), ElementsAre("-p", "=q", "+r"));
}

TEST_F(WaitingPodsTest, PodOfTheSameNameIsAnother) {
  set(waiting_pod("p"));
  model::Pod second = waiting_pod("p");
  second.uid = "uid-second";
  set(second);
  pods_.push(model::PodGone{"ns", "p", "uid-p"});
  EXPECT_EQ(pods_.size(), 1U);
}

TEST_F(WaitingPodsTest, UnboundPodsOfOthersAreKnownByUid) {
  set(waiting_pod("web", 0));
  set(waiting_pod("p"));
  EXPECT_TRUE(pods_.is_of_others("uid-web"));
  EXPECT_FALSE(pods_.is_of_others("uid-p"));
  EXPECT_FALSE(pods_.is_of_others("uid-unheard-of"));
  set(waiting_pod("web", 0, "a"));
  EXPECT_FALSE(pods_.is_of_others("uid-web"));
  set(waiting_pod("api", 0));
  pods_.push(model::AllPods{});
  EXPECT_FALSE(pods_.is_of_others("uid-api"));
}

TEST_F(WaitingPodsTest, AtMostSoManyAreKept) {
  for (const char* name : {"p", "q", "r", "s"}) set(waiting_pod(name));
  EXPECT_THAT(heard(), ElementsAre("+p", "+q", "+r"));
  set(waiting_pod("p", 1, "a"));
  set(waiting_pod("s"));
  EXPECT_THAT(heard(), ElementsAre("=p", "+s"));
}

}  // namespace
}  // namespace berth::control
