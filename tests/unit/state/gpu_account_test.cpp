#include "../src/state/gpu_account.h"

#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using model::mask;
using model::mask_all;

TEST(GpuCount, StaysWithinWhatSumsCanBear) {
  EXPECT_EQ(gpu_count(8), 8);
  EXPECT_EQ(gpu_count(-1), 0);
  EXPECT_EQ(gpu_count(INT64_MIN), 0);
  EXPECT_EQ(gpu_count(INT64_MAX), 1 << 28);
}

// DGX-1V: double links 0-3 0-4 1-2 1-5 2-3 4-7 5-6 6-7.
TEST(ModelledDevicePlugin, GivesTheBestConnectedSetOfWhatIsFree) {
  Cluster cluster;
  cluster.set_nodes(node("a", 8, kV100));
  EXPECT_TRUE(cluster.at("a").free_known);
  EXPECT_EQ(cluster.at("a").free, mask_all(8));
  cluster.set_pods(bound(pod("p", 2), "a"));
  EXPECT_EQ(cluster.at("a").free, mask_all(8) & ~mask({0, 3}));
  cluster.set_pods(bound(pod("q", 2), "a"));
  EXPECT_EQ(cluster.at("a").free, mask({4, 5, 6, 7}));
}

TEST(ModelledDevicePlugin, GpusComeBackWhenThePodEnds) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(bound(pod("p", 2), "a"), bound(pod("q", 4), "a"));
  EXPECT_EQ(cluster.at("a").free, mask({2, 3})) << "all links alike: each set on one of the NUMA nodes 0-3 and 4-7";
  cluster.set_pods(ended(bound(pod("p", 2), "a")));
  EXPECT_EQ(cluster.at("a").free, mask({0, 1, 2, 3}));
  cluster.remove_pod(pod("q", 4));
  EXPECT_EQ(cluster.at("a").free, mask_all(8));
}

TEST(ModelledDevicePlugin, APodKeepsItsGpusWhileItRuns) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(bound(pod("p", 2), "a"));
  cluster.set_pods(bound(pod("q", 2), "a"));
  cluster.remove_pod(pod("p", 2));
  auto changed = bound(pod("q", 2), "a");
  changed.deleting = true;
  cluster.set_pods(changed);
  EXPECT_EQ(cluster.at("a").free, mask_all(8) & ~mask({2, 3}));
}

TEST(ModelledDevicePlugin, FollowsTheAnnotationWrittenAtBinding) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(with_gpu_list(bound(pod("p", 2), "a"), "5,7"));
  EXPECT_EQ(cluster.at("a").free, mask_all(8) & ~mask({5, 7}));
}

struct BadClaimCase {
  const char* name;
  const char* list;
};
class BadClaim : public testing::TestWithParam<BadClaimCase> {};
INSTANTIATE_TEST_SUITE_P(Table, BadClaim,
                         testing::Values(BadClaimCase{"taken", "6,7"}, BadClaimCase{"too few", "2"},
                                         BadClaimCase{"too many", "1,2,3"}, BadClaimCase{"not on this node", "8,9"},
                                         BadClaimCase{"not a list", "all"}));

TEST_P(BadClaim, IsPassedOver) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(with_gpu_list(bound(pod("p", 1), "a"), "7"));
  cluster.set_pods(with_gpu_list(bound(pod("q", 2), "a"), GetParam().list));
  // The pair that leaves NUMA node 0-3 whole, where every other leaves three GPUs on one.
  EXPECT_EQ(cluster.at("a").free, mask({0, 1, 2, 3, 6})) << GetParam().name;
}

TEST(ModelledDevicePlugin, AFirstListIsHandedOutByClaimThenAgeThenUid) {
  const auto old = born(bound(pod("x", 1), "a"), 10);
  const auto young_a = born(bound(pod("a", 2), "a"), 20);
  const auto young_b = born(bound(pod("b", 3), "a"), 20);
  const auto claims = with_gpu_list(born(bound(pod("c", 1), "a"), 30), "0");
  Cluster cluster;
  cluster.tell(model::AllPods{{young_b, claims, young_a, old}}, model::AllNodes{{node("a")}});
  // c: 0, x: 1, a: 2 3, b: 4 5 6.
  EXPECT_EQ(cluster.at("a").free, mask({7}));
  cluster.remove_pod(old);
  EXPECT_EQ(cluster.at("a").free, mask({1, 7}));
  cluster.remove_pod(young_a);
  EXPECT_EQ(cluster.at("a").free, mask({1, 2, 3, 7}));
}

TEST(ModelledDevicePlugin, KnowsCountsOnlyWhereTheMachineIsUnknown) {
  Cluster cluster;
  cluster.set_nodes(node("a", 8, "ACME-9000"), node("b", 8, ""), node("c", 20, kH100));
  cluster.set_pods(bound(pod("p", 2), "a"));
  const auto state = cluster.at("a");
  EXPECT_EQ(state.shape, nullptr);
  EXPECT_FALSE(state.free_known);
  EXPECT_EQ(state.free, 0U);
  EXPECT_EQ(state.used, 2);
  EXPECT_EQ(state.unused(), 6);
  EXPECT_FALSE(cluster.at("b").free_known);
  EXPECT_FALSE(cluster.at("c").free_known);
  EXPECT_EQ(cluster.at("c").gpus, 20);
}

TEST(ModelledDevicePlugin, OvercommitMakesTheSetUnknownUntilItFitsAgain) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(bound(pod("p", 6), "a"));
  cluster.set_pods(bound(pod("q", 4), "a"));
  EXPECT_EQ(cluster.at("a").used, 10);
  EXPECT_EQ(cluster.at("a").unused(), -2);
  EXPECT_FALSE(cluster.at("a").free_known);
  EXPECT_EQ(cluster.at("a").free, 0U);
  cluster.remove_pod(pod("p", 6));
  EXPECT_TRUE(cluster.at("a").free_known);
  EXPECT_EQ(cluster.at("a").free, mask({4, 5, 6, 7}));
}

TEST(ModelledDevicePlugin, AMachineThatLosesAGpuForAWhileFindsItsPodsAsTheyWere) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(bound(pod("p", 2), "a"));
  cluster.set_pods(bound(pod("q", 2), "a"));
  cluster.remove_pod(pod("p", 2));
  cluster.set_nodes(node("a", 7));
  EXPECT_EQ(cluster.at("a").gpus, 7);
  EXPECT_FALSE(cluster.at("a").free_known);
  cluster.set_nodes(node("a", 8));
  EXPECT_EQ(cluster.at("a").free, mask_all(8) & ~mask({2, 3}));
}

TEST(ModelledDevicePlugin, AnotherMachineOfThatNameHandsOutAnew) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.set_pods(bound(pod("p", 2), "a"));
  EXPECT_EQ(cluster.at("a").free, mask_all(8) & ~mask({0, 1}));
  cluster.set_nodes(node("a", 8, kV100));
  EXPECT_EQ(cluster.at("a").free, mask_all(8) & ~mask({0, 3}));
}

}  // namespace
}  // namespace berth::state
