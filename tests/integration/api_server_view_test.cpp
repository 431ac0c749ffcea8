// From a kubeconfig over TLS to the snapshot, on an API server that pages, restarts and forgets.
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "berth/kube/api_client.h"
#include "berth/kube/kubeconfig.h"
#include "berth/sources/api_source.h"
#include "berth/state/cluster_state.h"
#include "support/fake_api_server.h"

namespace berth {
namespace {

using testing::FakeApiServer;
using testing::kNodesPath;
using testing::kPodsPath;
using testing::make_node;
using testing::make_pod;

// Hands on to the state, which the test steps itself, and tells when something came.
class Doorbell final : public model::UpdateSink {
 public:
  explicit Doorbell(state::ClusterState& state) : state_(state) {}
  void push(model::ClusterUpdate update) override {
    state_.push(std::move(update));
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }

  // Steps the state whenever something came, until condition(snapshot) holds; false after 30 s.
  template <class Condition>
  bool wait(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (std::uint64_t seen = 0;;) {
      state_.step();
      if (condition(*state_.snapshots().load())) return true;
      std::unique_lock lock(mutex_);
      if (!changed_.wait_until(lock, end, [&] { return count_ > seen; })) return false;
      seen = count_;
    }
  }

 private:
  state::ClusterState& state_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t count_ = 0;
};

class ApiServerView : public ::testing::Test {
 protected:
  ApiServerView() {
    std::string pattern = ::testing::TempDir() + "berth_viewXXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    directory_ = pattern;
  }
  ~ApiServerView() override {
    source_.reset();
    std::filesystem::remove_all(directory_);
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream(directory_ / name) << text; }

  void start() {
    const auto pair = ca_.issue("berth", "DNS:berth");
    write("ca.pem", ca_.certificate_pem());
    write("client.pem", pair.certificate_pem);
    write("client.key", pair.key_pem);
    write("config", kube::kubeconfig_for(server_.url(), "client-certificate: client.pem, client-key: client.key",
                                         "certificate-authority: ca.pem"));
    auto access = kube::load_kubeconfig(directory_ / "config");
    ASSERT_TRUE(access) << access.error().to_string();
    auto client = kube::ApiClient::create(std::move(*access), clock_);
    ASSERT_TRUE(client) << client.error().to_string();
    sources::ApiSourceOptions options{.node_page_size = 7, .pod_page_size = 11};
    options.reflector.backoff_min = std::chrono::milliseconds(1);
    options.reflector.backoff_max = std::chrono::milliseconds(10);
    source_ = std::make_unique<sources::ApiSource>(std::move(*client), doorbell_, std::move(options), clock_);
    ASSERT_TRUE(source_->start());
  }

