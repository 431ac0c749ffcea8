#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/codec/kubernetes_objects.h"
#include "unit/codec/test_data.h"

namespace berth::codec {
namespace {

using model::CachePod;
using model::CacheRole;
using testing::ElementsAre;
using testing::IsEmpty;

model::Pod pod_of(std::string json) {
  const auto pod = ObjectReader({}).read<model::Pod>(json);
  EXPECT_TRUE(pod) << pod.error().to_string() << "\n" << json;
  return pod.value_or(model::Pod{});
}

std::optional<CachePod> cache_of(const std::string& name, const std::string& labels, const std::string& rest = "") {
  return pod_of(R"({"metadata":{"name":")" + name + R"(","namespace":"n","labels":{)" + labels + "}}" + rest + "}")
      .cache;
}

// A worker as Fluid 1.0.8's chart makes it, with the container network.
TEST(FluidPod, AlluxioWorker) {
  const auto pod = pod_of(R"({"metadata":{"name":"imagenet-worker-0","namespace":"research","uid":"u","labels":{
    "app":"alluxio","chart":"alluxio-0.9.14","release":"imagenet","heritage":"Helm","role":"alluxio-worker",
    "fluid.io/dataset":"research-imagenet","fluid.io/dataset-placement":"Exclusive","fluid.io/dataset-id":
    "research-imagenet","fluid.io/managed-by":"fluid"}},"spec":{"nodeName":"a","containers":[{"name":"alluxio-worker",
    "image":"alluxio/alluxio-dev:2.9.0","ports":[{"name":"rpc","containerPort":29999},{"name":"web","containerPort":30000}]},
    {"name":"alluxio-job-worker"}]},"status":{"phase":"Running","hostIP":"10.0.0.1","podIP":"172.16.0.4","startTime":
    "2026-11-29T16:00:00Z","conditions":[{"type":"PodScheduled","status":"True"},{"type":"Ready","status":"True"}]}})");
  ASSERT_TRUE(pod.cache);
  CachePod want;
  want.role = CacheRole::kWorker;
  want.dataset = "imagenet";
  want.ready = true;
  want.host_ip = "10.0.0.1";
  want.pod_ip = "172.16.0.4";
  want.started = core::WallTime(std::chrono::seconds(1'795'968'000));  // date -d 2026-11-29T16:00:00Z +%s
  EXPECT_EQ(*pod.cache, want);
  EXPECT_EQ(pod.started, want.started);
}

// Fluid allocates the ports of masters on the host network: only the pod tells.
TEST(FluidPod, AlluxioMasterTellsItsWebPort) {
  const std::string labels = R"("release":"imagenet","role":"alluxio-master","name":"imagenet-master")";
  const auto master = cache_of("imagenet-master-0", labels, R"(,"spec":{"containers":[
    {"name":"alluxio-job-master","ports":[{"name":"job-web","containerPort":1},{"name":"web","containerPort":2}]},
    {"name":"alluxio-master","ports":[{"name":"rpc","containerPort":20000},{"name":"web","containerPort":20007}]}]},
    "status":{"podIP":"10.0.0.9","conditions":[{"type":"Ready","status":"False"}]})");
  ASSERT_TRUE(master);
  EXPECT_EQ(master->role, CacheRole::kMaster);
  EXPECT_EQ(master->web_port, 20007);
  EXPECT_EQ(master->pod_ip, "10.0.0.9");
  EXPECT_FALSE(master->ready);
  EXPECT_EQ(cache_of("imagenet-master-0", labels)->web_port, 0);
}

TEST(FluidPod, OtherMastersHaveNoPortForUs) {
  EXPECT_EQ(cache_of("d-master-0", R"("release":"d","role":"goosefs-master")",
                     R"(,"spec":{"containers":[{"name":"goosefs-master","ports":[{"name":"web","containerPort":2}]}]})")
                ->web_port,
            0);
}

TEST(FluidPod, RolesOfAllRuntimes) {
  for (const std::string engine : {"alluxio", "juicefs", "jindofs", "goosefs", "efc", "thin", "vineyard"}) {
    const auto role = [&](const std::string& part) {
      return cache_of("p", R"("release":"d","role":")" + engine + "-" + part + "\"")->role;
    };
    EXPECT_EQ(role("worker"), CacheRole::kWorker) << engine;
    EXPECT_EQ(role("master"), CacheRole::kMaster) << engine;
    EXPECT_EQ(role("fuse"), CacheRole::kFuse) << engine;
  }
}

