// POST /preempt of the real program, on a cluster file with a DGX-1: which links its GPUs have decides who goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "berth/kube/kubeconfig.h"
#include "support/berth_process.h"
#include "support/cluster_json.h"
#include "support/fake_api_server.h"
#include "support/preemption_json.h"

namespace berth::tests {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::Pair;

// Eight pods on the GPUs that their annotation names. The pod on GPU 3 saved its work last.
std::string full_dgx() {
  json node = node_json("dgx");
  node["metadata"]["labels"] = {{"nvidia.com/gpu.product", "Tesla-V100-SXM2-32GB"}, {"nvidia.com/gpu.memory", "32768"}};
  std::vector<json> items = {node};
  for (int gpu = 0; gpu < 8; ++gpu) {
    json pod = pod_json("g" + std::to_string(gpu), 1, "dgx", {{"berth.io/gpus", std::to_string(gpu)}});
    if (gpu == 3) pod["metadata"]["annotations"]["berth.io/checkpointed-at"] = "2026-11-20T00:00:00Z";
    pod["metadata"]["labels"] = {{"app", gpu == 1 ? "serving" : "batch"}};
    pod["status"]["startTime"] = "2026-11-01T00:00:00Z";
    items.push_back(pod);
  }
  items.push_back({{"apiVersion", "policy/v1"},
                   {"kind", "PodDisruptionBudget"},
                   {"metadata", {{"namespace", "team"}, {"name", "serving"}}},
                   {"spec", {{"selector", {{"matchLabels", {{"app", "serving"}}}}}}},
                   {"status", {{"disruptionsAllowed", 0}}}});
  return list_json(items);
}

json preemptor(const std::string& policy) {
  json pod = pod_json("train", 2, "", {{"berth.io/topology-policy", policy}});
  pod["spec"]["priority"] = 1000;
  return pod;
}

class Preempt : public ::testing::Test {
 protected:
  std::unique_ptr<BerthProcess> serve(const std::string& config) {
    return std::make_unique<BerthProcess>(
        BERTH_BINARY, std::vector<std::string>{"--cluster-file", dir_.write("cluster.json", full_dgx()), "--config",
                                               dir_.write("config.yaml", config)});
  }
  TempDir dir_;
};

TEST_F(Preempt, IsNotThereUnlessItIsSwitchedOn) {
  const auto berth = serve("");
  EXPECT_EQ(berth->post("/preempt", preemption_args(preemptor("none"), {}))->status, 404);
}

// GPUs 0 and 5 have no link. Of those that have one to either, GPU 3's pod has saved its work last.
TEST_F(Preempt, FreesConnectedGpusAtTheLeastLossOfWork) {
  const auto berth = serve("preempt: {enabled: true}");
  const auto connected =
      berth->post("/preempt", preemption_args(preemptor("restricted"), {{"dgx", {"pod-g0", "pod-g5"}}}));
  ASSERT_EQ(connected->status, 200) << connected->body;
  EXPECT_THAT(answered_victims(connected->body), ElementsAre(Pair("dgx", ElementsAre("pod-g0", "pod-g3"))));
  const auto anywhere = berth->post("/preempt", preemption_args(preemptor("none"), {{"dgx", {"pod-g0", "pod-g5"}}}));
  EXPECT_THAT(answered_victims(anywhere->body), ElementsAre(Pair("dgx", ElementsAre("pod-g0", "pod-g5"))));
}

// Whatever else was right, a pod of eight GPUs evicts the pod that a budget protects, and says so.
TEST_F(Preempt, ViolatedBudgetsAreCounted) {
  const auto berth = serve("preempt: {enabled: true}");
  json pod = preemptor("restricted");
  pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = "8";
  const auto answer = berth->post(
      "/preempt",
      preemption_args(pod, {{"dgx", {"pod-g0", "pod-g2", "pod-g3", "pod-g4", "pod-g5", "pod-g6", "pod-g7"}}}));
  const json dgx = json::parse(answer->body)["NodeNameToMetaVictims"]["dgx"];
  EXPECT_EQ(dgx["Pods"].size(), 8U);
  EXPECT_EQ(dgx["NumPDBViolations"], 1);
}

TEST(PreemptLive, BudgetsAreWatchedOnlyWhereTheyAreNeeded) {
  const std::string group = "/apis/policy/v1";
  const std::string budgets = group + "/poddisruptionbudgets";
  berth::testing::FakeApiServer server;
  server.serve(group, {"poddisruptionbudgets"});
  const TempDir dir;
  const std::string kubeconfig = dir.write("kubeconfig", berth::kube::kubeconfig_for(server.url()));
  {
    const BerthProcess without(BERTH_BINARY, {"--kubeconfig", kubeconfig});
    ASSERT_TRUE(server.wait_for_requests("/apis/data.fluid.io/v1alpha1", false, 1));
    EXPECT_EQ(server.requests(budgets, false), 0U);
  }
  const BerthProcess with(
      BERTH_BINARY, {"--kubeconfig", kubeconfig, "--config", dir.write("config.yaml", "preempt: {enabled: true}")});
  EXPECT_TRUE(server.wait_for_requests(budgets, true, 1));
}

}  // namespace
}  // namespace berth::tests
