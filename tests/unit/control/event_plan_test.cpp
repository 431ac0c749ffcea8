#include "../src/control/event_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/policy/decide.h"
#include "berth/policy/what_if.h"
#include "support/snapshot_builder.h"

namespace berth::control {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using tests::SnapshotBuilder;
using SnapshotPtr = std::shared_ptr<const model::Snapshot>;
using Keys = std::vector<std::pair<std::string, std::string>>;

class EventPlanTest : public ::testing::Test {
 protected:
  std::shared_ptr<model::Pod> pod(const Keys& keys, std::int64_t gpus = 1) const {
    auto made = std::make_shared<model::Pod>();
    made->ns = "team";
    made->name = "train";
    made->uid = "uid-train";
    made->scheduler_name = "berth-scheduler";
    made->gpus = gpus;
    made->created = clock_.wall();
    for (const auto& [key, value] : keys) made->annotations.push_back({"berth.io/" + key, value});
    return made;
  }
  void waits(const std::shared_ptr<model::Pod>& pod) { plan_.heard({PodNews::kWaiting, pod}, *cluster_); }
  void binds(const std::shared_ptr<model::Pod>& pod, const std::string& node) {
    auto bound = std::make_shared<model::Pod>(*pod);
    bound->node = node;
    plan_.heard({PodNews::kBound, bound}, *cluster_);
  }
  // As the scheduler asks: Filter, then Prioritize.
  void asks(const std::shared_ptr<model::Pod>& pod) {
    model::PodRequest request = model::make_request(*pod, {});
    model::resolve_claims(request, *cluster_);
    const auto names = policy::all_names(*cluster_);
    const auto decisions = policy::what_if({*cluster_, request, names, 1, clock_.wall()}, {});
    plan_.decided(*decisions.filter, *cluster_);
    if (decisions.prioritize) plan_.decided(*decisions.prioritize, *cluster_);
  }
  // "REASON: message"
  std::vector<std::string> told() {
    std::vector<std::string> texts;
    for (const codec::PodEvent& event : plan_.take(*cluster_)) texts.push_back(event.reason + ": " + event.message);
    return texts;
  }

  core::ManualClock clock_;
  SnapshotPtr cluster_ =
      SnapshotBuilder().node("a").holds("team", "data").node("b").node("full", 8, 8).holds("team", "rare").build();
  EventPlan plan_{{}, {}, clock_};
};

TEST_F(EventPlanTest, BoundPodIsToldWhatItsNodeHolds) {
  const auto p = pod({{"datasets", "data"}});
  waits(p);
  asks(p);
  EXPECT_THAT(told(), IsEmpty());
  binds(p, "a");
  EXPECT_THAT(told(), ElementsAre(AllOf(StartsWith("DatasetLocality: node a has 100 % of team/data"),
                                        HasSubstr("runner-up b has none"))));
  EXPECT_EQ(plan_.locality().full, 1U);
}

TEST_F(EventPlanTest, EventNamesThePodAndItsNameIsAlwaysTheSame) {
  const auto p = pod({{"datasets", "data"}});
  waits(p);
  binds(p, "b");
  const auto first = plan_.take(*cluster_);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].ns, "team");
  EXPECT_EQ(first[0].pod, "train");
  EXPECT_EQ(first[0].uid, "uid-train");
  EXPECT_FALSE(first[0].warning);
  EXPECT_THAT(first[0].name, ::testing::MatchesRegex("train\\.[0-9a-f]{16}"));
  EventPlan restarted({}, {}, clock_);
  auto bound = std::make_shared<model::Pod>(*p);
  bound->node = "b";
  restarted.heard({PodNews::kBound, bound}, *cluster_);
  EXPECT_EQ(restarted.take(*cluster_).at(0).name, first[0].name);
}

TEST_F(EventPlanTest, PodWithoutDatasetsIsToldNothing) {
  const auto p = pod({});
  waits(p);
  asks(p);
  binds(p, "a");
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(plan_.locality().none, 0U);
}

TEST_F(EventPlanTest, BoundElsewhereThanBerthWanted) {
  const auto p = pod({{"datasets", "data"}});
  waits(p);
  asks(p);
  binds(p, "b");
  EXPECT_THAT(told(), ElementsAre(StartsWith("DatasetLocality: kube-scheduler chose b over Berth's a")));
  EXPECT_EQ(plan_.locality().none, 1U);
}

TEST_F(EventPlanTest, UnknownDatasetIsToldAtOnceAndOnce) {
  const auto p = pod({{"datasets", "dat"}});
  waits(p);
  model::Decision decision;
  decision.pod = model::make_request(*p, {});
  decision.asked = 3;
  decision.candidate_count = 3;
  decision.unknown_datasets = {"team/dat"};
  plan_.decided(decision, *cluster_);
  plan_.decided(decision, *cluster_);
  EXPECT_THAT(told(), ElementsAre("DatasetUnknown: no dataset team/dat (did you mean team/data?) exists; the pod is "
                                  "placed without regard to it"));
}

