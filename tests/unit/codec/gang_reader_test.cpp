// Which gang a pod belongs to, by the labels, annotations and owners that tools write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/codec/kubernetes_objects.h"

namespace berth::codec {
namespace {

model::GangRef gang_of(const std::string& metadata, const std::string& spec = "{}") {
  std::string json = R"({"metadata":{"name":"p","namespace":"team",)" + metadata + R"(},"spec":)" + spec + "}";
  const auto pod = ObjectReader({}).read<model::Pod>(json);
  EXPECT_TRUE(pod) << pod.error().to_string();
  return pod ? pod->gang : model::GangRef{};
}

struct GangCase {
  const char* name;
  const char* metadata;
  const char* gang;
  std::int32_t members;
};

class GangReader : public testing::TestWithParam<GangCase> {};

TEST_P(GangReader, Reads) {
  const model::GangRef gang = gang_of(GetParam().metadata);
  EXPECT_EQ(gang.name, GetParam().gang);
  EXPECT_EQ(gang.members, GetParam().members);
}

INSTANTIATE_TEST_SUITE_P(
    Sources, GangReader,
    testing::Values(
        GangCase{
            "Kueue",
            R"("labels":{"kueue.x-k8s.io/pod-group-name":"g"},"annotations":{"kueue.x-k8s.io/pod-group-total-count":"4"})",
            "team/g kueue-pod-group", 4},
        GangCase{"Coscheduling", R"("labels":{"scheduling.x-k8s.io/pod-group":"g"})", "team/g pod-group", 0},
        GangCase{
            "LightCoscheduling",
            R"("labels":{"pod-group.scheduling.sigs.k8s.io/name":"g","pod-group.scheduling.sigs.k8s.io/min-available":"3"})",
            "team/g pod-group", 3},
        GangCase{"EarlyCoscheduling", R"("labels":{"pod-group.scheduling.sigs.k8s.io":"g"})", "team/g pod-group", 0},
        GangCase{"Volcano",
                 R"("annotations":{"scheduling.k8s.io/group-name":"g","scheduling.volcano.sh/group-min-member":"8"})",
                 "team/g volcano-pod-group", 8},
        GangCase{"JobSet",
                 R"("labels":{"jobset.sigs.k8s.io/jobset-name":"s","batch.kubernetes.io/job-name":"s-workers-0"})",
                 "team/s jobset", 0},
        GangCase{"LeaderWorkerSet",
                 R"("labels":{"leaderworkerset.sigs.k8s.io/name":"s","leaderworkerset.sigs.k8s.io/group-index":"2"},)"
                 R"("annotations":{"leaderworkerset.sigs.k8s.io/size":"4"})",
                 "team/s/2 leaderworkerset", 4},
        GangCase{"Ray", R"("labels":{"ray.io/cluster":"c"})", "team/c ray-cluster", 0},
        GangCase{"Kubeflow", R"("labels":{"training.kubeflow.org/job-name":"j"})", "team/j kubeflow-job", 0},
        GangCase{"JobByLabel", R"("labels":{"batch.kubernetes.io/job-name":"j"})", "team/j job", 0},
        GangCase{"JobByOwner",
                 R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","controller":true}])",
                 "team/j job", 0},
        GangCase{"ExplicitBeforeOwner",
                 R"("labels":{"batch.kubernetes.io/job-name":"j","scheduling.x-k8s.io/pod-group":"g"})",
                 "team/g pod-group", 0},
        GangCase{"NoGang",
                 R"("labels":{"app":"x"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r"}])",
                 "", 0},
        // Not names: the next source counts.
        GangCase{"BrokenName", R"("labels":{"ray.io/cluster":"a b","batch.kubernetes.io/job-name":"j"})", "team/j job",
                 0},
        GangCase{
            "BrokenCount",
            R"("labels":{"kueue.x-k8s.io/pod-group-name":"g"},"annotations":{"kueue.x-k8s.io/pod-group-total-count":"-4x"})",
            "team/g kueue-pod-group", 0}),
    [](const auto& one) { return one.param.name; });

TEST(GangReaderSpec, SchedulingGroupOfKubernetes136) {
  EXPECT_EQ(
      gang_of(R"("labels":{"batch.kubernetes.io/job-name":"j"})", R"({"schedulingGroup":{"podGroupName":"g"}})").name,
      "team/g scheduling-group");
}

TEST(GangReaderSpec, TheSameNameOfAnotherKindIsAnotherGang) {
  EXPECT_NE(gang_of(R"("labels":{"ray.io/cluster":"x"})").name,
            gang_of(R"("labels":{"batch.kubernetes.io/job-name":"x"})").name);
}

}  // namespace
}  // namespace berth::codec
