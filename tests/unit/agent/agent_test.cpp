// What the agent publishes, and when.
#include <gmock/gmock.h>

#include "unit/agent/agent_fixture.h"

namespace berth::agent {
namespace {

using ::testing::HasSubstr;

TEST_F(AgentTest, PublishesTheMachineAndWhoHoldsIt) {
  kubelet_.put("ns", "train", {{kGpu, "GPU-1"}});
  kubelet_.put("ns", "web", {});
  kubelet_.put("ns", "nic", {{"nvidia.com/hostdev", "0000:3b:00.1"}});
  EXPECT_TRUE(step());
  EXPECT_EQ(topology()["gpus"][0]["uuid"], "GPU-0");
  EXPECT_EQ(topology()["gpus"][1]["product"], "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(topology()["gpus"][1]["memoryMiB"], 40'960);
  EXPECT_EQ(topology()["gpus"][1]["numa"], 1);
  EXPECT_EQ(topology()["links"], json::parse(R"([[0, 1, "NV12"]])"));
  EXPECT_EQ(topology()["nics"], json::parse(R"([{"name": "mlx5_0", "links": ["PXB", "SYS"]}])"));
  EXPECT_EQ(topology()["at"], "1970-01-01T01:00:00.000Z");
  EXPECT_EQ(holders()["pods"], json::parse(R"([{"namespace": "ns", "pod": "train", "gpus": [1]}])"));
  EXPECT_EQ(writes(), 2U);
}

// volcano#5361: agents that write again and again what has not changed throttle the API server.
TEST_F(AgentTest, WritesChangesOnly) {
  kubelet_.put("ns", "train", {{kGpu, "GPU-1"}});
  EXPECT_TRUE(step());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(step(10s));
  EXPECT_EQ(writes(), 2U);
  EXPECT_GE(kubelet_.calls(), 100);

  kubelet_.clear();
  EXPECT_TRUE(step(10s));
  EXPECT_EQ(holders()["pods"], json::array());
  EXPECT_EQ(holders()["at"], "1970-01-01T01:16:50.000Z");
  EXPECT_EQ(topology()["at"], "1970-01-01T01:00:00.000Z");
  EXPECT_EQ(writes(), 3U);
}

TEST_F(AgentTest, AgentThatStartsAnewWritesNothing) {
  kubelet_.put("ns", "train", {{kGpu, "GPU-1"}});
  EXPECT_TRUE(step());
  begin();
  EXPECT_TRUE(step(1min));
  EXPECT_EQ(writes(), 2U);
}

TEST_F(AgentTest, AnnotationIsNotWrittenTwiceWithinTheGap) {
  options_.interval = 1s;
  begin();
  EXPECT_TRUE(step());
  kubelet_.put("ns", "a", {{kGpu, "GPU-0"}});
  EXPECT_TRUE(step(1s));
  EXPECT_EQ(holders()["pods"], json::array()) << "written a second ago";
  kubelet_.put("ns", "b", {{kGpu, "GPU-1"}});
  EXPECT_TRUE(step(4s));
  EXPECT_EQ(holders()["pods"].size(), 2U);
  EXPECT_EQ(writes(), 3U);
}

TEST_F(AgentTest, NodeThatIsMadeAnewIsToldAgain) {
  EXPECT_TRUE(step());
  json node = make_node("n1");
  node["metadata"]["uid"] = "another";
  api_.put(kNodesPath, node);
  EXPECT_TRUE(step(10min));
  EXPECT_EQ(topology()["gpus"].size(), 2U);
  EXPECT_EQ(writes(), 4U);
}

TEST_F(AgentTest, MachineThatChangesIsToldWithinAMinute) {
  EXPECT_TRUE(step());
  smi_.set("details",
           FakeNvidiaSmi::head(0) + FakeNvidiaSmi::head(1) + "    GPU Recovery Action                   : Reset\n");
  EXPECT_TRUE(step(10s));
  EXPECT_EQ(writes(), 2U);
  EXPECT_TRUE(step(50s));
  EXPECT_EQ(topology()["gpus"][1]["healthy"], false);
}

// Links are wired: they are asked for again only when a GPU has come or gone.
TEST_F(AgentTest, LinksAreAskedForWhenGpusHaveChanged) {
  smi_.set("topology", "Failed to get topology\n");
  EXPECT_TRUE(step());
  EXPECT_FALSE(topology().contains("links")) << "the rest is told all the same";
  smi_.set_a100(2);
  EXPECT_TRUE(step(1min));
  EXPECT_EQ(topology()["links"].size(), 1U);
  smi_.set("topology", FakeNvidiaSmi::topology(4));
  EXPECT_TRUE(step(1min)) << "not asked";
  EXPECT_EQ(topology()["links"].size(), 1U);
  smi_.set_a100(3);
  EXPECT_TRUE(step(1min));
  EXPECT_EQ(topology()["links"].size(), 3U);
  smi_.set_a100(4);
  smi_.set("topology", FakeNvidiaSmi::topology(3));
  EXPECT_TRUE(step(1min)) << "of another number of GPUs";
  EXPECT_EQ(topology()["gpus"].size(), 4U);
  EXPECT_FALSE(topology().contains("links"));
}

TEST_F(AgentTest, MachineWithoutGpusIsQuiet) {
  for (const char* says : {"No devices were found\n",
                           "NVIDIA-SMI has failed because it couldn't communicate with the "
                           "NVIDIA driver.\n"}) {
    smi_.set("rows", says);
    smi_.set("exit", "9");
    begin();
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(step(10s));
  }
  options_.nvidia_smi = smi_.sysfs() + "/nothing";
  agent_ = std::make_unique<Agent>(options_, client_.get(), clock_);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(step(10s));
  EXPECT_EQ(api_.requests().size(), 0U);
  EXPECT_EQ(kubelet_.calls(), 0);
}

TEST_F(AgentTest, DriverThatComesLaterIsFound) {
  smi_.set("rows", "No devices were found\n");
  EXPECT_TRUE(step());
  smi_.set_a100(4);
  EXPECT_TRUE(step(299s));
  EXPECT_TRUE(topology().is_null());
  EXPECT_TRUE(step(1s));
  EXPECT_EQ(topology()["gpus"].size(), 4U);
}

// k8s-device-plugin#2038: one dead GPU must not take the others with it.
TEST_F(AgentTest, PartitionsAndWhoHoldsThem) {
  smi_.set("rows", FakeNvidiaSmi::row(0));
  smi_.set("details", FakeNvidiaSmi::head(0) +
                          "    MIG Mode\n        Current                           : Enabled\n"
                          "    MIG Device\n        Index                             : 0\n"
                          "        GPU Instance ID                   : 2\n"
                          "    MIG Device\n        Index                             : 1\n"
                          "        GPU Instance ID                   : 9\n");
  smi_.set("mig-names",
           "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0)\n  MIG 3g.20gb     Device  0: (UUID: MIG-3g)\n"
           "  MIG 1g.5gb      Device  1: (UUID: MIG-1g)\n");
  smi_.set("gpu-instances",
           "+---+\n|   0  MIG 3g.20gb          9        2          4:4     |\n"
           "|   0  MIG 1g.5gb          19        9          2:1     |\n+---+\n");
  kubelet_.put("ns", "big", {{"nvidia.com/mig-3g.20gb", "MIG-3g"}});
  EXPECT_TRUE(step());
  EXPECT_EQ(topology()["gpus"][0]["mig"], true);
  EXPECT_EQ(topology()["gpus"][0]["instances"],
            json::parse(R"([{"profile": "1g.5gb", "start": 2}, {"profile": "3g.20gb", "start": 4}])"));
  EXPECT_EQ(holders()["pods"], json::parse(R"([{"namespace": "ns", "pod": "big", "slots": [[0, 4, 4]]}])"));

  // Partitions come and go; the machine is read again at once when a pod holds one that is not known.
  smi_.set("mig-names", "GPU 0: A100 (UUID: GPU-0)\n  MIG 1g.5gb      Device  1: (UUID: MIG-new)\n");
  kubelet_.clear();
  kubelet_.put("ns", "small", {{"nvidia.com/mig-1g.5gb", "MIG-new"}});
  EXPECT_TRUE(step(10s));
  EXPECT_EQ(holders()["pods"], json::parse(R"([{"namespace": "ns", "pod": "small", "slots": [[0, 2, 1]]}])"));
}

TEST_F(AgentTest, DryRunPrintsAndAsksNobody) {
  agent_ = std::make_unique<Agent>(options_, nullptr, clock_);
  kubelet_.put("ns", "train", {{kGpu, "GPU-1"}});
  ::testing::internal::CaptureStdout();
  EXPECT_TRUE(step());
  EXPECT_TRUE(step(1min));
  const std::string printed = ::testing::internal::GetCapturedStdout();
  for (const char* begin : {"berth.io/topology: {", "berth.io/gpu-holders: {"}) {
    EXPECT_THAT(printed, HasSubstr(begin));
    EXPECT_EQ(printed.find(begin), printed.rfind(begin)) << "once";
  }
  EXPECT_EQ(api_.requests().size(), 0U);
}

}  // namespace
}  // namespace berth::agent
