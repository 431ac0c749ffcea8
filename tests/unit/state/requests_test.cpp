// What is left of a node's cpu, memory and other resources.
#include <gtest/gtest.h>

#include "../src/state/request_pool.h"
#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using model::BasicResources;

// 96 CPUs, 1,000 GiB.
model::Node machine(const std::string& name) {
  model::Node made = node(name);
  made.allocatable = {{96'000, 1000 * kGib, 0, 110}, {{"nvidia.com/gpu", 8}}};
  return made;
}
model::Pod asking(const std::string& name, std::int64_t cpus, std::int64_t gpus = 0) {
  model::Pod made = pod(name, gpus);
  made.requests.basic = {cpus * 1000, cpus * 4 * kGib, 0};
  if (gpus > 0) made.requests.scalars = {{"nvidia.com/gpu", gpus}};
  return made;
}
BasicResources of(std::int64_t cpus, std::int64_t pods) { return {cpus * 1000, cpus * 4 * kGib, 0, pods}; }

class Requests : public ::testing::Test {
 protected:
  Requests() { cluster.tell(model::AllNodes{{machine("a"), machine("b")}}, model::AllPods{}); }
  BasicResources used(const std::string& node) {
    const model::NodeState state = cluster.at(node);
    return state.node->allocatable.basic - state.spare;
  }
  std::int64_t scalar(const std::string& node, const char* name) {
    const auto scalars = cluster.at(node).scalars_requested;
    return scalars ? model::amount_of(*scalars, name) : 0;
  }
  Cluster cluster;
};

TEST_F(Requests, CountFromTheBindingToTheEnd) {
  const model::Pod p = asking("p", 10, 2);
  cluster.set_pods(p);
  EXPECT_EQ(used("a"), of(0, 0));
  cluster.set_pods(bound(p, "a"));
  EXPECT_EQ(used("a"), of(10, 1));
  EXPECT_EQ(scalar("a", "nvidia.com/gpu"), 2);
  model::Pod going = bound(p, "a");
  going.deleting = true;
  cluster.set_pods(going);
  EXPECT_EQ(used("a"), of(10, 1)) << "as long as it runs";
  cluster.set_pods(ended(bound(p, "a")));
  EXPECT_EQ(used("a"), of(0, 0));
  EXPECT_EQ(cluster.at("a").scalars_requested, nullptr);
}

TEST_F(Requests, OfAPodThatIsDeleted) {
  cluster.set_pods(bound(asking("p", 10), "a"), bound(asking("q", 1), "a"));
  EXPECT_EQ(used("a"), of(11, 2));
  cluster.remove_pod(asking("p", 10));
  EXPECT_EQ(used("a"), of(1, 1));
}

TEST_F(Requests, FollowAResize) {
  cluster.set_pods(bound(asking("p", 10), "a"));
  cluster.set_pods(bound(asking("p", 30), "a"));
  EXPECT_EQ(used("a"), of(30, 1));
}

TEST_F(Requests, OfAPodThatWasReplacedElsewhere) {
  cluster.set_pods(bound(asking("p", 10), "a"));
  model::Pod next = bound(asking("p", 20), "b");
  next.uid = "another";
  cluster.set_pods(next);
  EXPECT_EQ(used("a"), of(0, 0));
  EXPECT_EQ(used("b"), of(20, 1));
}

TEST_F(Requests, WaitForTheirNode) {
  cluster.set_pods(bound(asking("p", 10), "c"));
  cluster.set_nodes(machine("c"));
  EXPECT_EQ(used("c"), of(10, 1));
  cluster.tell(model::NodeGone{"c"});
  cluster.set_nodes(machine("c"));
  EXPECT_EQ(used("c"), of(10, 1)) << "the pod is still there";
}

TEST_F(Requests, MayExceedTheNode) {
  cluster.set_pods(bound(asking("p", 90), "a"), bound(asking("q", 90), "a"));
  EXPECT_EQ(cluster.at("a").spare.cpu_milli, -84'000);
}

TEST_F(Requests, ANodeThatChangesKeepsThem) {
  cluster.set_pods(bound(asking("p", 10), "a"));
  model::Node smaller = machine("a");
  smaller.allocatable.basic.cpu_milli = 20'000;
  cluster.set_nodes(smaller);
  EXPECT_EQ(cluster.at("a").spare.cpu_milli, 10'000);
}

TEST_F(Requests, OfNominationsAndWinners) {
  cluster.set_pods(nominated(asking("p", 10, 1), "a"), asking("q", 20, 2));
  cluster.post({.uid = "q-uid", .winner = "a", .gpus = 2});
  EXPECT_EQ(cluster.at("a").firm_requests, of(10, 1));
  EXPECT_EQ(cluster.at("a").soft_requests, of(20, 1));
  EXPECT_EQ(used("a"), of(0, 0));
  ASSERT_NE(cluster.snapshot()->entry("p-uid"), nullptr);
  EXPECT_EQ(cluster.snapshot()->entry("p-uid")->requests->basic.cpu_milli, 10'000);

  cluster.set_pods(bound(asking("p", 10, 1), "b"));
  EXPECT_EQ(cluster.at("a").firm_requests, BasicResources{});
  EXPECT_EQ(used("b"), of(10, 1));
}

TEST_F(Requests, OfWhatBindReserves) {
  cluster.set_pods(asking("p", 10, 1));
  cluster.tell(model::Reserved{.uid = "p-uid", .node = "a", .gpus = 1, .parts = {}, .placement = {}, .gang = {}});
  EXPECT_EQ(cluster.at("a").firm_requests, of(10, 1));
  cluster.tell(model::Unreserved{"p-uid"});
  EXPECT_EQ(cluster.at("a").firm_requests, BasicResources{});
  cluster.tell(model::Reserved{.uid = "stranger", .node = "a", .gpus = 1, .parts = {}, .placement = {}, .gang = {}});
  EXPECT_EQ(cluster.at("a").firm_requests, of(0, 1)) << "nothing is known of it but that it is a pod";
}

TEST_F(Requests, HugeOnesStayWithinWhatSumsCanBear) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  model::AllPods all;
  for (int i = 0; i < 1000; ++i) {
    model::Pod made = bound(pod("p" + std::to_string(i), 0), "a");
    made.requests = {{kHuge, kHuge, kHuge}, {{"x/y", kHuge}}};
    all.pods.push_back(made);
  }
  cluster.tell(all);
  EXPECT_EQ(used("a"),
            (BasicResources{1000 * model::kMostAsked, 1000 * model::kMostAsked, 1000 * model::kMostAsked, 1000}));
  cluster.tell(model::AllPods{});
  EXPECT_EQ(used("a"), BasicResources{});
}

TEST(RequestPool, KeepsEachValueOnceAndForgetsWhatNobodyHolds) {
  RequestPool pool;
  const auto one = pool.share({{1, 2, 3}, {{"a", 1}}});
  EXPECT_EQ(pool.share({{1, 2, 3}, {{"a", 1}}}), one);
  EXPECT_NE(pool.share({{1, 2, 3}, {{"a", 2}}}), one);
  for (int i = 0; i < 10'000; ++i) {
    pool.share({{i, 0, 0}, {}});
    ASSERT_LE(pool.size(), 1024U);
  }
  EXPECT_EQ(pool.share({{1, 2, 3}, {{"a", 1}}}), one);
}

}  // namespace
}  // namespace berth::state