  std::filesystem::path directory_;
  testing::TestCa ca_;
  FakeApiServer server_{testing::ServerTls{ca_.issue("api", "IP:127.0.0.1"), ca_.certificate_pem()}};
  core::SystemClock clock_;
  state::ClusterState state_{{}, clock_};
  Doorbell doorbell_{state_};
  std::unique_ptr<sources::ApiSource> source_;
};

TEST_F(ApiServerView, BecomesReadyWithAllPagesOfNodesAndPods) {
  for (int i = 0; i < 50; ++i) server_.put(kNodesPath, make_node("node-" + std::to_string(i)));
  for (int i = 0; i < 100; ++i) {
    server_.put(kPodsPath, make_pod("ns", "pod-" + std::to_string(i), 2, "node-" + std::to_string(i % 50)));
  }
  start();
  EXPECT_TRUE(doorbell_.wait([](const model::Snapshot& snapshot) { return snapshot.ready; }));
  const auto snapshot = state_.snapshots().load();
  EXPECT_EQ(snapshot->index->nodes(), 50U);
  EXPECT_EQ(snapshot->bound_pods, 100U);
  EXPECT_EQ(snapshot->gpus, 400);
  EXPECT_EQ(snapshot->gpus_used, 200);
}

TEST_F(ApiServerView, IsNotReadyWithoutPods) {
  server_.put(kNodesPath, make_node("a"));
  server_.fail_next(kPodsPath, {.silent = true}, false);
  start();
  EXPECT_TRUE(doorbell_.wait([](const model::Snapshot& snapshot) { return snapshot.index->nodes() == 1; }));
  EXPECT_FALSE(state_.snapshots().load()->ready);
}

TEST_F(ApiServerView, FollowsPodsAsTheyComeBindAndGo) {
  server_.put(kNodesPath, make_node("a"));
  start();
  ASSERT_TRUE(doorbell_.wait([](const model::Snapshot& snapshot) { return snapshot.ready; }));
  server_.put(kPodsPath, make_pod("ns", "p", 3));
  server_.put(kPodsPath, make_pod("ns", "p", 3, "a"));
  EXPECT_TRUE(doorbell_.wait([](const model::Snapshot& snapshot) { return snapshot.gpus_used == 3; }));
  server_.remove(kPodsPath, "ns/p");
  EXPECT_TRUE(
      doorbell_.wait([](const model::Snapshot& snapshot) { return snapshot.gpus_used == 0 && snapshot.pods == 0; }));
}

TEST_F(ApiServerView, OutageKeepsTheViewAndTheNextListMendsIt) {
  server_.put(kNodesPath, make_node("a"));
  server_.put(kNodesPath, make_node("b"));
  server_.put(kPodsPath, make_pod("ns", "stays", 1, "a"));
  server_.put(kPodsPath, make_pod("ns", "goes", 2, "a"));
  start();
  ASSERT_TRUE(doorbell_.wait([](const model::Snapshot& snapshot) { return snapshot.gpus_used == 3; }));
  server_.stop();
  EXPECT_TRUE(state_.snapshots().load()->ready);
  EXPECT_EQ(state_.snapshots().load()->gpus_used, 3);
  server_.remove_silently(kPodsPath, "ns/goes");
  server_.remove_silently(kNodesPath, "b");
  server_.compact();
  server_.restart();
  EXPECT_TRUE(doorbell_.wait([](const model::Snapshot& snapshot) {
    return snapshot.index->nodes() == 1 && snapshot.gpus_used == 1 && snapshot.ready;
  }));
}

// Every watch is ended, cut or expired again and again while pods come and go; at the end the view is exact.
TEST_F(ApiServerView, LosesNothingInAStormOfBrokenWatches) {
  for (int i = 0; i < 4; ++i) server_.put(kNodesPath, make_node("node-" + std::to_string(i)));
  start();
  ASSERT_TRUE(doorbell_.wait([](const model::Snapshot& snapshot) { return snapshot.ready; }));
  for (int i = 0; i < 60; ++i) {
    server_.put(kPodsPath, make_pod("ns", "pod-" + std::to_string(i), 1, "node-" + std::to_string(i % 4)));
    if (i % 2 == 1) server_.remove(kPodsPath, "ns/pod-" + std::to_string(i - 1));
    if (i % 5 == 0) server_.end_watches(kPodsPath);
    if (i % 7 == 0) server_.cut_watches(kPodsPath, R"({"type":"ADD)");
    if (i % 20 == 19) server_.compact();
  }
  server_.end_watches(kPodsPath);
  // The odd ones are left.
  EXPECT_TRUE(doorbell_.wait(
      [](const model::Snapshot& snapshot) { return snapshot.bound_pods == 30 && snapshot.gpus_used == 30; }));
}

// One GPU of HAMi's is dead, Koordinator knows the switches; who tells comes and goes.
TEST_F(ApiServerView, JoinsWhatIsToldOfGpus) {
  const std::string group = "/apis/scheduling.koordinator.sh/v1alpha1";
  const auto gpu = [](int minor) {
    return nlohmann::json{{"type", "gpu"},
                          {"id", "GPU-" + std::to_string(minor)},
                          {"minor", minor},
                          {"health", true},
                          {"topology", {{"nodeID", minor / 2}, {"pcieID", "p" + std::to_string(minor / 2)}}}};
  };
  nlohmann::json device = {{"metadata", {{"name", "a"}}}};
  for (int minor = 0; minor < 4; ++minor) device["spec"]["devices"].push_back(gpu(minor));
  nlohmann::json node = make_node("a", 4);
  node["metadata"]["labels"] = {{"nvidia.com/gpu.product", "NVIDIA-GeForce-RTX-4090"}};
  server_.serve(group, {"devices"});
  server_.put(group + "/devices", device);
  server_.put(kNodesPath, node);
  start();
  using model::TopologySource;
  const auto machine = [](const model::Snapshot& snapshot) {
    const model::Slot slot = snapshot.find("a");
    return slot == model::kNoSlot ? nullptr : snapshot.at(slot).machine;
  };
  const auto told_by = [&](TopologySource source) {
    return doorbell_.wait([&](const model::Snapshot& snapshot) {
      const auto told = machine(snapshot);
      return told != nullptr && told->source == source;
    });
  };
  ASSERT_TRUE(told_by(TopologySource::kKoordinator));
  EXPECT_EQ(machine(*state_.snapshots().load())->gpus[3].pcie, "p1");
  node["metadata"]["annotations"] = {{"hami.io/node-nvidia-register",
                                      R"([{"id":"GPU-0","health":true},{"id":"GPU-1","index":1,"health":true},)"
                                      R"({"id":"GPU-2","index":2},{"id":"GPU-3","index":3,"health":true}])"}};
  server_.put(kNodesPath, node);
  ASSERT_TRUE(told_by(TopologySource::kHami));
  const auto snapshot = state_.snapshots().load();
  EXPECT_EQ(snapshot->at(snapshot->find("a")).gpus, 3);
  EXPECT_FALSE(machine(*snapshot)->gpus[2].healthy);
  EXPECT_EQ(machine(*snapshot)->gpus[2].pcie, "p1") << "what HAMi leaves open, Koordinator tells";
  node["metadata"].erase("annotations");
  server_.put(kNodesPath, node);
  EXPECT_TRUE(told_by(TopologySource::kKoordinator));
  server_.remove(group + "/devices", "a");
  EXPECT_TRUE(doorbell_.wait([&](const model::Snapshot& now) { return machine(now) == nullptr; }));
}

}  // namespace
}  // namespace berth
