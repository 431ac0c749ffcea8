#include <gtest/gtest.h>

#include <algorithm>

#include "berth/model/packing_view.h"
#include "unit/state/cluster.h"

namespace berth::state {
namespace {

double share_of(const model::PackingView& view, const model::RequestClass& request) {
  for (std::size_t i = 0; i < view.mix.size(); ++i) {
    if (view.mix.request(i) == request) return view.mix.share(i);
  }
  return 0;
}

model::RequestClass whole(int gpus, std::vector<std::string> products = {}) {
  return {.gpus = gpus, .milli = model::kWholeMilli, .products = std::move(products)};
}

// Twenty pods of the default mix, and those that were seen.
TEST(PackingTable, LearnsTheMixFromPodsHoweverTheyEnd) {
  Cluster cluster;
  cluster.set_nodes(node("n1"));
  cluster.tell(model::PodSet{pod("a", 2)}, model::PodSet{bound(pod("b", 2), "n1")}, model::PodSet{ended(pod("c", 2))});
  EXPECT_NEAR(share_of(*cluster.snapshot()->packing, whole(2)), 3.0 / 23, 1e-12);
  cluster.tell(model::PodSet{bound(pod("a", 2), "n1")});
  EXPECT_NEAR(share_of(*cluster.snapshot()->packing, whole(2)), 3.0 / 23, 1e-12) << "the same pod";
  cluster.tell(model::PodGone{"ns", "a", ""});
  EXPECT_NEAR(share_of(*cluster.snapshot()->packing, whole(2)), 3.0 / 23, 1e-12) << "it was asked for";
}

// After a restart there is one list, in the order of names; the window is of the youngest.
TEST(PackingTable, LearnsFromAListInTheOrderOfAge) {
  Cluster cluster({.mix = {.window = 2}});
  cluster.set_nodes(node("n1"));
  cluster.tell(model::AllPods{{born(pod("a", 4), 9), born(pod("b", 1), 1), born(pod("c", 2), 5)}});
  const model::PackingView& view = *cluster.snapshot()->packing;
  EXPECT_GT(share_of(view, whole(4)), 0);
  EXPECT_GT(share_of(view, whole(2)), 0);
  EXPECT_EQ(share_of(view, whole(1)), 0);
}

TEST(PackingTable, ReadsProductsFromThePoliciesOfPods) {
  model::SchedulingPolicy of_all{"ns", "default", {}, {}};
  of_all.terms.gpu_products = {"H800"};
  model::SchedulingPolicy named{"ns", "old", {}, {}};
  named.terms.gpu_products = {"V100", "P100"};
  Cluster cluster;
  cluster.set_nodes(node("n1"));
  cluster.tell(model::AllPolicies{{of_all, named}});
  model::Pod old = pod("b", 1);
  old.annotations.push_back({"berth.io/scheduling-policy", "old"});
  cluster.tell(model::PodSet{pod("a", 1)}, model::PodSet{old}, model::PodSet{pod("c", 0)});
  const model::PackingView& view = *cluster.snapshot()->packing;
  EXPECT_GT(share_of(view, whole(1, {"H800"})), 0);
  EXPECT_GT(share_of(view, whole(1, {"P100", "V100"})), 0);
  EXPECT_GT(share_of(view, {}), 0) << "products mean nothing without a GPU";
}

// Policies and pods come from different watches.
TEST(PackingTable, WaitsForThePoliciesThatTellTheProducts) {
  Cluster cluster({.mix = {.gpu_products = {"T4"}}, .await_data = true});
  cluster.set_nodes(node("n1"));
  cluster.tell(model::AllPods{{pod("a", 1)}});
  model::SchedulingPolicy of_all{"ns", "default", {}, {}};
  of_all.terms.gpu_products = {"H800"};
  cluster.tell(model::AllPolicies{{of_all}}, model::DataListed{});
  model::Pod elsewhere = pod("b", 1);
  elsewhere.ns = "other";
  cluster.tell(model::PodSet{elsewhere});
  const model::PackingView& view = *cluster.snapshot()->packing;
  EXPECT_GT(share_of(view, whole(1, {"H800"})), 0);
  EXPECT_GT(share_of(view, whole(1, {"T4"})), 0) << "what the configuration allows";
}

TEST(PackingTable, GivesTheMixAVersionThatChangesWithIt) {
  Cluster cluster;
  cluster.set_nodes(node("n1"));
  const auto first = cluster.snapshot()->packing->mix.version();
  cluster.set_nodes(node("n2"));
  EXPECT_EQ(cluster.snapshot()->packing->mix.version(), first);
  cluster.tell(model::PodSet{pod("a", 2)});
  EXPECT_EQ(cluster.snapshot()->packing->mix.version(), first + 1);
}

// Of 32 nodes three may change before what they can give is worked out anew; the costs known by then stay.
TEST(PackingTable, WorksOutWhatNodesCanGiveAfterSomeChanges) {
  Cluster cluster;
  model::AllNodes nodes;
  for (int i = 0; i < 32; ++i) nodes.nodes.push_back(node("n" + std::to_string(i)));
  cluster.tell(nodes, model::PodSet{pod("a", 8)}, model::PodSet{pod("b", 8)}, model::PodSet{pod("c", 8)},
               model::PodSet{pod("d", 8)});
  const auto before = cluster.snapshot()->packing;
  cluster.tell(model::PodSet{bound(pod("a", 8), "n1")}, model::PodSet{bound(pod("b", 8), "n2")},
               model::PodSet{bound(pod("c", 8), "n3")});
  EXPECT_EQ(cluster.snapshot()->packing, before);
  cluster.tell(model::PodSet{bound(pod("d", 8), "n4")});
  const auto after = cluster.snapshot()->packing;
  EXPECT_NE(after, before);
  for (std::size_t i = 0; i < after->mix.size(); ++i) {
    EXPECT_EQ(after->usable[i], before->usable[i] * 28 / 32) << after->mix.request(i).gpus;
  }
}

TEST(PackingTable, StatesOfNodesHaveStampsOfTheirOwn) {
  Cluster cluster;
  cluster.set_nodes(node("n1"), node("n2"));
  const auto before = cluster.snapshot();
  EXPECT_NE(before->at(0).stamp, 0U);
  EXPECT_NE(before->at(0).stamp, before->at(1).stamp);
  cluster.tell(model::PodSet{bound(pod("a", 1), "n1")});
  const auto after = cluster.snapshot();
  EXPECT_NE(after->at(after->find("n1")).stamp, before->at(before->find("n1")).stamp);
  EXPECT_EQ(after->at(after->find("n2")).stamp, before->at(before->find("n2")).stamp);
}

}  // namespace
}  // namespace berth::state
