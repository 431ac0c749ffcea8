#include "berth/codec/recommend_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::codec {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

core::Result<RecommendRequest> read_recommend(std::string body, const model::PodDefaults& defaults = {}) {
  return read_recommend_request(body, {}, defaults, 64);
}

TEST(RecommendRequest, EveryField) {
  const auto request =
      read_recommend(R"({"gpus": 8, "namespace": "vision", "datasets": ["imagenet", "speech/commands", "imagenet"],
      "datasetPolicy": "required", "minCoverage": 80, "topologyPolicy": "restricted", "minGpuMemory": "40Gi",
      "nodes": 3, "warm": "laion"})");
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->pod.ns, "vision");
  EXPECT_EQ(request->pod.gpus, 8);
  ASSERT_EQ(request->pod.datasets.size(), 2U);
  EXPECT_EQ(request->pod.datasets[0].ref, (model::DatasetRef{"vision", "imagenet"}));
  EXPECT_EQ(request->pod.datasets[1].ref, (model::DatasetRef{"speech", "commands"}));
  EXPECT_EQ(request->pod.dataset_policy, model::DatasetPolicy::kRequired);
  EXPECT_EQ(request->pod.min_coverage, 0.8);
  EXPECT_EQ(request->pod.topology_policy, model::TopologyPolicy::kRestricted);
  EXPECT_EQ(request->pod.min_gpu_memory_mib, 40 * 1024);
  EXPECT_EQ(request->nodes, 3U);
  EXPECT_EQ(request->warm, (model::DatasetRef{"vision", "laion"}));
}

TEST(RecommendRequest, WhatIsLeftOpenTheConfigurationSays) {
  model::PodDefaults defaults;
  defaults.dataset_policy = model::DatasetPolicy::kRequired;
  defaults.min_gpu_memory_mib = 32'768;
  const auto request = read_recommend(R"({"gpus": 1, "warm": null})", defaults);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->pod.ns, "default");
  EXPECT_EQ(request->pod.dataset_policy, model::DatasetPolicy::kRequired);
  EXPECT_EQ(request->pod.min_gpu_memory_mib, 32'768);
  EXPECT_EQ(request->nodes, 10U);
  EXPECT_EQ(request->warm, std::nullopt);
}

TEST(RecommendRequest, MemoryInWholeGib) {
  EXPECT_EQ(read_recommend(R"({"gpus": 1, "minGpuMemory": 80})")->pod.min_gpu_memory_mib, 80 * 1024);
}

TEST(RecommendRequest, FractionsOfAPerCent) {
  EXPECT_EQ(read_recommend(R"({"gpus": 1, "minCoverage": 0.5})")->pod.min_coverage, 0.005);
}

TEST(RecommendRequest, APodSaysItItself) {
  const auto request = read_recommend(R"({"pod": {"metadata": {"namespace": "vision", "name": "train", "annotations": {
      "berth.io/datasets": "imagenet", "berth.io/min-coverage": "50"}}, "spec": {"containers": [
      {"resources": {"limits": {"nvidia.com/gpu": "2"}}}]}}, "nodes": 1, "warm": "vision/imagenet"})");
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->pod.gpus, 2);
  EXPECT_EQ(request->pod.datasets.at(0).ref, (model::DatasetRef{"vision", "imagenet"}));
  EXPECT_EQ(request->pod.min_coverage, 0.5);
  EXPECT_EQ(request->nodes, 1U);
}

TEST(RecommendRequest, APodWithoutANamespaceIsInDefault) {
  const auto request = read_recommend(R"({"pod": {"metadata": {"annotations": {"berth.io/datasets": "imagenet"}}}})");
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->pod.datasets.at(0).ref.ns, "default");
}

struct WrongRecommend {
  const char* name;
  const char* body;
  const char* where;  // the field, with which the message begins
  const char* says;
};

class WrongRecommendRequest : public testing::TestWithParam<WrongRecommend> {};