// Only workers have the label fluid.io/dataset. Its value may be the dataset's UID, and "a-b-c" may be split two ways:
// it is not looked at.
TEST(FluidPod, LabelOfTheDatasetMakesAWorker) {
  const auto worker = cache_of("b-c-worker-1", R"("release":"b-c","fluid.io/dataset":"a-b-c")");
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->role, CacheRole::kWorker);
  EXPECT_EQ(worker->dataset, "b-c");
  EXPECT_EQ(cache_of("p", R"("release":"d","role":"alluxio-fuse","fluid.io/dataset":"x")")->role, CacheRole::kWorker);
  EXPECT_EQ(cache_of("p", R"("release":"d","fluid.io/dataset":"9a0c3b52-5d0e-4b8c-9f13-0c6a5be2d417")")->dataset, "d");
}

TEST(FluidPod, DatasetOfAWorkerWithoutRelease) {
  const auto dataset = [](const std::string& name, const std::string& more) {
    const auto cache = cache_of(name, R"("fluid.io/dataset":"x")" + more);
    return cache ? cache->dataset : "none";
  };
  EXPECT_EQ(dataset("p", R"(,"cacheruntime.fluid.io/name":"d")"), "d");
  EXPECT_EQ(dataset("imagenet-worker-12", ""), "imagenet");
  EXPECT_EQ(dataset("imagenet-jindofs-worker-0", ""), "imagenet");
  EXPECT_EQ(dataset("my-worker-worker-0", ""), "my-worker");
  EXPECT_EQ(dataset("imagenet-worker-", ""), "none");
  EXPECT_EQ(dataset("imagenet-0", ""), "none");
  EXPECT_EQ(dataset("-worker-0", ""), "none");
  EXPECT_EQ(dataset("0", ""), "none");
}

// CacheRuntime's pods have no role.
TEST(FluidPod, CacheRuntimeWorkersOnly) {
  const auto of = [](const std::string& component) {
    return cache_of("p",
                    R"("cacheruntime.fluid.io/name":"d","cacheruntime.fluid.io/component-name":")" + component + "\"");
  };
  ASSERT_TRUE(of("d-worker"));
  EXPECT_EQ(of("d-worker")->dataset, "d");
  EXPECT_FALSE(of("d-master"));
  EXPECT_FALSE(of("d-client"));
  EXPECT_FALSE(of("other-worker"));
}

TEST(FluidPod, OtherPodsAreNone) {
  for (const char* labels : {"", R"("app":"train","release":"d")", R"("role":"worker","release":"d")",
                             R"("role":"ray-worker","release":"d")", R"("role":"alluxio-proxy","release":"d")",
                             R"("role":"dataload-pod","release":"d-loader")",
                             R"("fluid.io/dataset-id":"n-d","release":"d")", R"("role":"alluxio-worker")"}) {
    EXPECT_FALSE(cache_of("p", labels)) << labels;
  }
}

TEST(FluidPod, JuiceFsCommunityKeepsACacheInEveryClient) {
  const auto own = [](const std::string& role, const std::string& container) {
    return cache_of("p", R"("release":"d","role":")" + role + "\"", R"(,"spec":{"containers":[)" + container + "]}")
        ->own_cache;
  };
  const std::string metaurl = R"({"env":[{"name":"TZ","value":"UTC"},{"name":"METAURL","valueFrom":{"secretKeyRef":
      {"name":"s","key":"metaurl"}}}]})";
  const std::string metrics = R"({"ports":[{"name":"metrics","containerPort":9567}]})";
  EXPECT_TRUE(own("juicefs-fuse", metaurl));
  EXPECT_TRUE(own("juicefs-worker", metaurl));
  EXPECT_TRUE(own("juicefs-fuse", metrics));
  EXPECT_FALSE(own("juicefs-fuse", R"({"env":[{"name":"TOKEN"}],"ports":[{"containerPort":80}]})"));  // enterprise
  EXPECT_FALSE(own("juicefs-fuse", "{}"));
  EXPECT_FALSE(own("thin-fuse", metrics));
  EXPECT_FALSE(own("vineyard-worker", metrics));
}

std::vector<std::string> claims(const std::string& volumes, const std::string& name = "p") {
  return pod_of(R"({"metadata":{"name":")" + name + R"("},"spec":{"volumes":[)" + volumes + "]}}").claims;
}

TEST(PodClaims, OfVolumesEachOnce) {
  EXPECT_THAT(claims(R"({"name":"a","persistentVolumeClaim":{"claimName":"imagenet","readOnly":true}},
      {"name":"shm","emptyDir":{}},{"name":"b","persistentVolumeClaim":{"claimName":"coco"}},
      {"name":"c","persistentVolumeClaim":{"claimName":"imagenet"}},{"name":"d","persistentVolumeClaim":null})"),
              ElementsAre("imagenet", "coco"));
}

// ephemeral-volume-controller names the claim "POD-VOLUME".
TEST(PodClaims, EphemeralVolumes) {
  EXPECT_THAT(
      claims(R"({"name":"scratch","ephemeral":{"volumeClaimTemplate":{"spec":{}}}},{"name":"x","ephemeral":{}})"),
      ElementsAre("p-scratch"));
}

