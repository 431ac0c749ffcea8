#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "berth/codec/kubernetes_objects.h"
#include "unit/codec/test_data.h"

namespace berth::codec {
namespace {

using model::PodPhase;
using testing::ElementsAre;
using testing::HasSubstr;

core::Result<model::Pod> read_pod(std::string json, model::ResourceNames resources = {}) {
  return ObjectReader(std::move(resources)).read<model::Pod>(json);
}

// A pod named p whose spec is `spec`.
model::Pod pod_with_spec(const std::string& spec, const model::ResourceNames& resources = {}) {
  const auto pod = read_pod(R"({"metadata":{"name":"p"},"spec":)" + spec + "}", resources);
  EXPECT_TRUE(pod) << pod.error().to_string();
  return pod.value_or(model::Pod{});
}

TEST(PodReader, RealPod) {
  const auto pod = read_pod(test_data("pod.json"));
  ASSERT_TRUE(pod) << pod.error().to_string();
  EXPECT_EQ(pod->ns, "research");
  EXPECT_EQ(pod->name, "resnet-train-0");
  EXPECT_EQ(pod->uid, "6f9d1f0a-2f7b-4e61-8a4d-4f0b9f3a1c55");
  EXPECT_EQ(pod->node, "");
  EXPECT_EQ(pod->nominated_node, "");
  EXPECT_EQ(pod->scheduler_name, "berth-scheduler");
  EXPECT_EQ(pod->phase, PodPhase::kPending);
  EXPECT_FALSE(pod->deleting);
  EXPECT_FALSE(pod->gated);
  EXPECT_EQ(pod->gpus, 4);
  EXPECT_EQ(pod->created, core::WallTime(std::chrono::seconds(1'795'968'000)));  // date -d 2026-11-29T16:00:00Z +%s
  // By key, and without prometheus.io/scrape.
  EXPECT_THAT(pod->annotations, ElementsAre(model::Annotation{"berth.io/datasets", "imagenet"},
                                            model::Annotation{"berth.io/topology-policy", "restricted"}));
}

TEST(PodReader, FieldsOfARunningPod) {
  const auto pod = read_pod(R"({"kind":"Pod","metadata":{"name":"p","namespace":"n","deletionTimestamp":
    "2026-11-29T16:00:00Z"},"spec":{"nodeName":"a"},"status":{"phase":"Running","nominatedNodeName":"b"}})");
  ASSERT_TRUE(pod) << pod.error().to_string();
  EXPECT_EQ(pod->node, "a");
  EXPECT_EQ(pod->nominated_node, "b");
  EXPECT_EQ(pod->phase, PodPhase::kRunning);
  EXPECT_TRUE(pod->deleting);
  EXPECT_FALSE(pod->ended());
}

TEST(PodReader, LabelsArePutInOrderAndKeptOnlyWhereGpusAreHeld) {
  const auto labelled = [](const std::string& gpus) {
    return read_pod(
               R"({"metadata":{"name":"p","labels":{"tier":"gold","app":"serving","none":null}},"spec":{"containers":
      [{"name":"c","resources":{"requests":{"nvidia.com/gpu":")" +
               gpus + "\"}}}]}}")
        .value_or(model::Pod{})
        .labels;
  };
  EXPECT_THAT(labelled("1"),
              ElementsAre(model::Label{"app", "serving"}, model::Label{"none", ""}, model::Label{"tier", "gold"}));
  EXPECT_THAT(labelled("0"), ElementsAre());
}

TEST(PodReader, AbsentAndNullFieldsAreEmpty) {
  for (const char* json :
       {R"({"metadata":{"name":"p"}})", R"({"metadata":{"name":"p"},"spec":null,"status":null})",
        R"({"metadata":{"name":"p","namespace":null,"uid":null,"creationTimestamp":null,"deletionTimestamp":null,
            "annotations":null},"spec":{"nodeName":null,"schedulerName":null,"schedulingGates":null,"containers":null,
            "initContainers":null,"overhead":null},"status":{"phase":null,"nominatedNodeName":null}})"}) {
    const auto pod = read_pod(json);
    ASSERT_TRUE(pod) << pod.error().to_string();
    model::Pod want;
    want.name = "p";
    EXPECT_EQ(*pod, want);
  }
}

TEST(PodReader, OwnerIsTheOneThatControlsIt) {
  const auto owner = [](const std::string& owners) {
    const auto pod = read_pod(R"({"metadata":{"name":"p","ownerReferences":)" + owners + "}}");
    return pod ? pod->owner : "error: " + pod.error().to_string();
  };
  EXPECT_EQ(owner("null"), "");
  EXPECT_EQ(owner("[]"), "");
  EXPECT_EQ(owner(R"([{"kind":"Job","uid":"u1"}])"), "");
  EXPECT_EQ(owner(R"([{"uid":"u1","controller":false},{"uid":"u2","controller":true}])"), "u2");
  EXPECT_THAT(owner(R"([{"uid":"u1","controller":"yes"}])"), HasSubstr("ownerReferences[0].controller"));
}

TEST(PodReader, ReasonOfAFailure) {
  const auto reason = [](const std::string& phase) {
    const auto pod = read_pod(R"({"metadata":{"name":"p"},"status":{"reason":"UnexpectedAdmissionError","phase":")" +
                              phase + "\"}}");
    EXPECT_TRUE(pod) << pod.error().to_string();
    return pod ? pod->failed_reason : "";
  };
  EXPECT_EQ(reason("Failed"), "UnexpectedAdmissionError");
  EXPECT_EQ(reason("Running"), "") << "of a pod that has not failed it says something else";
}

TEST(PodReader, ResourceClaims) {
  EXPECT_FALSE(pod_with_spec(R"({"resourceClaims":[]})").resource_claims);
  EXPECT_TRUE(
      pod_with_spec(R"({"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"one-gpu"}]})").resource_claims);
}

TEST(PodReader, Gates) {
  EXPECT_TRUE(pod_with_spec(R"({"schedulingGates":[{"name":"berth.io/warm"}]})").gated);
  EXPECT_FALSE(pod_with_spec(R"({"schedulingGates":[]})").gated);
}

TEST(PodReader, Phases) {
  struct Case {
    const char* name;
    PodPhase want;
    bool ended;
  };
  for (const Case& c : {Case{"Pending", PodPhase::kPending, false}, Case{"Running", PodPhase::kRunning, false},
                        Case{"Succeeded", PodPhase::kSucceeded, true}, Case{"Failed", PodPhase::kFailed, true},
                        Case{"Unknown", PodPhase::kUnknown, false}, Case{"Thawing", PodPhase::kUnknown, false},
                        Case{"", PodPhase::kPending, false}}) {
    const auto pod = read_pod(R"({"metadata":{"name":"p"},"status":{"phase":")" + std::string(c.name) + "\"}}");
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->phase, c.want) << c.name;
    EXPECT_EQ(pod->ended(), c.ended) << c.name;
  }
}

