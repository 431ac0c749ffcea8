// What `berth serve` writes to the cluster, seen by the API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "berth/kube/kubeconfig.h"
#include "support/berth_process.h"
#include "support/cluster_json.h"
#include "support/fake_api_server.h"
#include "unit/server/http_raw_client.h"

namespace berth {
namespace {

using nlohmann::json;
using testing::FakeApiServer;
using testing::kNodesPath;
using testing::kPodsPath;
using testing::make_node;
using testing::make_pod;
using tests::BerthProcess;
using tests::filter_when_ready;

class Acting : public ::testing::Test {
 protected:
  std::string kubeconfig() const { return directory_.write("config", kube::kubeconfig_for(server_.url())); }
  static json node(const std::string& name, int memory_mib) {
    json made = make_node(name);
    made["metadata"]["labels"]["nvidia.com/gpu.memory"] = std::to_string(memory_mib);
    return made;
  }
  static json needs_memory(const std::string& name, const std::string& memory) {
    json made = make_pod("ns", name);
    made["metadata"]["annotations"]["berth.io/min-gpu-memory"] = memory;
    return made;
  }

  FakeApiServer server_;
  tests::TempDir directory_;
};

TEST_F(Acting, RejectedPodIsWokenWhenANodeComesToFit) {
  const json pod = needs_memory("p", "80");
  server_.put(kNodesPath, node("a", 40'960));
  server_.put(kNodesPath, node("b", 40'960));
  server_.put(kPodsPath, pod);
  BerthProcess berth(BERTH_BINARY, {"--kubeconfig", kubeconfig()});
  EXPECT_EQ(filter_when_ready(berth, pod, {"a", "b"})["FailedAndUnresolvableNodes"],
            json({{"a", "GPU_MEMORY_TOO_SMALL"}, {"b", "GPU_MEMORY_TOO_SMALL"}}));
  server_.put(kNodesPath, node("b", 81'920));
  const std::string path = "/api/v1/namespaces/ns/pods/p";
  ASSERT_TRUE(server_.wait_for_requests(path, false, 1));
  for (const auto& request : server_.requests()) {
    if (request.path != path) continue;
    EXPECT_EQ(request.method, "PATCH");
    EXPECT_EQ(json::parse(request.body)["metadata"]["uid"], "uid-p");
  }
}

TEST_F(Acting, ValueThatIsNotAllowedIsToldOnThePod) {
  const json pod = needs_memory("p", "much");
  server_.put(kNodesPath, node("a", 40'960));
  server_.put(kNodesPath, node("b", 40'960));
  server_.put(kPodsPath, pod);
  BerthProcess berth(BERTH_BINARY, {"--kubeconfig", kubeconfig()});
  filter_when_ready(berth, pod, {"a", "b"});
  const std::string path = "/api/v1/namespaces/ns/events";
  ASSERT_TRUE(server_.wait_for_requests(path, false, 1));
  for (const auto& request : server_.requests()) {
    if (request.path != path) continue;
    EXPECT_EQ(json::parse(request.body)["reason"], "InvalidPolicy");
  }
}

// Threads that call the API server leave signals to the main thread, also once that waits for none.
TEST_F(Acting, SecondSigtermDoesNotCutTheDrainShort) {
  server_.put(kNodesPath, node("a", 40'960));
  BerthProcess berth(BERTH_BINARY,
                     {"--kubeconfig", kubeconfig(), "--config", directory_.write("c.yaml", "drainTimeout: 1s\n")});
  server::RawClient stalled(static_cast<std::uint16_t>(berth.extender_port()));
  stalled.say("POST /filter HTTP/1.1\r\nContent-Length: 5\r\n\r\nab");
  const auto waits_for = [&](const std::string& path, const std::string& part) {
    const auto end = std::chrono::steady_clock::now() + tests::kDeadline;
    while (std::chrono::steady_clock::now() < end) {
      if (const auto answer = berth.admin(path); answer && answer->body.find(part) != std::string::npos) return true;
    }
    return false;
  };
  ASSERT_TRUE(waits_for("/metrics", "berth_open_connections{server=\"extender\"} 1"));
  berth.child().send_signal(SIGTERM);
  ASSERT_TRUE(waits_for("/readyz", "shutting down"));
  berth.child().send_signal(SIGTERM);
  EXPECT_EQ(berth.child().wait(), 0);
}

}  // namespace
}  // namespace berth