TEST(PodClaims, NoMoreThanAPodCanHave) {
  std::string volumes;
  for (int i = 0; i < 300; ++i) {
    volumes += (i == 0 ? "" : ",") + (R"({"persistentVolumeClaim":{"claimName":"c)" + std::to_string(i) + "\"}}");
  }
  EXPECT_EQ(claims(volumes).size(), 256U);
}

TEST(PodDatasets, RequiredByLabel) {
  EXPECT_THAT(pod_of(R"({"metadata":{"name":"p","labels":{"fluid.io/dataset.imagenet.sched":"required",
      "fluid.io/dataset.a.b-c.sched":"required","fluid.io/dataset.coco.sched":"preferred","fluid.io/dataset..sched":
      "required","fluid.io/dataset.sched":"required","fluid.io/dataset.X.sched":"required","fluid.io/dataset.x":"required"}}})")
                  .required_claims,
              ElementsAre("imagenet", "a.b-c"));
}

TEST(PodDatasets, InUse) {
  const auto in_use = [](const std::string& names) {
    return pod_of(R"({"metadata":{"name":"p","annotations":{"fluid.io/datasets-in-use":")" + names + "\"}}}")
        .datasets_in_use;
  };
  EXPECT_THAT(in_use("coco,imagenet"), ElementsAre("coco", "imagenet"));
  EXPECT_THAT(in_use(" coco , ,imagenet,, coco,Bad Name,"), ElementsAre("coco", "imagenet"));
  EXPECT_THAT(in_use(""), IsEmpty());
  std::string many;
  for (int i = 0; i < 100; ++i) many += "d" + std::to_string(i) + ",";
  EXPECT_EQ(in_use(many).size(), 64U);
}

TEST(PodImages, OfAllContainersEachOnce) {
  const auto pod = pod_of(R"({"metadata":{"name":"p"},"spec":{"containers":[{"image":"train:v1"},{"image":"log:v2"}],
      "initContainers":[{"image":"docker.io/library/train:v1"},{"image":""},{}]}})");
  EXPECT_THAT(pod.images, testing::UnorderedElementsAre(model::image_id("train:v1"), model::image_id("log:v2")));
}

TEST(PodFields, DeadlineAndPriority) {
  const auto pod = pod_of(R"({"metadata":{"name":"p"},"spec":{"activeDeadlineSeconds":3600,"priority":-10}})");
  EXPECT_EQ(pod.deadline_seconds, 3600);
  EXPECT_EQ(pod.priority, -10);
}

struct Message {
  const char* name;
  const char* condition;
  bool ours;
};
class RejectedByUs : public testing::TestWithParam<Message> {};

TEST_P(RejectedByUs, IsInTheMessage) {
  EXPECT_EQ(pod_of(R"({"metadata":{"name":"p"},"status":{"conditions":[{"type":"Initialized","status":"True"},)" +
                   std::string(GetParam().condition) + "]}}")
                .rejected_by_us,
            GetParam().ours);
}

INSTANTIATE_TEST_SUITE_P(
    Conditions, RejectedByUs,
    testing::Values(
        Message{"dataset", R"({"type":"PodScheduled","status":"False","reason":"Unschedulable","message":
            "0/5 nodes are available: 2 Insufficient nvidia.com/gpu, 3 DATASET_NOT_CACHED. preemption: ..."})",
                true},
        Message{"beside_ours", R"({"type":"PodScheduled","status":"False","reason":"Unschedulable","message":
            "0/5 nodes are available: 1 INSUFFICIENT_GPU, 4 TOPOLOGY_RESTRICTED."})",
                true},
        Message{"gpus_alone", R"({"type":"PodScheduled","status":"False","reason":"Unschedulable","message":
            "0/5 nodes are available: 5 INSUFFICIENT_GPU, 1 OUTRANKED."})",
                false},
        Message{"part_of_a_word", R"({"type":"PodScheduled","status":"False","reason":"Unschedulable","message":
            "0/5 nodes are available: 5 UNRESERVED, 3 RESERVED_X."})",
                false},
        Message{"other_reason", R"({"type":"PodScheduled","status":"False","reason":"SchedulerError","message":
            "3 DATASET_NOT_CACHED"})",
                false},
        Message{"bound_by_now", R"({"type":"PodScheduled","status":"True","message":"3 DATASET_NOT_CACHED"})", false},
        Message{"other_type", R"({"type":"Ready","status":"False","reason":"Unschedulable","message":
            "3 DATASET_NOT_CACHED"})",
                false},
        Message{"no_message", R"({"type":"PodScheduled","status":"False","reason":"Unschedulable"})", false}),
    kCaseName);

}  // namespace
}  // namespace berth::codec
