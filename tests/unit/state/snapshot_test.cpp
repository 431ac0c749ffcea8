// Nodes and pods as they show in the snapshot: what counts where, and what a change leaves alone.
#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using model::AllNodes;
using model::AllPods;
using model::kNoSlot;
using model::mask_all;
using model::NodeGone;
using std::chrono::milliseconds;

TEST(Ready, OnceBothListsAreIn) {
  Cluster cluster;
  EXPECT_FALSE(cluster.snapshot()->ready);
  EXPECT_EQ(cluster.snapshot()->not_ready_why, "waiting for the first list of nodes");
  cluster.tell(AllPods{});
  EXPECT_EQ(cluster.snapshot()->not_ready_why, "waiting for the first list of nodes");
  cluster.tell(AllNodes{});
  EXPECT_TRUE(cluster.snapshot()->ready);
  EXPECT_EQ(cluster.snapshot()->not_ready_why, "");
}

TEST(Ready, NotByNodesAlone) {
  Cluster cluster;
  cluster.tell(AllNodes{{node("a")}});
  EXPECT_FALSE(cluster.snapshot()->ready);
  EXPECT_EQ(cluster.snapshot()->not_ready_why, "waiting for the first list of pods");
}

TEST(Publication, CarriesTimeAndVersion) {
  Cluster cluster;
  cluster.clock.advance(milliseconds(500));
  cluster.set_nodes(node("a"));
  const auto first = cluster.snapshot();
  EXPECT_EQ(first->built, cluster.clock.now());
  cluster.clock.advance(milliseconds(500));
  cluster.set_nodes(node("b"));
  EXPECT_EQ(cluster.snapshot()->version, first->version + 1);
  EXPECT_EQ(cluster.snapshot()->built, cluster.clock.now());
}

TEST(Publication, NothingNewIsNotPublished) {
  Cluster cluster;
  const auto waiting = pod("p", 1);
  cluster.set_nodes(node("a"));
  cluster.set_pods(waiting, bound(pod("q", 2), "a"));
  const auto before = cluster.snapshot();
  cluster.set_nodes(node("a"));  // a heartbeat
  auto gated = waiting;
  gated.gated = true;
  cluster.set_pods(gated, bound(pod("q", 2), "a"));
  cluster.state.step();
  EXPECT_EQ(cluster.snapshot(), before);
  EXPECT_EQ(cluster.state.counters().publications, 2U);
  EXPECT_EQ(cluster.state.counters().updates, 6U);
  EXPECT_EQ(cluster.state.counters().queue, 0U);
}

TEST(Publication, OneABatch) {
  Cluster cluster;
  for (int i = 0; i < 100; ++i) cluster.state.push(model::NodeSet{node("n" + std::to_string(i))});
  EXPECT_EQ(cluster.state.counters().queue, 100U);
  cluster.state.step();
  EXPECT_EQ(cluster.state.counters().publications, 1U);
  EXPECT_EQ(cluster.snapshot()->index->nodes(), 100U);
}

TEST(Nodes, ShowWhatTheyAre) {
  Cluster cluster;
  cluster.set_nodes(node("a", 8, kH100), node("b", 0, ""));
  EXPECT_EQ(cluster.at("a").node->name, "a");
  EXPECT_EQ(cluster.at("a").gpus, 8);
  ASSERT_NE(cluster.at("a").shape, nullptr);
  EXPECT_EQ(cluster.at("a").shape->table.gpus(), 8);
  EXPECT_EQ(cluster.at("b").gpus, 0);
  EXPECT_EQ(cluster.at("b").shape, nullptr);
  EXPECT_EQ(cluster.snapshot()->gpus, 8);
}

TEST(Nodes, WithCountsOutOfReasonBreakNothing) {
  Cluster cluster;
  cluster.set_nodes(node("big", INT64_MAX), node("less", -5), node(""));
  cluster.set_pods(bound(pod("p", INT64_MAX), "big"), bound(pod("q", INT64_MAX), "big"), bound(pod("r", -1), "less"));
  EXPECT_EQ(cluster.at("less").gpus, 0);
  EXPECT_EQ(cluster.at("less").used, 0);
  EXPECT_EQ(cluster.at("big").unused(), 0);
  EXPECT_EQ(cluster.snapshot()->index->nodes(), 2U);
}

