// What the ledger holds, seen through the snapshot.
#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using model::EntryKind;
using std::chrono::milliseconds;

// Two nodes and the unbound pod p, which asks for 4 GPUs.
class LedgerOf : public testing::Test {
 protected:
  LedgerOf() {
    cluster.set_nodes(node("a"), node("b"));
    cluster.set_pods(p);
  }

  void expect_entry(const char* on, EntryKind kind) {
    const auto snapshot = cluster.snapshot();
    const model::LedgerEntry* const entry = snapshot->entry("p-uid");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(snapshot->index->name(entry->slot), on);
    EXPECT_EQ(entry->uid, "p-uid");
    EXPECT_EQ(entry->kind, kind);
    EXPECT_EQ(entry->gpus, 4);
    EXPECT_EQ(cluster.at(on).firm, kind == EntryKind::kFirm ? 4 : 0);
    EXPECT_EQ(cluster.at(on).soft, kind == EntryKind::kSoft ? 4 : 0);
  }
  void expect_none() {
    EXPECT_EQ(cluster.snapshot()->ledger->size(), 0U);
    const auto snapshot = cluster.snapshot();
    for (const char* name : {"a", "b"}) {
      if (snapshot->find(name) == model::kNoSlot) continue;
      EXPECT_EQ(cluster.at(name).firm, 0) << name;
      EXPECT_EQ(cluster.at(name).soft, 0) << name;
    }
  }

  const model::Pod p = pod("p", 4);
  Cluster cluster;
};

TEST_F(LedgerOf, AWinnerIsSoft) {
  cluster.post({"p-uid", "a", 4, 7});
  expect_entry("a", EntryKind::kSoft);
  EXPECT_EQ(cluster.at("a").unused(), 8) << "soft entries reject nothing";
  EXPECT_EQ(cluster.snapshot()->entry("p-uid")->priority, 7);
}

TEST_F(LedgerOf, ANominationIsFirm) {
  auto urgent = nominated(p, "a");
  urgent.priority = 1000;
  cluster.set_pods(urgent);
  expect_entry("a", EntryKind::kFirm);
  EXPECT_EQ(cluster.at("a").unused(), 4);
  EXPECT_EQ(cluster.snapshot()->entry("p-uid")->priority, 1000);
}

TEST_F(LedgerOf, ANewWinnerReplacesTheEarlierOne) {
  cluster.post({"p-uid", "a", 4});
  cluster.post({"p-uid", "b", 4});
  expect_entry("b", EntryKind::kSoft);
  EXPECT_EQ(cluster.at("a").soft, 0);
}

TEST_F(LedgerOf, AnAttemptWithoutAWinnerLeavesTheEntry) {
  cluster.post({"p-uid", "a", 4});
  cluster.post({"p-uid", "", 4});
  expect_entry("a", EntryKind::kSoft);
}

TEST_F(LedgerOf, AnUnknownWinnerEndsTheEarlierEntry) {
  cluster.post({"p-uid", "a", 4});
  cluster.post({"p-uid", "elsewhere", 4});
  expect_none();
}

TEST_F(LedgerOf, AWinnerDoesNotReplaceANomination) {
  cluster.set_pods(nominated(p, "a"));
  cluster.post({"p-uid", "b", 4});
  expect_entry("a", EntryKind::kFirm);
  EXPECT_EQ(cluster.at("b").soft, 0);
}