// Kubernetes frees the GPUs of a finished pod; the model keeps the count and lets ended() decide.
TEST(PodReader, FinishedPodKeepsItsCount) {
  const auto pod = read_pod(R"({"metadata":{"name":"p"},"spec":{"containers":[{"resources":{"requests":
    {"nvidia.com/gpu":"2"}}}]},"status":{"phase":"Succeeded"}})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->gpus, 2);
  EXPECT_TRUE(pod->ended());
}

TEST(PodReader, Annotations) {
  const auto pod = read_pod(R"({"metadata":{"name":"p","annotations":{"z":"1","berth.io/b":"2","berth.iox/c":"3",
    "berth.io/a":"","other":7,"berth.io/c":null}}})");
  ASSERT_TRUE(pod) << pod.error().to_string();
  EXPECT_THAT(pod->annotations, ElementsAre(model::Annotation{"berth.io/a", ""}, model::Annotation{"berth.io/b", "2"},
                                            model::Annotation{"berth.io/c", ""}));
}

// GPUs of a container, written as short as the tables below allow.
std::string gpus(int count) {
  return R"({"resources":{"requests":{"nvidia.com/gpu":")" + std::to_string(count) + R"(","cpu":"1"}}})";
}
std::string sidecar(int count) { return R"({"restartPolicy":"Always",)" + gpus(count).substr(1); }

struct Count {
  const char* name;
  std::string containers;
  std::string init_containers;
  std::int64_t want;
};
class GpuCount : public testing::TestWithParam<Count> {};

TEST_P(GpuCount, AsPodRequestsCounts) {
  const Count& c = GetParam();
  EXPECT_EQ(
      pod_with_spec("{\"containers\":[" + c.containers + "],\"initContainers\":[" + c.init_containers + "]}").gpus,
      c.want);
}

