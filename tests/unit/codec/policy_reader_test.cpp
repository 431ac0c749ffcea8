#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/codec/kubernetes_objects.h"

namespace berth::codec {
namespace {

model::SchedulingPolicy policy_of(const std::string& spec) {
  std::string json = R"({"apiVersion":"berth.io/v1alpha1","kind":"SchedulingPolicy",
      "metadata":{"namespace":"team","name":"fast"},"spec":)" +
                     spec + "}";
  auto policy = ObjectReader({}).read<model::SchedulingPolicy>(json);
  EXPECT_TRUE(policy) << policy.error().to_string();
  return policy ? *policy : model::SchedulingPolicy{};
}

TEST(PolicyReader, EveryField) {
  const auto policy = policy_of(R"({"topologyPolicy":"restricted","datasetPolicy":"required","minGpuMemory":"80Gi",
      "gpuProducts":["NVIDIA-H800"],"weights":{"locality":1,"topology":2.5,"packing":0,"proximity":1000}})");
  EXPECT_EQ(policy.ns, "team");
  EXPECT_EQ(policy.name, "fast");
  EXPECT_FALSE(policy.invalid);
  const model::PolicyTerms want{.topology_policy = model::TopologyPolicy::kRestricted,
                                .dataset_policy = model::DatasetPolicy::kRequired,
                                .min_gpu_memory_mib = 81'920,
                                .gpu_products = std::vector<std::string>{"NVIDIA-H800"},
                                .weights = {1, 2.5, 0, 1000}};
  EXPECT_EQ(policy.terms, want);
}

TEST(PolicyReader, WhatIsAbsentIsLeftOpen) {
  for (const char* spec : {"{}", "null", R"({"weights":null})", R"({"weights":{}})"}) {
    EXPECT_EQ(policy_of(spec).terms, model::PolicyTerms{}) << spec;
    EXPECT_FALSE(policy_of(spec).invalid) << spec;
  }
}

TEST(PolicyReader, MemoryIsAQuantityOrWholeGib) {
  EXPECT_EQ(policy_of(R"({"minGpuMemory":80})").terms.min_gpu_memory_mib, 81'920);
  EXPECT_EQ(policy_of(R"({"minGpuMemory":"80"})").terms.min_gpu_memory_mib, 81'920);
  EXPECT_EQ(policy_of(R"({"minGpuMemory":"40960Mi"})").terms.min_gpu_memory_mib, 40'960);
}

struct PolicyCase {
  const char* name;
  const char* spec;
  const char* says;
};
class InvalidPolicy : public testing::TestWithParam<PolicyCase> {};

// The policy is there and says what is wrong: left out, it would be one that does not exist.
TEST_P(InvalidPolicy, NamesFieldValueAndWhatIsAllowed) {
  const auto policy = policy_of(GetParam().spec);
  ASSERT_TRUE(policy.invalid);
  EXPECT_EQ(policy.invalid->to_string(), GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, InvalidPolicy,
    testing::Values(
        PolicyCase{"Name", R"({"topologyPolicy":"best"})",
                   "spec.topologyPolicy: \"best\" is not allowed; use none, best-effort or restricted"},
        PolicyCase{"Type", R"({"datasetPolicy":true})",
                   "spec.datasetPolicy: \"true\" is not allowed; use preferred or required"},
        PolicyCase{"Memory", R"({"minGpuMemory":"big"})",
                   "spec.minGpuMemory: \"big\" is not allowed; use a quantity such as 80Gi, or whole GiB such as 80"},
        PolicyCase{"Negative", R"({"minGpuMemory":-1})",
                   "spec.minGpuMemory: \"-1\" is not allowed; use a quantity such as 80Gi, or whole GiB such as 80"},
        PolicyCase{
            "Products", R"({"gpuProducts":["a",""]})",
            "spec.gpuProducts: \"\" is not allowed; use a list of up to 64 values of the label nvidia.com/gpu.product"},
        PolicyCase{"Weight", R"({"weights":{"packing":1001}})",
                   "spec.weights.packing: \"1001\" is not allowed; use a number from 0 to 1000"},
        PolicyCase{"WeightText", R"({"weights":{"proximity":"2"}})",
                   "spec.weights.proximity: \"2\" is not allowed; use a number from 0 to 1000"},
        PolicyCase{"Spec", "7", "spec: \"7\" is not allowed; use a map"}),
    [](const auto& one) { return one.param.name; });

TEST(PolicyReader, StandsInADumpOfTheCluster) {
  std::string json = R"({"kind":"List","apiVersion":"v1","items":[{"apiVersion":"berth.io/v1alpha1",
      "kind":"SchedulingPolicy","metadata":{"namespace":"team","name":"fast"},"spec":{}}]})";
  const auto dump = ObjectReader({}).read_cluster_dump(json);
  ASSERT_TRUE(dump) << dump.error().to_string();
  ASSERT_EQ(dump->policies.size(), 1U);
  EXPECT_EQ(dump->policies[0].name, "fast");
}

}  // namespace
}  // namespace berth::codec