TEST(Nodes, KeepTheirSlots) {
  Cluster cluster;
  cluster.set_nodes(node("a"), node("b"), node("c"));
  const auto before = cluster.snapshot();
  cluster.set_nodes(node("b", 4), node("d"));
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(cluster.snapshot()->find(name), before->find(name));
  cluster.tell(AllNodes{{node("d"), node("c"), node("b"), node("a"), node("e")}});
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(cluster.snapshot()->find(name), before->find(name));
}

TEST(Nodes, FreedSlotsAreTakenAgain) {
  Cluster cluster;
  cluster.set_nodes(node("a"), node("b"));
  const auto slot = cluster.snapshot()->find("a");
  cluster.tell(NodeGone{"a"});
  EXPECT_EQ(cluster.snapshot()->find("a"), kNoSlot);
  EXPECT_EQ(cluster.snapshot()->at(slot).node, nullptr);
  EXPECT_EQ(cluster.snapshot()->gpus, 8);
  cluster.set_nodes(node("c"));
  EXPECT_EQ(cluster.snapshot()->find("c"), slot);
  cluster.tell(AllNodes{{node("x"), node("y")}});
  EXPECT_EQ(cluster.snapshot()->index->slots(), 2U);
  EXPECT_EQ(cluster.snapshot()->index->nodes(), 2U);
}

TEST(Nodes, TheIndexIsBuiltAnewOnlyWhenNamesChange) {
  Cluster cluster;
  cluster.set_nodes(node("a"), node("b"));
  const auto index = cluster.snapshot()->index;
  cluster.set_nodes(node("a", 4));
  cluster.set_pods(bound(pod("p", 2), "a"));
  cluster.tell(AllNodes{{node("b"), node("a")}});
  EXPECT_EQ(cluster.snapshot()->index, index);
  cluster.set_nodes(node("c"));
  EXPECT_NE(cluster.snapshot()->index, index);
}

TEST(Blocks, OnlyTouchedOnesAreNew) {
  Cluster cluster;
  AllNodes all;
  for (int i = 0; i < 200; ++i) all.nodes.push_back(node("n" + std::to_string(i)));
  cluster.tell(std::move(all), AllPods{});
  const auto before = cluster.snapshot();
  ASSERT_EQ(before->blocks.size(), 4U);
  const std::string name = before->index->name(70);
  const auto expect_only_block_1_new = [&](const model::Snapshot& old) {
    for (std::size_t block = 0; block < 4; ++block) {
      EXPECT_EQ(cluster.snapshot()->blocks[block] != old.blocks[block], block == 1) << block;
    }
    EXPECT_EQ(cluster.snapshot()->datasets, old.datasets);
  };
  cluster.set_pods(bound(pod("p", 2), name));
  expect_only_block_1_new(*before);
  EXPECT_EQ(cluster.snapshot()->ledger, before->ledger);
  EXPECT_EQ(before->at(70).used, 0) << "what was published never changes";
  EXPECT_EQ(cluster.snapshot()->at(70).used, 2);

  const auto then = cluster.snapshot();
  cluster.post({"q-uid", name, 4});
  expect_only_block_1_new(*then);

  const auto last = cluster.snapshot();
  cluster.set_pods(pod("unbound", 1));
  EXPECT_TRUE(cluster.snapshot()->blocks == last->blocks);
  EXPECT_EQ(cluster.snapshot()->pods, 2U);
}

TEST(Pods, CountFromBindingToTheirEnd) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(pod("p", 2));
  EXPECT_EQ(cluster.at("a").used, 0);
  auto running = bound(pod("p", 2), "a");
  running.phase = model::PodPhase::kPending;  // bound, its images not pulled yet
  cluster.set_pods(running);
  EXPECT_EQ(cluster.at("a").used, 2);
  running.phase = model::PodPhase::kRunning;
  running.deleting = true;
  cluster.set_pods(running);
  EXPECT_EQ(cluster.at("a").used, 2) << "GPUs are free when the pod has ended, not when its deletion begins";
  running.phase = model::PodPhase::kUnknown;
  cluster.set_pods(running);
  EXPECT_EQ(cluster.at("a").used, 2);
  cluster.set_pods(ended(running, model::PodPhase::kFailed));
  EXPECT_EQ(cluster.at("a").used, 0);
  EXPECT_EQ(cluster.snapshot()->pods, 1U);
  EXPECT_EQ(cluster.snapshot()->bound_pods, 0U);
}

