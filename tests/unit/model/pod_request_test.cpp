#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/model/pod.h"

namespace berth::model {
namespace {

using namespace std::chrono_literals;

Pod pod_with(std::vector<Annotation> annotations, std::int64_t gpus = 1) {
  Pod pod;
  pod.ns = "team";
  pod.name = "train";
  pod.uid = "u1";
  pod.gpus = gpus;
  pod.annotations = std::move(annotations);
  return pod;
}

TEST(PodRequest, DatasetsOfOwnAndOtherNamespaces) {
  const auto request = make_request(pod_with({{"berth.io/datasets", "imagenet, shared/wiki ,imagenet"}}), {});
  ASSERT_EQ(request.datasets.size(), 2U);
  EXPECT_EQ(request.datasets[0].ref.to_string(), "team/imagenet");
  EXPECT_EQ(request.datasets[1].ref.to_string(), "shared/wiki");
  // The label that Fluid's runtime controller writes.
  EXPECT_EQ(worker_label(request.datasets[1].ref, ""), "fluid.io/s-shared-wiki");
  EXPECT_FALSE(request.invalid);
}

TEST(PodRequest, ReadsEveryKey) {
  const auto request = make_request(pod_with({{"berth.io/dataset-policy", "required"},
                                              {"berth.io/dataset-wait", "10m"},
                                              {"berth.io/min-coverage", "80"},
                                              {"berth.io/min-gpu-memory", "40Gi"},
                                              {"berth.io/topology-policy", "restricted"}}),
                                    {});
  EXPECT_EQ(request.dataset_policy, DatasetPolicy::kRequired);
  EXPECT_EQ(request.dataset_wait, 10min);
  EXPECT_DOUBLE_EQ(request.min_coverage.value(), 0.8);
  EXPECT_EQ(request.min_gpu_memory_mib, 40 * 1024);
  EXPECT_EQ(request.topology_policy, TopologyPolicy::kRestricted);
  EXPECT_FALSE(request.invalid);
}

TEST(PodRequest, DefaultsComeFromTheConfiguration) {
  const PodDefaults defaults{DatasetPolicy::kRequired, TopologyPolicy::kNone, 1024, {"NVIDIA-H800"}};
  const auto request = make_request(pod_with({}), defaults);
  EXPECT_EQ(request.dataset_policy, DatasetPolicy::kRequired);
  EXPECT_EQ(request.topology_policy, TopologyPolicy::kNone);
  EXPECT_EQ(request.min_gpu_memory_mib, 1024);
  EXPECT_THAT(request.gpu_products, testing::ElementsAre("NVIDIA-H800"));
  // A pod without GPUs has no use for rules about GPUs.
  EXPECT_FALSE(make_request(pod_with({}, 0), defaults).has_hard_rule({}));
}

TEST(PodRequest, DatasetsOfFluidsOwnMarksComeFirst) {
  Pod pod = pod_with({{"berth.io/datasets", "extra"}});
  pod.datasets_in_use = {"imagenet"};
  pod.required_claims = {"wiki",
                         "mounted"};  // a label for a claim that a sidecar has replaced, and for one that is there
  pod.claims = {"mounted"};
  const auto request = make_request(pod, {});
  EXPECT_THAT(request.datasets,
              testing::ElementsAre(WantedDataset{{"team", "imagenet"}, false}, WantedDataset{{"team", "wiki"}, true},
                                   WantedDataset{{"team", "extra"}, false}));
  EXPECT_THAT(request.claims, testing::ElementsAre("mounted"));
}

TEST(PodRequest, ExpectedDuration) {
  EXPECT_EQ(make_request(pod_with({{"berth.io/expected-duration", "90m"}}), {}).expected_duration, 5400s);
  EXPECT_EQ(make_request(pod_with({}), {}).expected_duration, 0s);
  EXPECT_TRUE(make_request(pod_with({{"berth.io/expected-duration", "soon"}}), {}).invalid);
}

// It stands on running pods, which can't be rejected any more.
TEST(PodRequest, ABrokenTimeOfACheckpointIsNamedAndIgnored) {
  const auto saved = make_request(pod_with({{"berth.io/checkpointed-at", "1970-01-01T01:00:00Z"}}), {});
  EXPECT_EQ(saved.saved, core::WallTime(1h));
  const auto broken = make_request(pod_with({{"berth.io/checkpointed-at", "yesterday"}}), {});
  EXPECT_EQ(broken.saved, core::WallTime{});
  EXPECT_FALSE(broken.invalid);
  EXPECT_THAT(broken.ignored_keys, testing::ElementsAre("berth.io/checkpointed-at"));
}

class BadAnnotation : public testing::TestWithParam<Annotation> {};

INSTANTIATE_TEST_SUITE_P(
    Table, BadAnnotation,
    testing::Values(Annotation{"berth.io/datasets", ""}, Annotation{"berth.io/datasets", "a,,b"},
                    Annotation{"berth.io/datasets", "a/b/c"}, Annotation{"berth.io/datasets", "/b"},
                    Annotation{"berth.io/datasets", "Upper"}, Annotation{"berth.io/dataset-policy", "Required"},
                    Annotation{"berth.io/dataset-policy", ""}, Annotation{"berth.io/dataset-wait", "10"},
                    Annotation{"berth.io/min-coverage", "0"}, Annotation{"berth.io/min-coverage", "101"},
                    Annotation{"berth.io/min-coverage", "80%"}, Annotation{"berth.io/min-coverage", "nan"},
                    Annotation{"berth.io/topology-policy", "strict"}, Annotation{"berth.io/min-gpu-memory", "much"},
                    Annotation{"berth.io/min-gpu-memory", "-1Gi"}));

TEST_P(BadAnnotation, IsNamedWithItsValueAndWhatIsAllowed) {
  const auto request = make_request(pod_with({GetParam()}), {});
  ASSERT_TRUE(request.invalid) << GetParam().key << "=" << GetParam().value;
  EXPECT_EQ(request.invalid->where, "annotation " + GetParam().key);
  EXPECT_THAT(request.invalid->message, testing::StartsWith("\"" + GetParam().value + "\" is not allowed; use "));
}

TEST(PodRequest, KeysOfLaterVersionsAndTyposAreNamedNotObeyed) {
  const auto request = make_request(
      pod_with({{"berth.io/dataset-polcy", "required"}, {"berth.io/gpus", "0,1"}, {"example.com/x", "y"}}), {});
  EXPECT_THAT(request.ignored_keys, testing::ElementsAre("berth.io/dataset-polcy"));
  EXPECT_FALSE(request.invalid);
}

TEST(PodRequest, HavingBeenWokenMakesAPodNeitherOursNorIsItIgnored) {
  const auto woken = make_request(pod_with({{"berth.io/wake", "2026-11-29T16:00:00.000Z"}}), {});
  EXPECT_FALSE(woken.has_key_of_ours);
  EXPECT_THAT(woken.ignored_keys, testing::IsEmpty());
  const auto ours =
      make_request(pod_with({{"berth.io/min-coverage", "80"}, {"berth.io/wake", "2026-11-29T16:00:00.000Z"}}), {});
  EXPECT_TRUE(ours.has_key_of_ours);
}

TEST(PodRequest, WaitTurnsRequiredIntoPreferred) {
  Pod pod =
      pod_with({{"berth.io/datasets", "a"}, {"berth.io/dataset-policy", "required"}, {"berth.io/dataset-wait", "10m"}});
  pod.created = core::WallTime(1h);
  const auto request = make_request(pod, {});
  EXPECT_TRUE(request.requires_any_dataset(core::WallTime(1h + 10min - 1ms)));
  EXPECT_FALSE(request.requires_any_dataset(core::WallTime(1h + 10min)));
  EXPECT_TRUE(request.has_hard_rule(core::WallTime(1h)));
  EXPECT_FALSE(request.has_hard_rule(core::WallTime(2h)));
}

TEST(PodRequest, WhatIsOurs) {
  EXPECT_TRUE(make_request(pod_with({}, 1), {}).ours());
  EXPECT_FALSE(make_request(pod_with({}, 0), {}).ours());
  EXPECT_TRUE(make_request(pod_with({{"berth.io/datasets", "a"}}, 0), {}).ours());
  EXPECT_FALSE(make_request(pod_with({{"example.com/datasets", "a"}}, 0), {}).ours());
}

TEST(GpuMemory, QuantityOrWholeGib) {
  EXPECT_EQ(parse_gpu_memory("80").value(), 81920);
  EXPECT_EQ(parse_gpu_memory("80Gi").value(), 81920);
  EXPECT_EQ(parse_gpu_memory("1500Mi").value(), 1500);
  EXPECT_EQ(parse_gpu_memory("80G").value(), 76294);  // 80e9 / 2^20 = 76293.9, rounded up
}

}  // namespace
}  // namespace berth::model
