#include "berth/sources/api_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "support/fake_api_server.h"
#include "support/update_recorder.h"

namespace berth::sources {
namespace {

using ::testing::Contains;
using testing::FakeApiServer;
using ::testing::HasSubstr;
using testing::kNodesPath;
using testing::kPodsPath;
using testing::make_node;
using testing::make_pod;

class ApiSourceTest : public ::testing::Test {
 protected:
  void start(ApiSourceOptions options = {}) {
    if (!options.reflector.wait) options.reflector.wait = [](std::chrono::milliseconds) {};
    auto client = kube::ApiClient::create({.server = server_.url()}, clock_);
    ASSERT_TRUE(client);
    source_ = std::make_unique<ApiSource>(std::move(*client), sink_, std::move(options), clock_);
    ASSERT_TRUE(source_->start());
  }
  bool watching() {
    return server_.wait_for_requests(kNodesPath, true, 1) && server_.wait_for_requests(kPodsPath, true, 1);
  }

  core::ManualClock clock_;
  FakeApiServer server_;
  testing::UpdateRecorder sink_;
  std::unique_ptr<ApiSource> source_;
};

TEST_F(ApiSourceTest, PushesEachListWholeHoweverManyPages) {
  for (const char* name : {"a", "b", "c"}) server_.put(kNodesPath, make_node(name));
  for (const char* name : {"p", "q", "r", "s", "t"}) server_.put(kPodsPath, make_pod("ns", name, 2, "a"));
  start({.node_page_size = 1, .pod_page_size = 2});
  ASSERT_TRUE(watching());
  EXPECT_THAT(sink_.told(), Contains("all nodes 3"));
  EXPECT_THAT(sink_.told(), Contains("all pods 5"));
  EXPECT_TRUE(sink_.wait([](const auto& nodes, const auto& pods) {
    return nodes.at("b").gpus == 8 && pods.at("ns/q").gpus == 2 && pods.at("ns/q").node == "a";
  }));
  ASSERT_TRUE(sink_.wait_told("data listed"));
  EXPECT_TRUE(source_->synced());
  // A list counts as there once the sink has it.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!source_->connected() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(source_->connected());
  EXPECT_EQ(source_->why_not_ready(), "");
}

TEST_F(ApiSourceTest, AsksForPodsOfAllNamespacesAndPhases) {
  start();
  ASSERT_TRUE(watching());
  for (const auto& request : server_.requests()) {
    EXPECT_FALSE(request.query.contains("fieldSelector"));
    EXPECT_FALSE(request.query.contains("labelSelector"));
  }
}

TEST_F(ApiSourceTest, PushesChangesOneByOne) {
  server_.put(kNodesPath, make_node("a"));
  start();
  ASSERT_TRUE(watching());
  server_.put(kNodesPath, make_node("b", 4));
  server_.remove(kNodesPath, "a");
  server_.put(kPodsPath, make_pod("ns", "p"));
  server_.put(kPodsPath, make_pod("ns", "p", 1, "b"));
  ASSERT_TRUE(sink_.wait([](const auto& nodes, const auto& pods) {
    return nodes.size() == 1 && nodes.contains("b") && pods.contains("ns/p") && pods.at("ns/p").node == "b";
  }));
  server_.remove(kPodsPath, "ns/p");
  ASSERT_TRUE(sink_.wait([](const auto&, const auto& pods) { return pods.empty(); }));
  EXPECT_THAT(sink_.told(), Contains("pod ns/p uid-p gone"));
}

TEST_F(ApiSourceTest, NameOfTheGpuResourceIsConfigurable) {
  auto node = make_node("a");
  node["status"]["allocatable"] = {{"amd.com/gpu", "4"}, {"nvidia.com/gpu", "8"}};
  server_.put(kNodesPath, node);
  start({.resources = {.gpu = "amd.com/gpu"}});
  EXPECT_TRUE(
      sink_.wait([](const auto& nodes, const auto&) { return nodes.contains("a") && nodes.at("a").gpus == 4; }));
}

TEST_F(ApiSourceTest, SaysWhichPartIsMissingAndWhy) {
  // Pods are never answered; nodes are.
  server_.fail_next(kPodsPath, {.silent = true}, false);
  server_.put(kNodesPath, make_node("a"));
  start();
  ASSERT_TRUE(server_.wait_for_requests(kNodesPath, true, 1));
  ASSERT_TRUE(sink_.wait_told("all nodes 1"));
  EXPECT_FALSE(source_->synced());
  EXPECT_THAT(source_->why_not_ready(), HasSubstr("pods: not listed yet"));
  EXPECT_FALSE(source_->connected());
  EXPECT_TRUE(source_->counters()[0].connected) << "nodes";
  EXPECT_FALSE(source_->counters()[1].connected) << "pods";
}

TEST_F(ApiSourceTest, ForbiddenIsNamedInWhyNotReady) {
  testing::FakeApiServer forbidding;
  forbidding.require_token("other");
  std::mutex mutex;
  std::condition_variable changed;
  int waits = 0;
  ApiSourceOptions options;
  options.reflector.wait = [&](std::chrono::milliseconds) {
    std::unique_lock lock(mutex);
    ++waits;
    changed.notify_all();
  };
  auto client = kube::ApiClient::create({.server = forbidding.url(), .tls = {}, .token = "mine"}, clock_);
  ApiSource source(std::move(*client), sink_, options, clock_);
  ASSERT_TRUE(source.start());
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return waits >= 2; }));
  }
  source.stop();
  EXPECT_THAT(source.why_not_ready(), HasSubstr("401: Unauthorized"));
  EXPECT_EQ(source.why_not_ready().find("mine"), std::string::npos);
}

TEST_F(ApiSourceTest, CountsWhatHappened) {
  server_.put(kNodesPath, make_node("a"));
  start();
  ASSERT_TRUE(watching());
  server_.put(kNodesPath, make_node("a", 4));
  ASSERT_TRUE(
      sink_.wait([](const auto& nodes, const auto&) { return nodes.contains("a") && nodes.at("a").gpus == 4; }));
  server_.end_watches(kNodesPath);
  ASSERT_TRUE(server_.wait_for_requests(kNodesPath, true, 2));
  const auto counters = source_->counters();
  ASSERT_GE(counters.size(), 4U) << "and one for each other API group";
  EXPECT_EQ(counters[0].resource, "nodes");
  EXPECT_EQ(counters[0].lists, 1U);
  EXPECT_EQ(counters[0].watches, 2U);
  EXPECT_EQ(counters[0].events, 1U);
  EXPECT_EQ(counters[0].last_event, clock_.wall());
  EXPECT_EQ(counters[1].resource, "pods");
  EXPECT_EQ(counters[1].events, 0U);
  EXPECT_EQ(counters[2].resource, "persistentvolumeclaims");
  EXPECT_EQ(counters[3].resource, "data.fluid.io");
  EXPECT_EQ(counters[4].resource, "berth.io");
}

}  // namespace
}  // namespace berth::sources
