// What the agent does when something of that which it reads, or writes to, is broken.
#include <gmock/gmock.h>

#include <thread>

#include "unit/agent/agent_fixture.h"

namespace berth::agent {
namespace {

TEST_F(AgentTest, WriteToAnotherNodeOfThatNameIsRefusedAndDoneAnew) {
  EXPECT_TRUE(step());
  json node = make_node("n1");
  node["metadata"]["uid"] = "another";
  api_.put(kNodesPath, node);
  kubelet_.put("ns", "train", {{kGpu, "GPU-1"}});
  EXPECT_FALSE(step(10s)) << "409: the UID is another";
  EXPECT_TRUE(step(10s));
  EXPECT_EQ(topology()["gpus"].size(), 2U);
  EXPECT_EQ(holders()["pods"].size(), 1U);
}

TEST_F(AgentTest, GarbageLeavesWhatIsPublished) {
  EXPECT_TRUE(step());
  const json before = topology();
  for (const char* name : {"rows", "details"}) {
    smi_.set_a100(2);
    smi_.set(name, "\x1b[31mFailed to initialize NVML: Driver/library version mismatch\n");
    EXPECT_FALSE(step(1min));
    EXPECT_EQ(topology(), before);
  }
  kubelet_.put("ns", "train", {{kGpu, "GPU-1"}});
  EXPECT_TRUE(step(10s)) << "holders go on";
  EXPECT_EQ(holders()["pods"].size(), 1U);
  smi_.set_a100(2);
  EXPECT_TRUE(step(1min));
  EXPECT_EQ(writes(), 3U);
}

TEST_F(AgentTest, GarbageFromTheStartPublishesNothing) {
  smi_.set("rows", "0, GPU-0, A100, 40960, 00000000:10:00.0\nwhat\n");
  EXPECT_FALSE(step());
  EXPECT_EQ(api_.requests().size(), 0U);
}

TEST_F(AgentTest, DeadGpuIsUnhealthyAndTheOthersStay) {
  EXPECT_TRUE(step());
  smi_.set("rows", "Unable to determine the device handle for GPU0000:11:00.0: Unknown Error\n");
  smi_.set("exit", "255");
  EXPECT_TRUE(step(1min)) << "nvidia-smi tells nothing else";
  EXPECT_EQ(topology()["gpus"][0]["uuid"], "GPU-0");
  EXPECT_NE(topology()["gpus"][0]["healthy"], false);
  EXPECT_EQ(topology()["gpus"][1]["healthy"], false);
  EXPECT_EQ(topology()["links"].size(), 1U);

  smi_.set("rows", FakeNvidiaSmi::row(0) + "1, [GPU is lost], [GPU is lost], [GPU is lost], 00000000:11:00.0\n");
  begin();
  EXPECT_TRUE(step(1min)) << "an agent that starts with the dead GPU";
  EXPECT_EQ(topology()["gpus"].size(), 2U);
  EXPECT_EQ(topology()["gpus"][1]["healthy"], false);
}

TEST_F(AgentTest, ProgramThatHangsLeavesWhatIsPublished) {
  options_.command_deadline = 200ms;
  begin();
  EXPECT_TRUE(step());
  smi_.set("hangs", "");
  kubelet_.put("ns", "train", {{kGpu, "GPU-1"}});
  EXPECT_FALSE(step(1min));
  EXPECT_EQ(holders()["pods"].size(), 1U) << "the kubelet was asked all the same";
  smi_.unset("hangs");
  EXPECT_TRUE(step(1min));
  EXPECT_EQ(writes(), 3U);
}

TEST_F(AgentTest, PlacesOfPartitionsThatMayNotBeAskedFor) {
  smi_.set("rows", FakeNvidiaSmi::row(0));
  smi_.set("details", FakeNvidiaSmi::head(0) + "    MIG Mode\n        Current                           : Enabled\n");
  smi_.set("mig-names", "GPU 0: A100 (UUID: GPU-0)\n  MIG 1c.3g.20gb  Device  0: (UUID: MIG-3g)\n");
  smi_.set("gpu-instances", "Insufficient Permissions\n");
  kubelet_.put("ns", "p", {{"nvidia.com/mig-3g.20gb", "MIG-3g"}});
  EXPECT_TRUE(step());
  EXPECT_EQ(topology()["gpus"][0]["instances"], json::parse(R"([{"profile": "3g.20gb"}])"));
  EXPECT_EQ(holders()["pods"], json::array()) << "not told rather than wrong";
}

TEST_F(AgentTest, KubeletThatIsAwayAndComesBack) {
  kubelet_.put("ns", "train", {{kGpu, "GPU-1"}});
  EXPECT_TRUE(step());
  kubelet_.stop();
  EXPECT_FALSE(step(10s));
  EXPECT_FALSE(step(10s));
  EXPECT_EQ(holders()["pods"].size(), 1U) << "what was published stays";
  kubelet_.clear();
  kubelet_.start();
  EXPECT_TRUE(step(10s));
  EXPECT_EQ(holders()["pods"], json::array());
}

TEST_F(AgentTest, MachineIsToldWithoutAKubelet) {
  kubelet_.stop();
  EXPECT_FALSE(step());
  EXPECT_EQ(topology()["gpus"].size(), 2U);
  EXPECT_TRUE(holders().is_null());
}

TEST_F(AgentTest, ApiServerInTroubleIsAskedLessAndLess) {
  api_.fail_always(kPath, ApiFault{500});
  EXPECT_FALSE(step());
  for (int i = 0; i < 600; ++i) step(1s);
  // Waits double from 1 s to 60 s: 1.5, 3, 6, 12, 24, 45, 45, ...
  EXPECT_LT(api_.requests(kPath, false), 25U);
  EXPECT_GT(api_.requests(kPath, false), 10U);
  api_.fail_always(kPath, std::nullopt);
  for (int i = 0; i < 60; ++i) step(1s);
  EXPECT_EQ(topology()["gpus"].size(), 2U);
}

TEST_F(AgentTest, RetryAfterIsObeyed) {
  api_.fail_next(kPath, ApiFault{429, {}, {"Retry-After: 30"}}, false);
  EXPECT_FALSE(step());
  step(20s);
  EXPECT_EQ(api_.requests(kPath, false), 1U) << "not yet";
  EXPECT_TRUE(step(10s));
  EXPECT_EQ(topology()["gpus"].size(), 2U);
}

TEST_F(AgentTest, EndsAtOnceWhileNvidiaSmiHangs) {
  smi_.set("hangs", "");
  agent_->start();
  while (smi_.calls().empty()) std::this_thread::yield();
  agent_->stop();
  EXPECT_EQ(api_.requests().size(), 0U);
}

TEST_F(AgentTest, EndsAtOnceWhileTheKubeletIsSilent) {
  kubelet_.set_silent();
  options_.list_deadline = 1h;
  begin();
  agent_->start();
  ASSERT_TRUE(kubelet_.wait_for_calls(1));
  agent_->stop();
}

TEST_F(AgentTest, EndsAtOnceWhileTheApiServerIsSilent) {
  api_.fail_next(kPath, ApiFault{.silent = true}, false);
  agent_->start();
  ASSERT_TRUE(api_.wait_for_requests(kPath, false, 1));
  agent_->stop();
}

}  // namespace
}  // namespace berth::agent
