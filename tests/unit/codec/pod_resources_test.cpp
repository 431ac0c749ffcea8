// What a pod asks of its node, as kube-scheduler counts it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "berth/codec/kubernetes_objects.h"

namespace berth::codec {
namespace {

using model::Resources;

constexpr std::int64_t kMi = 1 << 20;

core::Result<model::Pod> read_pod(const std::string& spec, const std::string& status = {}) {
  std::string json = R"({"metadata":{"name":"p"},"spec":{)" + spec + R"(},"status":{)" + status + "}}";
  return ObjectReader({}).read<model::Pod>(json);
}
Resources requests_of(const std::string& spec, const std::string& status = {}) {
  const auto pod = read_pod(spec, status);
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().to_string());
  return pod ? pod->requests : Resources{};
}

// A container that asks for cpu (milli) and memory (MiB).
std::string asks(int cpu, int memory, const char* more = "") {
  return R"({"name":"c)" + std::to_string(cpu) + R"(",)" + more + R"("resources":{"requests":{"cpu":")" +
         std::to_string(cpu) + R"(m","memory":")" + std::to_string(memory) + R"(Mi"}}})";
}
std::string sidecar(int cpu, int memory) { return asks(cpu, memory, R"("restartPolicy":"Always",)"); }
Resources basic(std::int64_t cpu, std::int64_t memory, std::int64_t storage = 0) {
  return {{cpu, memory * kMi, storage * kMi}, {}};
}

struct SumCase {
  const char* name;
  std::string containers;
  std::string init_containers;
  Resources want;
};
class PodRequests : public testing::TestWithParam<SumCase> {};
INSTANTIATE_TEST_SUITE_P(
    Table, PodRequests,
    testing::Values(SumCase{"nothing", R"({"name":"c"})", "", {}},  //
                    SumCase{"containers add up", asks(250, 100) + "," + asks(500, 50), "", basic(750, 150)},
                    SumCase{"each resource by itself", asks(250, 100), asks(500, 50), basic(500, 100)},
                    SumCase{"init containers run one by one", asks(100, 10), asks(300, 10) + "," + asks(200, 40),
                            basic(300, 40)},
                    // max(100 + 200 + 50, 300 + 200): the sidecar that starts later is not there yet.
                    SumCase{"sidecars before an init container", asks(100, 0),
                            sidecar(200, 0) + "," + asks(300, 0) + "," + sidecar(50, 0), basic(500, 0)},
                    SumCase{"sidecars stay", asks(400, 0), sidecar(200, 0) + "," + asks(300, 0), basic(600, 0)}),
    [](const auto& tested) {
      std::string name = tested.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST_P(PodRequests, AsKubeSchedulerAddsThemUp) {
  const SumCase& c = GetParam();
  EXPECT_EQ(requests_of(R"("initContainers":[)" + c.init_containers + R"(],"containers":[)" + c.containers + "]"),
            c.want);
}

TEST(PodResources, OtherResourcesByName) {
  const Resources want{{0, 0, 1024 * kMi}, {{"hugepages-2Mi", 4 * kMi}, {"nvidia.com/gpu", 3}, {"rdma/hca", 1}}};
  EXPECT_EQ(requests_of(R"("containers":[{"resources":{"requests":{"rdma/hca":1,"nvidia.com/gpu":1,"x/none":0,
      "hugepages-2Mi":"4Mi","ephemeral-storage":"1Gi","strange":"7"}}},{"resources":{"limits":{"nvidia.com/gpu":2}}}])"),
            want);
}

TEST(PodResources, OverheadIsAddedOnTop) {
  EXPECT_EQ(requests_of(R"("overhead":{"cpu":"50m","memory":"20Mi"},"initContainers":[)" + asks(500, 10) +
                        R"(],"containers":[)" + asks(100, 100) + "]"),
            basic(550, 120));
}

// What the API server fills in, for manifests that have not been there.
TEST(PodResources, ALimitAloneIsARequest) {
  EXPECT_EQ(requests_of(R"("containers":[{"resources":{"limits":{"cpu":"2","memory":"1Mi"},"requests":{"cpu":0}}}])"),
            basic(0, 1));
}

TEST(PodResources, PodLevelRequestsStandForCpuAndMemory) {
  const std::string container = R"("containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi",
      "ephemeral-storage":"5Mi","nvidia.com/gpu":1}}}],"overhead":{"cpu":"100m"})";
  EXPECT_EQ(requests_of(R"("resources":{"requests":{"cpu":"3","nvidia.com/gpu":"7","ephemeral-storage":"9Mi"}},)" +
                        container),
            (Resources{{3100, 1024 * kMi, 5 * kMi}, {{"nvidia.com/gpu", 1}}}));
  EXPECT_EQ(requests_of(R"("resources":{"requests":{"cpu":"500m"}},)" + container).basic.cpu_milli, 600)
      << "also where it is less";
  EXPECT_EQ(requests_of(R"("resources":{"limits":{"cpu":"5","memory":"9Gi"}},"containers":[{"resources":
      {"requests":{"cpu":"1"}}}])"),
            basic(1000, 9 * 1024))
      << "a limit counts where no container asks";
}