// The larger of: containers + all sidecars; each init container + the sidecars before it (KEP-753).
INSTANTIATE_TEST_SUITE_P(
    Sums, GpuCount,
    testing::Values(
        Count{"none", R"({"name":"c"})", "", 0},                                                    //
        Count{"one", gpus(4), "", 4},                                                               //
        Count{"containers_add_up", gpus(1) + "," + gpus(2) + R"(,{"name":"c"})", "", 3},            //
        Count{"init_smaller", gpus(4), gpus(1), 4},                                                 //
        Count{"init_larger", gpus(1), gpus(4), 4},                                                  //
        Count{"inits_run_one_by_one", gpus(1), gpus(2) + "," + gpus(3), 3},                         //
        Count{"only_init", R"({"name":"c"})", gpus(2), 2},                                          //
        Count{"sidecar_adds", gpus(4), sidecar(1), 5},                                              //
        Count{"two_sidecars_add", gpus(4), sidecar(1) + "," + sidecar(2), 7},                       //
        Count{"init_after_sidecar", gpus(1), sidecar(1) + "," + gpus(4), 5},                        // max(1+1, 4+1)
        Count{"init_before_sidecar", gpus(1), gpus(4) + "," + sidecar(1), 4},                       // max(1+1, 4)
        Count{"init_between_sidecars", gpus(2), sidecar(1) + "," + gpus(3) + "," + sidecar(4), 7},  // max(2+1+4, 3+1)
        Count{"init_after_both", gpus(2), sidecar(1) + "," + sidecar(4) + "," + gpus(3), 8},        // max(2+5, 3+5)
        Count{"only_sidecars", R"({"name":"c"})", sidecar(2), 2}),                                  //
    kCaseName);

std::string container(const std::string& resources) { return R"({"resources":)" + resources + "}"; }

INSTANTIATE_TEST_SUITE_P(
    Amounts, GpuCount,
    testing::Values(
        // The API server copies limits into requests by name; a what-if has not been there yet.
        Count{"limit_alone", container(R"({"limits":{"nvidia.com/gpu":"2"}})"), "", 2},
        Count{"limit_of_init", "", container(R"({"limits":{"nvidia.com/gpu":"2"}})"), 2},
        Count{"limit_beside_other_requests", container(R"({"limits":{"nvidia.com/gpu":2},"requests":{"cpu":"1"}})"), "",
              2},
        Count{"request_wins", container(R"({"limits":{"nvidia.com/gpu":"4"},"requests":{"nvidia.com/gpu":"2"}})"), "",
              2},
        Count{"request_of_zero_wins",
              container(R"({"limits":{"nvidia.com/gpu":"4"},"requests":{"nvidia.com/gpu":"0"}})"), "", 0},
        Count{"null_resources", container("null"), "", 0},
        Count{"null_lists", container(R"({"limits":null,"requests":null})"), "", 0},
        Count{"number", container(R"({"requests":{"nvidia.com/gpu":8}})"), "", 8},
        Count{"number_with_fraction", container(R"({"requests":{"nvidia.com/gpu":2.0}})"), "", 2},
        Count{"fraction_rounds_up", container(R"({"requests":{"nvidia.com/gpu":1.5}})"), "", 2},
        Count{"large_number", container(R"({"requests":{"nvidia.com/gpu":1e3}})"), "", 1000},
        Count{"suffix", container(R"({"requests":{"nvidia.com/gpu":"1k"}})"), "", 1000},
        Count{"other_resource", container(R"({"requests":{"amd.com/gpu":"8","nvidia.com/gpu.shared":"3"}})"), "", 0}),
    kCaseName);

// Pod-level resources cover cpu, memory and huge pages only (IsSupportedPodLevelResource).
TEST(GpuCounting, PodLevelResourcesDoNotCount) {
  EXPECT_EQ(
      pod_with_spec(R"({"resources":{"requests":{"nvidia.com/gpu":"8","cpu":"4"}},"containers":[)" + gpus(2) + "]}")
          .gpus,
      2);
}

TEST(GpuCounting, OverheadIsAdded) {
  EXPECT_EQ(pod_with_spec(R"({"overhead":{"cpu":"250m"},"containers":[)" + gpus(2) + "]}").gpus, 2);
  EXPECT_EQ(pod_with_spec(R"({"overhead":{"nvidia.com/gpu":"1"},"containers":[)" + gpus(2) + "]}").gpus, 3);
}