INSTANTIATE_TEST_SUITE_P(
    Table, WrongRecommendRequest,
    testing::Values(
        WrongRecommend{"Empty", "", "", "empty"}, WrongRecommend{"NotJson", "gpus=8", "", "malformed JSON"},
        WrongRecommend{"Truncated", R"({"gpus": 8)", "", "malformed JSON"},
        WrongRecommend{"AList", "[]", "the body", "an object, not a list"},
        WrongRecommend{"Nothing", "{}", "gpus", "is missing; give gpus, or a pod"},
        WrongRecommend{"NullGpus", R"({"gpus": null})", "gpus", "is missing"},
        WrongRecommend{"UnknownKey", R"({"gpus": 8, "dataset": "a"})", "dataset",
                       "is not a field; there are gpus, datasets"},
        WrongRecommend{"KeyInAnotherCase", R"({"GPUs": 8})", "GPUs", "is not a field"},
        WrongRecommend{"KeyTwice", R"({"gpus": 8, "gpus": 4})", "gpus", "is given twice"},
        WrongRecommend{"GpusAsText", R"({"gpus": "8"})", "gpus", "whole number from 0 to 4096"},
        WrongRecommend{"HalfAGpu", R"({"gpus": 0.5})", "gpus", "whole number"},
        WrongRecommend{"NegativeGpus", R"({"gpus": -1})", "gpus", "whole number"},
        WrongRecommend{"TooManyGpus", R"({"gpus": 4097})", "gpus", "whole number"},
        WrongRecommend{"GpusBeyond64Bits", R"({"gpus": 18446744073709551615})", "gpus", "whole number"},
        WrongRecommend{"DatasetsAsText", R"({"gpus": 8, "datasets": "a"})", "datasets", "must be a list, not a string"},
        WrongRecommend{"DatasetAsNumber", R"({"gpus": 8, "datasets": ["a", 3]})", "datasets[1]",
                       "must be a string, not a number"},
        WrongRecommend{"EmptyDataset", R"({"gpus": 8, "datasets": [""]})", "datasets[0]", "NAME or NAMESPACE/NAME"},
        WrongRecommend{"DatasetWithTwoSlashes", R"({"gpus": 8, "datasets": ["a/b/c"]})", "datasets[0]",
                       "NAME or NAMESPACE/NAME"},
        WrongRecommend{"DatasetList", R"({"gpus": 8, "datasets": ["a,b"]})", "datasets[0]", "NAME or NAMESPACE/NAME"},
        WrongRecommend{"Namespace", R"({"gpus": 8, "namespace": "No Such"})", "namespace", "name of a namespace"},
        WrongRecommend{"NamespaceEmpty", R"({"gpus": 8, "namespace": ""})", "namespace", "name of a namespace"},
        WrongRecommend{"NamespaceAsNumber", R"({"gpus": 8, "namespace": 3})", "namespace", "must be a string"},
        WrongRecommend{"DatasetPolicy", R"({"gpus": 8, "datasetPolicy": "maybe"})", "datasetPolicy",
                       "preferred or required"},
        WrongRecommend{"DatasetPolicyAsBool", R"({"gpus": 8, "datasetPolicy": true})", "datasetPolicy",
                       "must be a string"},
        WrongRecommend{"TopologyPolicy", R"({"gpus": 8, "topologyPolicy": "best"})", "topologyPolicy",
                       "none, best-effort"},
        WrongRecommend{"NoCoverage", R"({"gpus": 8, "minCoverage": 0})", "minCoverage", "above 0 and up to 100"},
        WrongRecommend{"TooMuchCoverage", R"({"gpus": 8, "minCoverage": 100.1})", "minCoverage", "up to 100"},
        WrongRecommend{"CoverageAsText", R"({"gpus": 8, "minCoverage": "80"})", "minCoverage", "a number"},
        WrongRecommend{"Memory", R"({"gpus": 8, "minGpuMemory": "much"})", "minGpuMemory", "a quantity such as"},
        WrongRecommend{"NegativeMemory", R"({"gpus": 8, "minGpuMemory": -1})", "minGpuMemory", "a quantity such as"},
        WrongRecommend{"MemoryAsList", R"({"gpus": 8, "minGpuMemory": []})", "minGpuMemory", "a quantity such as"},
        WrongRecommend{"NoNodes", R"({"gpus": 8, "nodes": 0})", "nodes", "from 1 to 64"},
        WrongRecommend{"TooManyNodes", R"({"gpus": 8, "nodes": 65})", "nodes", "from 1 to 64"},
        WrongRecommend{"Warm", R"({"gpus": 8, "warm": "Not a name"})", "warm", "NAME or NAMESPACE/NAME"},
        WrongRecommend{"WarmAsList", R"({"gpus": 8, "warm": ["a"]})", "warm", "must be a string, not a list"},
        WrongRecommend{"PodAndGpus", R"({"pod": {}, "gpus": 8})", "gpus", "can't be given beside pod"},
        WrongRecommend{"PodAndDatasets", R"({"pod": {}, "datasets": []})", "datasets", "can't be given beside pod"},
        WrongRecommend{"PodAndNamespace", R"({"pod": {}, "namespace": "a"})", "namespace", "can't be given beside pod"},
        WrongRecommend{"PodAsText", R"({"pod": "train"})", "pod", "must be an object"},
        WrongRecommend{"PodWithBadGpus",
                       R"({"pod": {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "many"}}}]}}})",
                       "pod.spec.containers[0].resources.limits.nvidia.com/gpu", ""},
        WrongRecommend{"PodWithBadAnnotation",
                       R"({"pod": {"metadata": {"annotations": {"berth.io/min-coverage": "all"}}}})", "pod",
                       "annotation berth.io/min-coverage: \"all\" is not allowed; use per cent"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_P(WrongRecommendRequest, NamesTheField) {
  const WrongRecommend& wrong = GetParam();
  const auto request = read_recommend(wrong.body);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, core::ErrorCode::kInvalid);
  EXPECT_THAT(request.error().to_string(), StartsWith(wrong.where));
  EXPECT_THAT(request.error().to_string(), HasSubstr(wrong.says));
}

TEST(RecommendRequest, AtMost64Datasets) {
  const auto body = [](int datasets) {
    std::string list;
    for (int i = 0; i < datasets; ++i) list += (i > 0 ? ",\"d" : "\"d") + std::to_string(i) + '"';
    return R"({"gpus": 1, "datasets": [)" + list + "]}";
  };
  EXPECT_EQ(read_recommend(body(64))->pod.datasets.size(), 64U);
  const auto refused = read_recommend(body(65));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "datasets[64]");
}

}  // namespace
}  // namespace berth::codec