TEST(Pods, SumsAreThoseOfTheCluster) {
  Cluster cluster;
  cluster.set_nodes(node("a"), node("b", 4), node("c", 0, ""));
  cluster.set_pods(pod("p", 1), bound(pod("q", 2), "a"), bound(pod("r", 3), "b"), bound(pod("cpu", 0), "c"),
                   ended(bound(pod("s", 4), "a")));
  const auto snapshot = cluster.snapshot();
  EXPECT_EQ(snapshot->pods, 5U);
  EXPECT_EQ(snapshot->bound_pods, 3U);
  EXPECT_EQ(snapshot->gpus, 12);
  EXPECT_EQ(snapshot->gpus_used, 5);
}

TEST(Pods, OfANodeNotKnownYetCountOnceItAppears) {
  Cluster cluster;
  cluster.set_pods(bound(pod("p", 2), "a"));
  EXPECT_EQ(cluster.snapshot()->gpus_used, 0);
  EXPECT_EQ(cluster.snapshot()->bound_pods, 1U);
  cluster.set_nodes(node("a"));
  EXPECT_EQ(cluster.at("a").used, 2);
  EXPECT_EQ(cluster.at("a").free, mask_all(8) & ~model::mask({0, 1}));
}

TEST(Pods, AreFoundAgainByANodeThatComesBack) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(bound(pod("p", 2), "a"), bound(pod("q", 1), "a"));
  cluster.tell(NodeGone{"a"});
  EXPECT_EQ(cluster.snapshot()->gpus_used, 0);
  cluster.remove_pod(pod("p", 2));
  cluster.set_nodes(node("b"), node("a"));
  EXPECT_EQ(cluster.at("a").used, 1);
  EXPECT_EQ(cluster.at("b").used, 0);
}

TEST(Pods, OfOneNameAreToldApartByUid) {
  Cluster cluster;
  cluster.set_nodes(node("a"), node("b"));
  const auto old = bound(pod("p", 2), "a");
  auto young = bound(pod("p", 3), "b");
  young.uid = "young-uid";
  cluster.set_pods(old);
  cluster.set_pods(young);  // the deletion of the old one was missed
  EXPECT_EQ(cluster.at("a").used, 0);
  EXPECT_EQ(cluster.at("b").used, 3);
  cluster.remove_pod(old);  // and comes late
  EXPECT_EQ(cluster.at("b").used, 3);
  EXPECT_EQ(cluster.snapshot()->pods, 1U);
  cluster.remove_pod(young);
  EXPECT_EQ(cluster.at("b").used, 0);
  EXPECT_EQ(cluster.snapshot()->pods, 0U);
}

TEST(Pods, OfOneNameInTwoNamespacesAreTwo) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  auto other = bound(pod("p", 1), "a");
  other.ns = "other";
  other.uid = "other-uid";
  cluster.set_pods(bound(pod("p", 2), "a"), other);
  EXPECT_EQ(cluster.at("a").used, 3);
}

TEST(Pods, WithoutAUidCountByName) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  auto p = bound(pod("p", 2), "a");
  auto q = nominated(pod("q", 2), "a");
  p.uid = q.uid = "";
  cluster.set_pods(p, q);
  EXPECT_EQ(cluster.at("a").used, 2);
  EXPECT_TRUE(cluster.snapshot()->ledger->empty());
  cluster.post({"", "a", 2});
  cluster.remove_pod(p);
  EXPECT_EQ(cluster.at("a").used, 0);
}

