// GPUs that Bind reserves: the ledger's firm entries that say which.
#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using model::mask;
using std::chrono::milliseconds;

// A node, and the unbound pod p, for which Bind reserves two GPUs.
class ReservedGpus : public testing::Test {
 protected:
  ReservedGpus() { cluster.set_nodes(node("a"), node("b")); }

  static model::Reserved reserved(const char* on = "a", model::GpuMask gpus = mask({4, 5})) {
    model::Reserved made;
    made.uid = "p-uid";
    made.node = on;
    made.gpus = 2;
    made.placement.gpus = gpus;
    made.priority = 3;
    return made;
  }
  void expect_reserved(const char* on = "a", model::GpuMask gpus = mask({4, 5})) {
    const auto now = cluster.snapshot();
    const model::LedgerEntry* const entry = now->entry("p-uid");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->kind, model::EntryKind::kFirm);
    EXPECT_EQ(now->index->name(entry->slot), on);
    EXPECT_EQ(entry->placement.gpus, gpus);
    EXPECT_EQ(entry->priority, 3);
    EXPECT_EQ(cluster.at(on).firm, 2);
    EXPECT_EQ(cluster.at(on).firm_gpus, gpus);
  }
  void expect_none() {
    EXPECT_EQ(cluster.snapshot()->ledger->size(), 0U);
    for (const char* on : {"a", "b"}) {
      EXPECT_EQ(cluster.at(on).firm, 0) << on;
      EXPECT_EQ(cluster.at(on).firm_gpus, 0U) << on;
    }
  }

  const model::Pod p = pod("p", 2);
  Cluster cluster;
};

TEST_F(ReservedGpus, StandWhileThePodIsUnknownAndUnbound) {
  cluster.tell(reserved());
  expect_reserved();
  cluster.set_pods(p);
  expect_reserved();
  cluster.post({"p-uid", "b", 2});
  expect_reserved();
  cluster.tell(model::AllPods{{p}});
  expect_reserved();
}

TEST_F(ReservedGpus, BecomeThePodsWhenItIsSeenBound) {
  cluster.set_pods(p);
  cluster.tell(reserved());
  cluster.set_pods(with_gpu_list(bound(p, "a"), "4,5"));
  expect_none();
  EXPECT_EQ(cluster.at("a").used, 2);
  EXPECT_EQ(cluster.at("a").free, model::mask_all(8) & ~mask({4, 5}));
}

TEST_F(ReservedGpus, EndWithThePod) {
  for (const model::ClusterUpdate& end :
       {model::ClusterUpdate(model::PodGone{"ns", "p", "p-uid"}),
        model::ClusterUpdate(model::PodSet{ended(p, model::PodPhase::kFailed)}),
        model::ClusterUpdate(model::PodSet{bound(p, "b")}), model::ClusterUpdate(model::AllPods{})}) {
    cluster.set_pods(p);
    cluster.tell(reserved());
    cluster.tell(end);
    expect_none();
    cluster.remove_pod(p);
  }
}

TEST_F(ReservedGpus, ComeTooLateForAPodThatIsBound) {
  cluster.set_pods(bound(p, "a"));
  cluster.tell(reserved());
  expect_none();
}

TEST_F(ReservedGpus, AreFreeWhenBindTakesThemBack) {
  cluster.tell(reserved());
  cluster.tell(model::Unreserved{"p-uid"});
  expect_none();
  cluster.tell(model::Unreserved{"p-uid"}, model::Unreserved{"nobody"});
  expect_none();
}

TEST_F(ReservedGpus, StandOverANominationThatComesBackAfterThem) {
  cluster.set_pods(nominated(p, "b"));
  cluster.tell(reserved());
  expect_reserved();
  EXPECT_EQ(cluster.at("b").firm, 0);
  cluster.set_pods(nominated(p, "b"));
  expect_reserved();
  cluster.tell(model::Unreserved{"p-uid"});
  EXPECT_EQ(cluster.at("a").firm, 0);
  EXPECT_EQ(cluster.at("b").firm, 2);
  EXPECT_TRUE(cluster.snapshot()->entry("p-uid")->placement.empty());
}

TEST_F(ReservedGpus, AWithdrawnNominationDoesNotComeBack) {
  cluster.set_pods(nominated(p, "b"));
  cluster.tell(reserved());
  cluster.set_pods(p);
  expect_reserved();
  cluster.tell(model::Unreserved{"p-uid"});
  expect_none();
}

TEST_F(ReservedGpus, AreReplacedByWhatIsReservedNext) {
  cluster.tell(reserved());
  cluster.tell(reserved("a", mask({6, 7})));
  expect_reserved("a", mask({6, 7}));
  cluster.tell(reserved("b"));
  expect_reserved("b");
  EXPECT_EQ(cluster.at("a").firm, 0);
  EXPECT_EQ(cluster.at("a").firm_gpus, 0U);
}

// volcano#5335: reservations that stay when whoever made them is gone.
TEST_F(ReservedGpus, EndAfterFiveMinutesWhateverBecameOfThePod) {
  cluster.tell(reserved());
  cluster.pass(milliseconds(1));
  cluster.pass(milliseconds(300'000 - 1));
  expect_reserved();
  cluster.pass(milliseconds(1));
  expect_none();
}

TEST_F(ReservedGpus, LeaveTheNominationWhenTheyEnd) {
  cluster.set_pods(nominated(p, "b"));
  cluster.tell(reserved());
  cluster.pass(milliseconds(1));
  cluster.pass(milliseconds(300'000));
  EXPECT_EQ(cluster.at("a").firm, 0);
  EXPECT_EQ(cluster.at("b").firm, 2);
}

TEST_F(ReservedGpus, OfSharesCountOnTheirGpu) {
  model::Reserved share = reserved("a", mask({3}));
  share.gpus = 0;
  share.parts = {.gpus = 1, .mib = 1'000};
  cluster.tell(share);
  EXPECT_EQ(cluster.at("a").firm, 1) << "no whole pod gets the GPU that it opens";
  EXPECT_EQ((*cluster.at("a").uses)[3].used_mib, 1'000);
  EXPECT_EQ(cluster.snapshot()->entry("p-uid")->parts, share.parts);
  cluster.tell(model::Unreserved{"p-uid"});
  EXPECT_EQ(cluster.at("a").uses, nullptr);
}

TEST_F(ReservedGpus, ComeBackWithTheirNode) {
  cluster.tell(reserved());
  cluster.tell(model::NodeGone{"a"});
  EXPECT_EQ(cluster.snapshot()->ledger->size(), 0U);
  cluster.set_nodes(node("a"));
  expect_reserved();
}

}  // namespace
}  // namespace berth::state