TEST(GpuCounting, ResourceNameIsConfigurable) {
  const std::string spec =
      R"({"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1","example.com/npu":"3"}}}]})";
  EXPECT_EQ(pod_with_spec(spec, {.gpu = "example.com/npu"}).gpus, 3);
}

struct WrongPodCase {
  const char* name;
  std::string json;
  const char* says;
};
class WrongPod : public testing::TestWithParam<WrongPodCase> {};

TEST_P(WrongPod, NamesTheField) {
  const auto pod = read_pod(GetParam().json);
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().code, core::ErrorCode::kInvalid);
  EXPECT_THAT(pod.error().to_string(), HasSubstr(GetParam().says));
}

std::string spec(const std::string& json) { return R"({"metadata":{"name":"p"},"spec":)" + json + "}"; }
std::string gpu_amount(const std::string& json) {
  return spec(R"({"containers":[{},{"resources":{"requests":{"nvidia.com/gpu":)" + json + "}}}]}");
}

INSTANTIATE_TEST_SUITE_P(
    Fields, WrongPod,
    testing::Values(
        WrongPodCase{"no_name", R"({"metadata":{}})", "metadata.name: is missing"},
        WrongPodCase{"no_metadata", "{}", "metadata.name: is missing"},
        WrongPodCase{"other_kind", R"({"kind":"Node","metadata":{"name":"p"}})", "kind: is Node, not Pod"},
        WrongPodCase{"metadata", R"({"metadata":[]})", "metadata: must be an object, not a list"},
        WrongPodCase{"time", R"({"metadata":{"name":"p","creationTimestamp":"yesterday"}})",
                     "metadata.creationTimestamp:"},
        WrongPodCase{"time_beyond_64_bits", R"({"metadata":{"name":"p","creationTimestamp":"8549-11-29T16:00:00Z"}})",
                     "metadata.creationTimestamp:"},
        WrongPodCase{"annotation", R"({"metadata":{"name":"p","annotations":{"berth.io/datasets":["a"]}}})",
                     "metadata.annotations.berth.io/datasets: must be a string, not a list"},
        WrongPodCase{"annotation_twice",
                     R"({"metadata":{"name":"p","annotations":{"berth.io/a":"1","berth.io/a":"2"}}})",
                     "metadata.annotations.berth.io/a: is given twice"},
        WrongPodCase{"spec", spec("7"), "spec: must be an object, not a number"},
        WrongPodCase{"spec_twice", R"({"metadata":{"name":"p"},"spec":{},"spec":{}})", "spec: is given twice"},
        WrongPodCase{"gates", spec(R"({"schedulingGates":{}})"), "spec.schedulingGates: must be a list, not an object"},
        WrongPodCase{"containers", spec(R"({"containers":{}})"), "spec.containers: must be a list"},
        WrongPodCase{"container", spec(R"({"containers":[true]})"),
                     "spec.containers[0]: must be an object, not a boolean"},
        WrongPodCase{"restart_policy", spec(R"({"initContainers":[{"restartPolicy":1}]})"),
                     "spec.initContainers[0].restartPolicy: must be a string"},
        WrongPodCase{"resources", spec(R"({"containers":[{"resources":[]}]})"),
                     "spec.containers[0].resources: must be"},
        WrongPodCase{"not_a_quantity", gpu_amount("\"many\""),
                     "spec.containers[1].resources.requests.nvidia.com/gpu: \"many\" is not a quantity"},
        WrongPodCase{"quantity_is_list", gpu_amount("[]"), "nvidia.com/gpu: must be a quantity, not a list"},
        WrongPodCase{"negative", gpu_amount("\"-1\""), "nvidia.com/gpu: must not be negative"},
        WrongPodCase{"negative_number", gpu_amount("-1"), "nvidia.com/gpu: must not be negative"},
        WrongPodCase{"beyond_int64", gpu_amount("18446744073709551615"), "is not a quantity"},
        WrongPodCase{"too_many_in_sum", spec(R"({"containers":[{"resources":{"requests":{"nvidia.com/gpu":"7E"}}},
              {"resources":{"requests":{"nvidia.com/gpu":"7E"}}}]})"),
                     "spec.containers[1]: asks for more"},
        WrongPodCase{"phase", R"({"metadata":{"name":"p"},"status":{"phase":4}})", "status.phase: must be a string"},
        WrongPodCase{"not_json", R"({"metadata":)", "malformed JSON"},
        WrongPodCase{"list", "[]", "must be an object, not a list"}),
    kCaseName);

}  // namespace
}  // namespace berth::codec
