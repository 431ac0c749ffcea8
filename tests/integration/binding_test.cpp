// `berth serve` with Bind on, between a scheduler that asks and an API server that binds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "berth/kube/kubeconfig.h"
#include "support/berth_process.h"
#include "support/binding_api.h"
#include "support/cluster_json.h"
#include "support/fake_api_server.h"

namespace berth {
namespace {

using nlohmann::json;
using testing::BindingApi;
using testing::FakeApiServer;
using testing::kNodesPath;
using testing::kPodsPath;
using testing::make_node;
using testing::make_pod;
using tests::BerthProcess;

class Binding : public ::testing::Test {
 protected:
  std::string kubeconfig() const { return directory_.write("config", kube::kubeconfig_for(server_.url())); }
  std::vector<std::string> arguments() const { return {"--kubeconfig", kubeconfig(), "--bind-listen", "127.0.0.1:0"}; }

  void add_node(const std::string& name) {
    json node = make_node(name);
    node["metadata"]["labels"]["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3";
    server_.put(kNodesPath, node);
  }
  static std::vector<std::string> filter(BerthProcess& berth, const json& pod, const std::vector<std::string>& nodes) {
    return tests::filter_when_ready(berth, pod, nodes)["NodeNames"].get<std::vector<std::string>>();
  }
  static std::string bind(BerthProcess& berth, const std::string& pod, const std::string& node) {
    const auto answer =
        berth.bind(json{{"PodName", pod}, {"PodNamespace", "ns"}, {"PodUID", "uid-" + pod}, {"Node", node}}.dump());
    return answer && answer->status == 200 ? json::parse(answer->body).at("Error").get<std::string>() : "no answer";
  }
  json pod(const std::string& name) const { return *server_.find(kPodsPath, "ns/" + name); }
  // Indices as written on the pod; empty if it is not bound.
  std::string gpus(const std::string& name) const {
    return pod(name)["metadata"].value("annotations", json::object()).value("berth.io/gpus", "");
  }

  FakeApiServer server_;
  BindingApi api_{server_};
  tests::TempDir directory_;
};

TEST_F(Binding, PodIsBoundWithTheGpusThatItGets) {
  add_node("a");
  const json p = make_pod("ns", "p", 2);
  server_.put(kPodsPath, p);
  BerthProcess berth(BERTH_BINARY, arguments());
  ASSERT_EQ(filter(berth, p, {"a"}), std::vector<std::string>{"a"});
  EXPECT_EQ(bind(berth, "p", "a"), "");
  EXPECT_EQ(pod("p")["spec"]["nodeName"], "a");
  EXPECT_EQ(gpus("p"), "0,1");
  EXPECT_EQ(bind(berth, "p", "a"), "");  // again, after a lost answer
  const std::string metrics = berth.admin("/metrics")->body;
  EXPECT_THAT(metrics, ::testing::HasSubstr("berth_binds_total{result=\"bound\"} 1\n"));
  EXPECT_THAT(metrics, ::testing::HasSubstr("berth_binds_total{result=\"already\"} 1\n"));
  EXPECT_THAT(metrics, ::testing::HasSubstr("berth_bind_duration_seconds_count{part=\"own\"} 2\n"));
}

// A burst: the API server takes its time, and answers all at once. Four nodes of eight GPUs for 40 pods.
TEST_F(Binding, BurstOntoFewNodesSharesNoGpu) {
  const std::vector<std::string> nodes = {"a", "b", "c", "d"};
  for (const auto& node : nodes) add_node(node);
  for (int i = 0; i < 40; ++i) server_.put(kPodsPath, make_pod("ns", "p" + std::to_string(i), 1));
  BerthProcess berth(BERTH_BINARY, arguments());
  ASSERT_FALSE(filter(berth, pod("p0"), nodes).empty());
  std::vector<std::thread> threads;
  for (int i = 0; i < 40; ++i) {
    threads.emplace_back([&, i] { bind(berth, "p" + std::to_string(i), nodes[i % 4]); });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, std::set<std::string>> taken;
  int bound = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "p" + std::to_string(i);
    if (gpus(name).empty()) continue;
    ++bound;
    EXPECT_TRUE(taken[pod(name)["spec"]["nodeName"]].insert(gpus(name)).second) << name;
  }
  EXPECT_EQ(bound, 32);
}

// HAMi#812, HAMi#1557.
TEST_F(Binding, RestartKnowsWhoHoldsWhat) {
  add_node("a");
  for (const char* name : {"p", "q"}) server_.put(kPodsPath, make_pod("ns", name, 4));
  {
    BerthProcess before(BERTH_BINARY, arguments());
    ASSERT_FALSE(filter(before, pod("p"), {"a"}).empty());
    ASSERT_EQ(bind(before, "p", "a"), "");
  }
  BerthProcess after(BERTH_BINARY, arguments());
  ASSERT_FALSE(filter(after, pod("q"), {"a"}).empty());
  ASSERT_EQ(bind(after, "q", "a"), "");
  EXPECT_EQ(std::set<std::string>({gpus("p"), gpus("q")}), (std::set<std::string>{"0,1,2,3", "4,5,6,7"}));
}

TEST_F(Binding, MalformedRequestIsRefused) {
  add_node("a");
  BerthProcess berth(BERTH_BINARY, arguments());
  const auto answer = berth.bind("{\"PodName\":\"p\"}");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(json::parse(answer->body), json({{"error", "PodNamespace: is missing or null"}}));
}

}  // namespace
}  // namespace berth