TEST_F(EventPlanTest, RequiredUnknownDatasetIsSaidToBeTheObstacle) {
  const auto p = pod({{"datasets", "dat"}, {"dataset-policy", "required"}});
  waits(p);
  model::Decision decision;
  decision.pod = model::make_request(*p, {});
  decision.rejected = {{0, model::Reason::kDatasetUnknown}};
  plan_.decided(decision, *cluster_);
  EXPECT_THAT(told(), ElementsAre(HasSubstr("it is required, so no node is taken")));
}

TEST_F(EventPlanTest, BadValueIsNamed) {
  const auto p = pod({{"min-coverage", "150"}});
  waits(p);
  asks(p);
  EXPECT_THAT(told(),
              ElementsAre("InvalidPolicy: annotation berth.io/min-coverage: \"150\" is not allowed; use per cent "
                          "above 0 and up to 100, such as 80"));
  clock_.advance(milliseconds(300'000));
  EXPECT_THAT(told(), IsEmpty()) << "that is why it waits";
}

// What asks may be anybody who reaches the port: nothing is written for pods that don't exist, or under their names.
TEST_F(EventPlanTest, PodIsToldOnceTheWatchHasShownItAndByTheNameThere) {
  const auto p = pod({{"min-coverage", "150"}, {"datasets", "dat"}});
  auto claimed = std::make_shared<model::Pod>(*p);
  claimed->ns = "../../nodes/a?";
  claimed->name = "other";
  asks(claimed);
  asks(claimed);
  EXPECT_THAT(told(), IsEmpty());
  waits(p);
  const auto events = plan_.take(*cluster_);
  ASSERT_FALSE(events.empty());
  for (const codec::PodEvent& event : events) {
    EXPECT_EQ(event.ns, "team");
    EXPECT_EQ(event.pod, "train");
  }
  asks(p);
  waits(p);
  EXPECT_THAT(told(), IsEmpty()) << "once each";
}

TEST_F(EventPlanTest, RejectedPodIsToldAfterFiveMinutesWhatItWaitsFor) {
  const auto p = pod({{"datasets", "rare"}, {"dataset-policy", "required"}});
  waits(p);
  model::Decision decision;
  decision.pod = model::make_request(*p, {});
  decision.rejected = {{0, model::Reason::kDatasetNotCached}, {1, model::Reason::kDatasetNotCached}};
  plan_.decided(decision, *cluster_);
  clock_.advance(milliseconds(299'999));
  EXPECT_THAT(told(), IsEmpty());
  clock_.advance(milliseconds(1));
  EXPECT_THAT(told(),
              ElementsAre("WaitingForPlace: its data is on full; no free GPU there: 2 nodes DATASET_NOT_CACHED"));
  clock_.advance(milliseconds(3'600'000));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(EventPlanTest, PodThatHasAPlaceDoesNotWaitForUs) {
  const auto p = pod({{"datasets", "data"}});
  waits(p);
  asks(p);
  clock_.advance(milliseconds(300'000));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(EventPlanTest, PodOfAnotherSchedulerIsNotOurs) {
  waits(pod({{"datasets", "rare"}}));
  clock_.advance(milliseconds(300'000));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(EventPlanTest, PodThatTheSchedulerItselfRejectedIsToldWhereItsDataIs) {
  const auto asked = pod({});
  asked->uid = "uid-other";
  waits(asked);
  asks(asked);
  waits(pod({{"datasets", "rare"}}));
  clock_.advance(milliseconds(300'000));
  EXPECT_THAT(told(), ElementsAre("WaitingForPlace: its data is on full; no free GPU there"));
}

TEST_F(EventPlanTest, AfterARestartItsConditionTellsThatItWasRejected) {
  const auto p = pod({{"datasets", "rare"}});
  p->rejected_by_us = true;
  clock_.advance(milliseconds(600'000));
  waits(p);
  EXPECT_THAT(told(), ElementsAre(StartsWith("WaitingForPlace: its data is on full")));
}

TEST_F(EventPlanTest, GatedPodWaitsForItsGate) {
  const auto p = pod({{"datasets", "rare"}});
  p->rejected_by_us = true;
  p->gated = true;
  waits(p);
  clock_.advance(milliseconds(300'000));
  EXPECT_THAT(told(), IsEmpty());
  p->gated = false;
  waits(p);
  clock_.advance(milliseconds(30'000));
  EXPECT_THAT(told(), ElementsAre(StartsWith("WaitingForPlace: ")));
}

TEST_F(EventPlanTest, PodThatIsGoneIsForgotten) {
  const auto p = pod({{"datasets", "rare"}});
  p->rejected_by_us = true;
  waits(p);
  plan_.heard({PodNews::kGone, p}, *cluster_);
  clock_.advance(milliseconds(300'000));
  EXPECT_THAT(told(), IsEmpty());
}

}  // namespace
}  // namespace berth::control