TEST_F(LedgerOf, ANominationReplacesAWinner) {
  cluster.post({"p-uid", "b", 4});
  cluster.set_pods(nominated(p, "a"));
  expect_entry("a", EntryKind::kFirm);
  EXPECT_EQ(cluster.at("b").soft, 0);
  cluster.pass(milliseconds(30'000));
  expect_entry("a", EntryKind::kFirm);
}

TEST_F(LedgerOf, ANominationMoves) {
  cluster.set_pods(nominated(p, "a"));
  cluster.set_pods(nominated(p, "b"));
  expect_entry("b", EntryKind::kFirm);
  EXPECT_EQ(cluster.at("a").firm, 0);
}

TEST_F(LedgerOf, AFirmEntryFollowsItsPod) {
  cluster.set_pods(nominated(pod("p", 2), "a"));
  auto grown = nominated(p, "a");
  cluster.set_pods(grown);
  expect_entry("a", EntryKind::kFirm);
  grown.priority = 5;
  cluster.set_pods(grown);
  expect_entry("a", EntryKind::kFirm);
  EXPECT_EQ(cluster.snapshot()->entry("p-uid")->priority, 5);
}

TEST_F(LedgerOf, AWithdrawnNominationIsOver) {
  cluster.set_pods(nominated(p, "a"));
  cluster.set_pods(p);
  expect_none();
}

TEST_F(LedgerOf, SoftEntriesEndByTime) {
  cluster.post({"p-uid", "a", 4});
  cluster.pass(milliseconds(29'999));
  expect_entry("a", EntryKind::kSoft);
  cluster.pass(milliseconds(1));
  expect_none();
  EXPECT_EQ(cluster.state.counters().soft_expired, 1U);
}

TEST_F(LedgerOf, ANewWinnerStartsTheTimeAnew) {
  cluster.post({"p-uid", "a", 4});
  cluster.pass(milliseconds(20'000));
  cluster.post({"p-uid", "a", 4});
  cluster.pass(milliseconds(20'000));
  expect_entry("a", EntryKind::kSoft);
  cluster.pass(milliseconds(10'000));
  expect_none();
}

TEST_F(LedgerOf, APodThatIsNotKnownYetCanBeAWinner) {
  cluster.post({"new-uid", "a", 2});
  EXPECT_EQ(cluster.at("a").soft, 2);
}

TEST_F(LedgerOf, PodsWithoutGpusHaveNoEntry) {
  cluster.post({"cpu-uid", "a", 0});
  cluster.set_pods(nominated(pod("cpu", 0), "a"));
  expect_none();
}

TEST_F(LedgerOf, EntriesOfOnePodAreNotThoseOfAnother) {
  cluster.post({"p-uid", "a", 4});
  cluster.post({"q-uid", "a", 2});
  cluster.set_pods(nominated(pod("r", 1), "a"));
  EXPECT_EQ(cluster.at("a").soft, 6);
  EXPECT_EQ(cluster.at("a").firm, 1);
  EXPECT_EQ(cluster.snapshot()->ledger->size(), 3U);
}

struct OverCase {
  const char* name;
  model::ClusterUpdate by;
};
model::Pod dying(model::Pod what) {
  what.deleting = true;
  return what;
}
model::Pod reborn(model::Pod what) {
  what.uid = "another-uid";
  return what;
}
class LedgerEntryIsOver : public LedgerOf, public testing::WithParamInterface<OverCase> {};
INSTANTIATE_TEST_SUITE_P(
    Table, LedgerEntryIsOver,
    testing::Values(OverCase{"bound there", model::PodSet{bound(pod("p", 4), "a")}},
                    OverCase{"bound there, nomination still set",
                             model::PodSet{bound(nominated(pod("p", 4), "a"), "a")}},
                    OverCase{"bound elsewhere", model::PodSet{bound(pod("p", 4), "b")}},
                    OverCase{"bound to a node unknown", model::PodSet{bound(pod("p", 4), "far")}},
                    OverCase{"deleted", model::PodGone{"ns", "p", "p-uid"}},
                    OverCase{"being deleted", model::PodSet{dying(nominated(pod("p", 4), "a"))}},
                    OverCase{"ended", model::PodSet{ended(nominated(pod("p", 4), "a"), model::PodPhase::kFailed)}},
                    OverCase{"not in a complete list", model::AllPods{}},
                    OverCase{"replaced by a pod of the same name", model::PodSet{reborn(pod("p", 4))}},
                    OverCase{"its node is gone", model::NodeGone{"a"}},
                    OverCase{"its node is not in a complete list", model::AllNodes{{node("b")}}}));

TEST_P(LedgerEntryIsOver, Soft) {
  cluster.post({"p-uid", "a", 4});
  cluster.tell(GetParam().by);
  expect_none();
}

TEST_P(LedgerEntryIsOver, Firm) {
  cluster.set_pods(nominated(p, "a"));
  cluster.tell(GetParam().by);
  expect_none();
}

TEST_F(LedgerOf, AnAnswerThatComesAfterTheBindingWritesNothing) {
  cluster.set_pods(bound(p, "a"));
  cluster.post({"p-uid", "a", 4});
  expect_none();
  EXPECT_EQ(cluster.at("a").used, 4);
}

TEST_F(LedgerOf, AFirmEntryComesBackWithItsNode) {
  cluster.set_pods(nominated(p, "a"));
  cluster.tell(model::NodeGone{"a"});
  expect_none();
  cluster.set_nodes(node("a"));
  expect_entry("a", EntryKind::kFirm);
}

TEST_F(LedgerOf, ASoftEntryDoesNotComeBackWithItsNode) {
  cluster.post({"p-uid", "a", 4});
  cluster.tell(model::NodeGone{"a"}, model::NodeSet{node("a")});
  expect_none();
}

TEST_F(LedgerOf, ANominationToANodeNotKnownYetWaits) {
  cluster.set_pods(nominated(p, "c"));
  expect_none();
  cluster.set_nodes(node("c"));
  expect_entry("c", EntryKind::kFirm);
}

}  // namespace
}  // namespace berth::state
