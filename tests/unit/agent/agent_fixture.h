// The agent between a program in the place of nvidia-smi, a gRPC server in that of the kubelet, and an API server. Time
// stands still but for what a test lets pass.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "berth/agent/agent.h"
#include "support/fake_api_server.h"
#include "support/fake_nvidia_smi.h"
#include "unit/agent/fake_kubelet.h"

namespace berth::agent {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ApiFault;
using testing::FakeApiServer;
using testing::kNodesPath;
using testing::make_node;
using tests::FakeNvidiaSmi;

inline constexpr const char* kGpu = "nvidia.com/gpu";
inline const std::string kPath = kNodesPath + "/n1";

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() : kubelet_(sockets_.path("kubelet.sock")) {
    api_.keep_node_patches();
    api_.put(kNodesPath, make_node("n1"));
    smi_.set_a100(2);
    kube::ServerAccess access;
    access.server = api_.url();
    client_ = *kube::ApiClient::create(access, clock_);
    begin();
  }
  // Another agent takes over.
  void begin() {
    options_.node = "n1";
    options_.nvidia_smi = smi_.path();
    options_.pod_resources = kubelet_.address();
    options_.sysfs = smi_.sysfs();
    options_.random = [] { return 0.5; };
    agent_ = std::make_unique<Agent>(options_, client_.get(), clock_);
  }
  bool step(std::chrono::milliseconds after = 0ms) {
    clock_.advance(after);
    return agent_->step();
  }
  // Of the Node; null if it has none.
  json annotation(const std::string& key) const {
    const json node = api_.node("n1");
    const json& metadata = node.at("metadata");
    if (!metadata.contains("annotations") || !metadata["annotations"].contains(key)) return {};
    return json::parse(metadata["annotations"][key].get<std::string>());
  }
  json topology() const { return annotation("berth.io/topology"); }
  json holders() const { return annotation("berth.io/gpu-holders"); }
  std::size_t writes() const {
    const auto all = api_.requests();
    return static_cast<std::size_t>(std::ranges::count(all, std::string("PATCH"), &testing::ApiRequest::method));
  }

  FakeApiServer api_;
  FakeNvidiaSmi smi_;
  tests::TempDir sockets_;
  FakeKubelet kubelet_;
  core::ManualClock clock_;
  std::unique_ptr<kube::ApiClient> client_;
  AgentOptions options_;
  std::unique_ptr<Agent> agent_;
};

}  // namespace berth::agent
