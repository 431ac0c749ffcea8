#include "berth/model/resources.h"

#include <gtest/gtest.h>

namespace berth::model {
namespace {

TEST(Resources, NamesThatKubeSchedulerCounts) {
  for (const char* name : {"nvidia.com/gpu", "rdma/hca", "example.kubernetes.io/x", "hugepages-2Mi",
                           "attachable-volumes-aws-ebs", "berth.io/gpu-milli"}) {
    EXPECT_TRUE(is_scalar_resource(name)) << name;
  }
  for (const char* name : {"cpu", "memory", "pods", "storage", "requests.nvidia.com/gpu", ""}) {
    EXPECT_FALSE(is_scalar_resource(name)) << name;
  }
}

TEST(Resources, ScalarsStaySortedAndWithoutZeros) {
  ScalarResources sum;
  count_scalars(sum, {{"b", 2}}, +1);
  count_scalars(sum, {{"a", 1}, {"b", 3}, {"c", 4}}, +1);
  EXPECT_EQ(sum, (ScalarResources{{"a", 1}, {"b", 5}, {"c", 4}}));
  EXPECT_EQ(amount_of(sum, "b"), 5);
  EXPECT_EQ(amount_of(sum, "bb"), 0);
  count_scalars(sum, {{"a", 1}, {"c", 3}}, -1);
  EXPECT_EQ(sum, (ScalarResources{{"b", 5}, {"c", 1}}));
  count_scalars(sum, {{"b", 5}, {"c", 1}}, -1);
  EXPECT_TRUE(sum.empty());
}

TEST(Resources, BoundsHoldForEachAmount) {
  const Resources bounded = within_bounds({{-1, 7, kMostAsked + 1, 3}, {{"a", kMostThere}}}, kMostAsked);
  EXPECT_EQ(bounded, (Resources{{0, 7, kMostAsked, 3}, {{"a", kMostAsked}}}));
}

TEST(Resources, BasicOnesAddAndSubtract) {
  const BasicResources some{1, 2, 3, 4};
  EXPECT_EQ(some + some, (BasicResources{2, 4, 6, 8}));
  EXPECT_EQ(some - BasicResources(2, 2, 2, 2), (BasicResources{-1, 0, 1, 2}));
}

}  // namespace
}  // namespace berth::model