TEST(Pods, ThatShareAUidBreakNothing) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  auto twin = bound(pod("twin", 1), "a");
  twin.uid = "p-uid";
  cluster.set_pods(bound(pod("p", 2), "a"), twin);
  EXPECT_EQ(cluster.at("a").used, 3);
  cluster.remove_pod(twin);
  cluster.post({"p-uid", "a", 2});
  EXPECT_TRUE(cluster.snapshot()->ledger->empty()) << "p is bound";
  cluster.set_pods(twin);
  cluster.remove_pod(pod("p", 2));
  cluster.post({"p-uid", "a", 1});
  EXPECT_EQ(cluster.at("a").used, 1);
}

TEST(Pods, NotInACompleteListAreGone) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(bound(pod("p", 1), "a"), bound(pod("q", 2), "a"), nominated(pod("r", 4), "a"));
  cluster.tell(AllPods{{bound(pod("q", 2), "a"), bound(pod("s", 3), "a")}});
  EXPECT_EQ(cluster.snapshot()->pods, 2U);
  EXPECT_EQ(cluster.at("a").used, 5);
  EXPECT_EQ(cluster.at("a").firm, 0);
}

TEST(Pods, NamedTwiceInAListCountOnce) {
  Cluster cluster;
  cluster.tell(AllNodes{{node("a"), node("a", 4)}}, AllPods{{bound(pod("p", 1), "a"), bound(pod("p", 2), "a")}});
  EXPECT_EQ(cluster.snapshot()->pods, 1U);
  EXPECT_EQ(cluster.at("a").used, 2);
  EXPECT_EQ(cluster.at("a").gpus, 4);
}

// Placement of ns/data, or nothing.
std::vector<std::string> holders(const Cluster& cluster) {
  const auto snapshot = cluster.snapshot();
  const auto* const placement = snapshot->placement({"ns", "data"});
  std::vector<std::string> names;
  if (placement == nullptr) return names;
  model::Slot last = 0;
  for (const auto& holder : placement->holders) {
    EXPECT_GE(holder.slot, last);
    EXPECT_EQ(holder.coverage, 1.0F);
    last = holder.slot;
    names.push_back(snapshot->index->name(holder.slot));
  }
  return names;
}

const char* const kDataLabel = "fluid.io/s-ns-data";
const char* const kOther = "fluid.io/s-ns-other";
using Names = std::vector<std::string>;

TEST(Datasets, AreWhereTheLabelsAre) {
  Cluster cluster;
  cluster.set_nodes(node("a", 8, kH100, {kDataLabel}), node("b"), node("c", 8, kH100, {kDataLabel, kOther}));
  EXPECT_EQ(holders(cluster), (Names{"a", "c"}));
  cluster.set_nodes(node("a"), node("b", 8, kH100, {kDataLabel}));
  EXPECT_EQ(holders(cluster), (Names{"b", "c"}));
  cluster.tell(NodeGone{"c"});
  EXPECT_EQ(holders(cluster), (Names{"b"}));
  EXPECT_EQ(cluster.snapshot()->dataset_names->size(), 1U);
  cluster.set_nodes(node("b"));
  EXPECT_EQ(holders(cluster), Names{});
  EXPECT_TRUE(cluster.snapshot()->dataset_names->empty());
}

TEST(Datasets, ANodeInAFreedSlotDoesNotInherit) {
  Cluster cluster;
  cluster.set_nodes(node("a", 8, kH100, {kDataLabel}));
  cluster.tell(NodeGone{"a"}, model::NodeSet{node("b")});
  EXPECT_EQ(cluster.snapshot()->find("b"), 0U);
  EXPECT_EQ(holders(cluster), Names{});
}

TEST(Datasets, OnlyTouchedPlacementsAreNew) {
  Cluster cluster;
  cluster.set_nodes(node("a", 8, kH100, {kDataLabel, kOther}), node("b"));
  const auto before = cluster.snapshot();
  cluster.set_nodes(node("b", 8, kH100, {kOther}));
  const auto after = cluster.snapshot();
  EXPECT_EQ(after->placement({"ns", "data"}), before->placement({"ns", "data"}));
  EXPECT_NE(after->placement({"ns", "other"}), before->placement({"ns", "other"}));
  EXPECT_EQ(before->placement({"ns", "other"})->holders.size(), 1U);
  EXPECT_EQ(after->placement({"ns", "other"})->holders.size(), 2U);
}

}  // namespace
}  // namespace berth::state
