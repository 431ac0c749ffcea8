// Whom to evict on one node.
#include "preempt_fixture.h"

namespace berth::policy {
namespace {

using model::mask;

// A DGX-1 on which all pods but those named have a priority that nobody outranks here.
SnapshotBuilder only(const std::vector<model::Occupant>& evictable) {
  SnapshotBuilder cluster;
  cluster.node("dgx", 8, 0, tests::kV100);
  model::GpuMask held = 0;
  for (const model::Occupant& pod : evictable) {
    held |= pod.placement.gpus;
    cluster.occupant(pod);
  }
  for (int gpu = 0; gpu < 8; ++gpu) {
    if (!model::contains(held, gpu)) cluster.occupant(holder("high" + std::to_string(gpu), {gpu}, 1000));
  }
  return cluster;
}

// volcano#5906, kubernetes PR#135486: the scheduler frees two GPUs with no link between them. With the pod that loses
// the least in place of one of them, a linked pair is free and no more pods go.
TEST(PreemptVictims, TheFewestThatFreeAConnectedSet) {
  SnapshotBuilder cluster;
  cluster.node("dgx", 8, 0, tests::kV100);
  for (int gpu = 0; gpu < 8; ++gpu) {
    const auto pod = holder("g" + std::to_string(gpu), {gpu});
    cluster.occupant(gpu == 3 ? saved(pod, 5) : pod);
  }
  const auto answered = preempt(cluster, restricted(2), {offer("dgx", {"g0", "g5"})});
  EXPECT_THAT(answered.victims, ElementsAre(Pair("dgx", ElementsAre("g0", "g3"))));
  EXPECT_EQ(answered.outcome.added, 1U);
  EXPECT_EQ(answered.outcome.spared, 1U);
}

// The scheduler knows the pods that it has bound before the watch shows them to us.
TEST(PreemptVictims, OneThatBindHasJustPlacedIsAHolderLikeTheOthers) {
  const auto cluster = SnapshotBuilder()
                           .node("dgx", 8, 0, tests::kV100)
                           .occupant(holder("a", {6, 7}))
                           .occupant(holder("b", {4, 5}))
                           .occupant(holder("high", {0, 1}, 1000))
                           .promised("late", 2, model::EntryKind::kFirm, 0, {.gpus = mask({2, 3})})
                           .node("other", 8, 0, tests::kV100);
  EXPECT_THAT(preempt(cluster, restricted(2), {offer("dgx", {"late"})}).victims["dgx"], ElementsAre("late"));
  // 2-3 and 4-5 have no link between them, 2-3 and 6-7 have; "late" has no work to lose.
  const auto quad = preempt(cluster, restricted(4), {offer("dgx", {"b", "late"})});
  EXPECT_THAT(quad.victims.at("dgx"), UnorderedElementsAre("a", "late"));
  EXPECT_EQ(quad.outcome.spared, 1U);
  EXPECT_EQ(preempt(cluster, restricted(2), {offer("other", {"late"})}).outcome.misplaced, 1U);
}

TEST(PreemptVictims, NobodyMoreWhereTheSchedulersVictimsDo) {
  const auto answered = preempt(dgx1_full_of_ones(), restricted(2), {offer("dgx", {"g7", "g4"})});
  EXPECT_THAT(answered.victims, ElementsAre(Pair("dgx", ElementsAre("g7", "g4"))));
}

// What the scheduler wanted of a pod, CPU and memory too, one of the same controller with the same demand gives as
// well.
TEST(PreemptVictims, AlikePodsStandInForEachOther) {
  SnapshotBuilder cluster;
  cluster.node("dgx", 8, 0, tests::kV100);
  for (int gpu = 0; gpu < 8; ++gpu) {
    auto pod = labelled(of(holder("g" + std::to_string(gpu), {gpu}), "job"),
                        {{"app", "train"}, {"batch.kubernetes.io/job-completion-index", std::to_string(gpu)}});
    cluster.occupant(gpu == 3 ? saved(pod, 5) : pod);
  }
  const auto answered = preempt(cluster, restricted(2), {offer("dgx", {"g0", "g5"})});
  // GPU 3 has links to 0, 1, 2 and 7; of equal losses the lowest UIDs.
  EXPECT_THAT(answered.victims, ElementsAre(Pair("dgx", ElementsAre("g0", "g3"))));
  EXPECT_EQ(answered.outcome.added, 1U);
  EXPECT_EQ(answered.outcome.spared, 1U);
}

TEST(PreemptVictims, PodsOfOtherControllersLabelsOrDemandsAreNotAlike) {
  const auto answer = [](model::Occupant other) {
    auto cluster = only({of(holder("g0", {0}), "job"), of(holder("g5", {5}), "job"), std::move(other)});
    return preempt(cluster, preemptor(2), {offer("dgx", {"g0", "g5"})}).victims["dgx"];
  };
  EXPECT_THAT(answer(of(holder("g1", {1}), "job")), ElementsAre("g0", "g1"));
  EXPECT_THAT(answer(of(holder("g1", {1}), "other")), ElementsAre("g0", "g5"));
  EXPECT_THAT(answer(holder("g1", {1})), ElementsAre("g0", "g5"));
  EXPECT_THAT(answer(labelled(of(holder("g1", {1}), "job"), {{"role", "master"}})), ElementsAre("g0", "g5"));
  EXPECT_THAT(answer(of(holder("g1", {1}, -1), "job")), ElementsAre("g0", "g5"));
  EXPECT_THAT(answer(of(holder("g1", {1, 2}), "job")), ElementsAre("g0", "g5"));
}

// Where the scheduler's choice is in vain as it is, what counts is how many GPUs come free.
TEST(PreemptVictims, OthersThatHoldAsManyStandInWhereTheChoiceWouldNotDo) {
  const auto answer = [](std::vector<model::Occupant> pods) {
    return preempt(only(pods), restricted(2), {offer("dgx", {"g0", "g5"})}).victims["dgx"];
  };
  const auto g0 = holder("g0", {0});
  const auto g5 = holder("g5", {5});
  EXPECT_THAT(answer({g0, g5, holder("g1", {1})}), ElementsAre("g0", "g1"));
  EXPECT_THAT(answer({g0, g5, holder("both", {1, 2})}), ElementsAre("both"));
  EXPECT_THAT(answer({g0, g5, holder("g3", {3}, -10, 30), holder("g7", {7}, -10)}), ElementsAre("g7", "g3"));
  // No pod goes in place of one of lower priority.
  EXPECT_THAT(answer({g0, g5, holder("g1", {1}, 50)}), ElementsAre("g1", "g0", "g5"));
}

TEST(PreemptVictims, ABestEffortPodGetsAConnectedSetOnlyFromAlikePods) {
  const std::vector<model::PreemptionCandidate> offered = {offer("dgx", {"g0", "g5"})};
  EXPECT_THAT(preempt(dgx1_full_of_ones(), preemptor(2), offered).victims,
              ElementsAre(Pair("dgx", ElementsAre("g0", "g5"))));
  const auto alike = only({of(holder("g0", {0}), "job"), of(holder("g1", {1}), "job"), of(holder("g5", {5}), "job")});
  EXPECT_THAT(preempt(alike, preemptor(2), offered).victims, ElementsAre(Pair("dgx", ElementsAre("g0", "g1"))));
  // Links don't count for it.
  EXPECT_THAT(preempt(alike, preemptor(2, {{"topology-policy", "none"}}), offered).victims,
              ElementsAre(Pair("dgx", ElementsAre("g0", "g5"))));
}

struct Choice {
  const char* name;
  std::vector<model::Occupant> evictable;
  std::vector<std::string> want;
};
class PreemptChoice : public testing::TestWithParam<Choice> {};

// The scheduler wants g0 and g5, which have no link; GPU 0 has links to 1, 2, 3, 4 and GPU 5 to 1, 4, 6, 7.
INSTANTIATE_TEST_SUITE_P(
    Order, PreemptChoice,
    testing::Values(
        Choice{"LowestPriorityBeforeLeastWorkLost",
               {holder("g0", {0}), holder("g5", {5}), holder("low", {2}, -10, 600), holder("fresh", {3}, 0, 1)},
               {"g0", "low"}},
        Choice{
            "LeastWorkLostSinceStartOrCheckpoint",
            {holder("g0", {0}), holder("g5", {5}), holder("young", {2}, 0, 30), saved(holder("safe", {3}, 0, 600), 10)},
            {"g0", "safe"}},
        // Ten minutes on two GPUs are twenty.
        Choice{"WorkIsTimesGpus",
               {holder("g0", {0}), holder("g5", {5}), holder("wide", {2, 7}, 0, 10), holder("narrow", {1}, 0, 15)},
               {"g0", "narrow"}},
        Choice{"FewestGpusWhereNothingIsLost",
               {holder("g0", {0}), holder("g5", {5}), holder("wide", {2, 7}, 0, 0), holder("young", {4}, 0, 0)},
               {"g0", "young"}},
        Choice{"LowestUidInTheEnd",
               {holder("g0", {0}), holder("g5", {5}), holder("b", {2}), holder("a", {3})},
               {"g0", "a"}},
        Choice{"AVictimOfHigherPriorityGoesBeforeTheSchedulers",
               {holder("g0", {0}), holder("g5", {5}), holder("higher", {1}, 50)},
               {"higher", "g0", "g5"}}),
    [](const auto& given) { return std::string(given.param.name); });

TEST_P(PreemptChoice, AddsTheCheapest) {
  const auto answered = preempt(only(GetParam().evictable), restricted(2), {offer("dgx", {"g0", "g5"})});
  EXPECT_THAT(answered.victims, ElementsAre(Pair("dgx", testing::ElementsAreArray(GetParam().want))));
}

// kubernetes PR#135486: later schedulers offer a node that only the extender rejected, with nobody to evict.
TEST(PreemptVictims, ANodeThatOnlyWeRejectedGetsItsVictims) {
  // GPUs 0 and 5 are free and have no link.
  const auto cluster = SnapshotBuilder()
                           .node("dgx", 8, 0, tests::kV100)
                           .occupant(holder("pair", {1, 2}, 0, 10))
                           .occupant(holder("high", {4, 6, 7}, 1000))
                           .occupant(holder("single", {3}, 0, 60));
  EXPECT_THAT(preempt(cluster, restricted(2), {offer("dgx", {})}).victims,
              ElementsAre(Pair("dgx", ElementsAre("pair"))));
}

TEST(PreemptVictims, NobodyIsEvictedWhereThePodFits) {
  const auto answered = preempt(SnapshotBuilder().node("dgx", 8, 0, tests::kV100), restricted(2), {offer("dgx", {})});
  EXPECT_THAT(answered.victims, IsEmpty());
  EXPECT_EQ(answered.outcome.misplaced, 1U);
}

// Where nobody knows which GPUs are held, only a whole free node is sure to be connected.
TEST(PreemptVictims, UnknownGpusTakeTheWholeNode) {
  const auto unknown = [](std::string name, int gpus, int priority = 0) {
    auto pod = holder(std::move(name), {}, priority);
    pod.gpus = gpus;
    return pod;
  };
  auto cluster = SnapshotBuilder().node("n", 8, 0, "New-Card").occupant(unknown("a", 4)).occupant(unknown("b", 4));
  EXPECT_THAT(preempt(cluster, restricted(4), {offer("n", {"a"})}).victims,
              ElementsAre(Pair("n", ElementsAre("a", "b"))));
  auto high = SnapshotBuilder().node("n", 8, 0, "New-Card").occupant(unknown("a", 4)).occupant(unknown("b", 4, 1000));
  EXPECT_THAT(preempt(high, restricted(4), {offer("n", {"a"})}).rejected,
              ElementsAre(Pair("n", "TOPOLOGY_RESTRICTED")));
}

TEST(PreemptVictims, GpusPromisedToOthersAreNotTheirs) {
  // A firm entry of the same priority takes the best of what would be free: 0 and 3. GPU 5 alone has no link left.
  auto cluster = only({holder("g0", {0}), holder("g3", {3}), holder("g5", {5}), holder("g7", {7})});
  cluster.promised("other", 2, model::EntryKind::kFirm, 100);
  const auto answered = preempt(cluster, restricted(2), {offer("dgx", {"g0", "g3", "g5"})});
  EXPECT_THAT(answered.victims, ElementsAre(Pair("dgx", ElementsAre("g0", "g3", "g5", "g7"))));
}

class PreemptBudgets : public testing::Test {
 protected:
  static model::DisruptionBudget budget(std::int32_t allowed) {
    model::DisruptionBudget made;
    made.ns = "team";
    made.name = "serving";
    made.selector = {{"app", model::SelectorTerm::Operator::kIn, {"serving"}}};
    made.allowed = allowed;
    return made;
  }
  static model::Occupant serving(std::string name, int gpu, int minutes = 60) {
    return labelled(holder(std::move(name), {gpu}, 0, minutes), {{"app", "serving"}});
  }
  const std::vector<model::PreemptionCandidate> offered_ = {offer("dgx", {"g0", "g5"})};
};

TEST_F(PreemptBudgets, APodThatABudgetProtectsIsTheLastChoice) {
  auto cluster = only({holder("g0", {0}), holder("g5", {5}), serving("protected", 3, 1), holder("other", {2})});
  EXPECT_THAT(preempt(cluster, restricted(2), offered_).victims["dgx"], ElementsAre("g0", "protected"));
  const auto answered = preempt(cluster.budget(budget(0)), restricted(2), offered_);
  EXPECT_THAT(answered.victims.at("dgx"), ElementsAre("g0", "other"));
  EXPECT_EQ(answered.violations.at("dgx"), 0);
}

TEST_F(PreemptBudgets, ViolationsAreCountedAnewAsTheSchedulerDoes) {
  const auto violations = [this](std::int32_t allowed) {
    auto cluster = only({serving("g0", 0), serving("g5", 5), serving("g1", 1)});
    return preempt(cluster.budget(budget(allowed)), restricted(2), offered_).violations.at("dgx");
  };
  EXPECT_EQ(violations(0), 2);
  EXPECT_EQ(violations(1), 1);
  EXPECT_EQ(violations(2), 0);
}

TEST_F(PreemptBudgets, WhatTheSchedulerDoesNotCountDoesNotCount) {
  const auto violations = [this](const model::DisruptionBudget& budget) {
    auto cluster = only({holder("g0", {0}), holder("g5", {5}), serving("g1", 1)});
    return preempt(cluster.budget(budget), restricted(2), offered_).violations.at("dgx");
  };
  auto other = budget(0);
  EXPECT_EQ(violations(other), 1);
  other.ns = "elsewhere";
  EXPECT_EQ(violations(other), 0);
  other = budget(0);
  other.disrupted = {"g1"};
  EXPECT_EQ(violations(other), 0);
  other = budget(0);
  other.selector.clear();
  EXPECT_EQ(violations(other), 0);
}

TEST_F(PreemptBudgets, TheSchedulersCountOfItsOwnVictimsStands) {
  auto cluster = only({holder("g0", {0}), holder("g5", {5}), holder("g1", {1})});
  EXPECT_EQ(preempt(cluster, preemptor(2), {offer("dgx", {"g0", "g5"}, 2)}).violations.at("dgx"), 2);
  // One of them is spared.
  EXPECT_EQ(preempt(cluster, restricted(2), {offer("dgx", {"g0", "g5"}, 2)}).violations.at("dgx"), 1);
}

}  // namespace
}  // namespace berth::policy