std::string running(const std::string& status) { return R"("containerStatuses":[{"name":"c1000",)" + status + "}]"; }

TEST(PodResources, AResizeCountsTheMostOfAskedAllottedAndActual) {
  const std::string spec = R"("containers":[)" + asks(1000, 100) + "]";
  EXPECT_EQ(requests_of(spec, running(R"("allocatedResources":{"cpu":"1","memory":"100Mi"},
      "resources":{"requests":{"cpu":"3","memory":"50Mi"}})")),
            basic(3000, 100))
      << "it shrinks, and has not shrunk yet";
  EXPECT_EQ(requests_of(spec, running(R"("allocatedResources":{"cpu":"500m","memory":"200Mi"})")), basic(1000, 200));
  EXPECT_EQ(requests_of(spec, running(R"("resources":{})")), basic(1000, 100));
}

// kubelet: PodResizePending, reason Infeasible.
TEST(PodResources, WhatCannotBeHadDoesNotCount) {
  const std::string spec = R"("containers":[)" + asks(1000, 100) + "]";
  const std::string status = running(R"("allocatedResources":{"cpu":"2","memory":"50Mi"},
      "resources":{"requests":{"cpu":"2","memory":"50Mi"}})");
  EXPECT_EQ(requests_of(spec, status + R"(,"conditions":[{"type":"PodResizePending","reason":"Infeasible"}])"),
            basic(2000, 50));
  EXPECT_EQ(requests_of(spec, status + R"(,"conditions":[{"type":"PodResizePending","reason":"Deferred"}])"),
            basic(2000, 100));
}

TEST(PodResources, AnInitContainersStatusCountsInItsRole) {
  const std::string spec = R"("initContainers":[)" + sidecar(1000, 0) + R"(],"containers":[)" + asks(100, 0) + "]";
  EXPECT_EQ(requests_of(spec, R"("initContainerStatuses":[{"name":"c1000","allocatedResources":{"cpu":"4"}}])"),
            basic(4100, 0));
}

TEST(PodResources, TheStatusOfThePodStandsForItsContainers) {
  const std::string spec = R"("containers":[)" + asks(1000, 100) + "]";
  const std::string of_pod =
      R"("allocatedResources":{"cpu":"2","memory":"10Mi"},"resources":{"requests":{"cpu":"1"}},)";
  EXPECT_EQ(requests_of(spec, of_pod + running(R"("allocatedResources":{"cpu":"9"})")), basic(2000, 100));
  EXPECT_EQ(requests_of(R"("resources":{"requests":{"cpu":"1"}},)" + spec,
                        R"("allocatedResources":{"cpu":"3","memory":"10Mi"},"resources":{"requests":{"cpu":"2"}})"),
            basic(3000, 10))
      << "pod-level requests being resized: memory is named by the status alone";
}

TEST(PodResources, HugeAmountsEndWhereSumsCanBearThem) {
  constexpr std::int64_t kMost = model::kMostAsked;
  const std::string huge = R"({"resources":{"requests":{"cpu":"8E","memory":"99999999999999999999999999",
      "x/y":"8E"}}})";
  EXPECT_EQ(requests_of(R"("containers":[)" + huge + "," + huge + "]"),
            (Resources{{kMost, kMost, 0}, {{"x/y", kMost}}}));
}

TEST(PodResources, WrongAmountsAreNamed) {
  const auto refused = [](const std::string& spec, const std::string& status = {}) {
    const auto pod = read_pod(spec, status);
    return pod ? "" : pod.error().to_string();
  };
  EXPECT_EQ(refused(R"("containers":[{"resources":{"requests":{"cpu":"-1"}}}])"),
            "spec.containers[0].resources.requests.cpu: must not be negative");
  EXPECT_EQ(refused(R"("containers":[{"resources":{"limits":{"memory":1,"memory":2}}}])"),
            "spec.containers[0].resources.limits.memory: is given twice");
  EXPECT_EQ(
      refused("", R"("containerStatuses":[{"name":"c","resources":{"requests":{"x/y":"much"}}}])"),
      R"(status.containerStatuses[0].resources.requests.x/y: "much" is not a quantity (examples: 8, 500m, 16Gi))");
  std::string many;
  for (int i = 0; i < 129; ++i) many += (i == 0 ? "" : ",") + std::string(R"("x/)") + std::to_string(i) + R"(":1)";
  EXPECT_EQ(refused(R"("containers":[{"resources":{"requests":{)" + many + "}}}]"),
            "spec.containers[0].resources.requests.x/128: is one more than 128 different resources");
}

}  // namespace
}  // namespace berth::codec
