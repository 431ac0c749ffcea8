// `berth agent` as a program: what it prints, writes and returns. tests/unit/agent has the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "berth/kube/kubeconfig.h"
#include "support/child_process.h"
#include "support/fake_api_server.h"
#include "support/fake_nvidia_smi.h"

namespace berth {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using tests::ChildProcess;

constexpr const char* kToken = "the-secret-of-the-agent";

class AgentCommand : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef BERTH_WITHOUT_AGENT
    GTEST_SKIP() << "built without the agent";
#endif
    smi_.set_a100(2);
  }
  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> all{
        BERTH_BINARY,   "agent",     "--node-name",     "n1",
        "--nvidia-smi", smi_.path(), "--pod-resources", "unix://" + directory_.path("no-kubelet.sock")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string kubeconfig(const testing::FakeApiServer& server) const {
    return directory_.write("config", kube::kubeconfig_for(server.url(), "token: " + std::string(kToken)));
  }

  tests::FakeNvidiaSmi smi_;
  tests::TempDir directory_;
};

TEST_F(AgentCommand, DryRunPrintsTheMachine) {
  ChildProcess agent(command({"--once", "--dry-run"}));
  const std::string line = agent.line();
  ASSERT_THAT(line, StartsWith("berth.io/topology: {"));
  EXPECT_EQ(json::parse(line.substr(line.find('{')))["gpus"].size(), 2U);
  EXPECT_EQ(agent.rest_of_output(), "");
  EXPECT_THAT(agent.rest_of_errors(), HasSubstr("no-kubelet.sock"));
  EXPECT_EQ(agent.wait(), 1) << "the kubelet is not there";
}

TEST_F(AgentCommand, MachineWithoutGpusIsNoFailure) {
  smi_.set("rows", "No devices were found\n");
  ChildProcess agent(command({"--once", "--dry-run"}));
  EXPECT_EQ(agent.rest_of_output(), "");
  EXPECT_THAT(agent.rest_of_errors(), HasSubstr("no NVIDIA GPU here"));
  EXPECT_EQ(agent.wait(), 0);
}

TEST_F(AgentCommand, WritesTheNodeAndEndsOnTerm) {
  testing::FakeApiServer server;
  server.keep_node_patches();
  server.require_token(kToken);
  server.put(testing::kNodesPath, testing::make_node("n1"));
  ChildProcess agent(command({"--kubeconfig", kubeconfig(server), "--log-level", "debug"}));
  ASSERT_TRUE(server.wait_for_requests(testing::kNodesPath + "/n1", false, 2));
  agent.send_signal(SIGTERM);
  EXPECT_EQ(agent.wait(), 0);
  EXPECT_TRUE(server.node("n1")["metadata"]["annotations"].contains("berth.io/topology"));
  EXPECT_THAT(agent.rest_of_errors(), Not(HasSubstr(kToken)));
}

TEST_F(AgentCommand, EndsOnTermWhileNvidiaSmiHangs) {
  smi_.set("hangs", "");
  ChildProcess agent(command({"--dry-run"}));
  while (smi_.calls().empty()) std::this_thread::yield();
  agent.send_signal(SIGTERM);
  EXPECT_EQ(agent.wait(), 0);
}

TEST_F(AgentCommand, WrongUsageIsToldInOneLine) {
  struct Case {
    std::vector<std::string> flags;
    const char* says;
  };
  for (const Case& one :
       {Case{{}, "--in-cluster or --kubeconfig"},
        Case{{"--dry-run", "--interval", "10ms"}, "--interval: \"10ms\" is no duration from 1s to 24h"},
        Case{{"--dry-run", "--machine-interval", "soon"}, "--machine-interval"},
        Case{{"--dry-run", "--log-level", "loud"}, "--log-level"}}) {
    ChildProcess agent(command(one.flags));
    const std::string errors = agent.rest_of_errors();
    EXPECT_THAT(errors, HasSubstr(one.says));
    EXPECT_EQ(std::ranges::count(errors, '\n'), 1);
    EXPECT_EQ(agent.wait(), 2);
  }
}

}  // namespace
}  // namespace berth
