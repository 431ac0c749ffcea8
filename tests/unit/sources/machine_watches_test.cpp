// Objects that tell of GPUs, out of an API server and out of a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "berth/codec/kubernetes_objects.h"
#include "berth/sources/api_source.h"
#include "support/fake_api_server.h"
#include "support/gate.h"
#include "support/update_recorder.h"

namespace berth::sources {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::FakeApiServer;

const std::string kKoordinator = "/apis/scheduling.koordinator.sh/v1alpha1";
const std::string kTopology = "/apis/topology.node.k8s.io/v1alpha2";
const std::string kResource = "/apis/resource.k8s.io/v1";

json koordinator_device(const std::string& node, int gpus) {
  json devices = json::array();
  for (int minor = 0; minor < gpus; ++minor) {
    devices.push_back({{"type", "gpu"}, {"id", "GPU-" + std::to_string(minor)}, {"minor", minor}, {"health", true}});
  }
  return {{"metadata", {{"name", node}}}, {"spec", {{"devices", devices}}}};
}
json numa_topology(const std::string& node) {
  const json gpus = {{{"name", "nvidia.com/gpu"}, {"capacity", "4"}}};
  return {{"metadata", {{"name", node}}}, {"zones", {{{"name", "node-0"}, {"type", "Node"}, {"resources", gpus}}}}};
}
json resource_slice(const std::string& name, const std::string& node, int minor, int generation, int slices) {
  const json attributes = {{"type", {{"string", "gpu"}}}, {"uuid", {{"string", "GPU-" + std::to_string(minor)}}}};
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"driver", "gpu.nvidia.com"},
            {"nodeName", node},
            {"pool", {{"name", node}, {"generation", generation}, {"resourceSliceCount", slices}}},
            {"devices", json::array({{{"name", "gpu-" + std::to_string(minor)}, {"attributes", attributes}}})}}}};
}

class MachineWatchesTest : public ::testing::Test {
 protected:
  ~MachineWatchesTest() override { looks_.open(); }
  void start() {
    ApiSourceOptions options;
    options.reflector.wait = [](milliseconds) {};
    options.wait = [this](milliseconds) { looks_.wait(); };
    auto client = kube::ApiClient::create({.server = server_.url()}, clock_);
    ASSERT_TRUE(client);
    source_ = std::make_unique<ApiSource>(std::move(*client), sink_, options, clock_);
    ASSERT_TRUE(source_->start());
  }

  core::ManualClock clock_;
  FakeApiServer server_;
  testing::UpdateRecorder sink_;
  testing::Gate looks_;
  std::unique_ptr<ApiSource> source_;
};

TEST_F(MachineWatchesTest, EachKindIsListedAndItsChangesAreTold) {
  server_.serve(kKoordinator, {"devices"});
  server_.serve(kTopology, {"noderesourcetopologies"});
  server_.serve(kResource, {"resourceslices"});
  server_.put(kKoordinator + "/devices", koordinator_device("a", 2));
  start();
  ASSERT_TRUE(sink_.wait_told("all koordinator machines 1"));
  ASSERT_TRUE(sink_.wait_told("all node-resource-topology machines 0"));
  ASSERT_TRUE(sink_.wait_told("all resource-slices machines 0"));
  server_.put(kTopology + "/noderesourcetopologies", numa_topology("a"));
  server_.put(kResource + "/resourceslices", resource_slice("s", "a", 0, 1, 1));
  server_.put(kKoordinator + "/devices", koordinator_device("b", 1));
  EXPECT_TRUE(sink_.wait_told("node-resource-topology machine a"));
  EXPECT_TRUE(sink_.wait_told("resource-slices machine a"));
  EXPECT_TRUE(sink_.wait_told("koordinator machine b"));
  server_.remove(kTopology + "/noderesourcetopologies", "a");
  server_.remove(kResource + "/resourceslices", "s");
  server_.remove(kKoordinator + "/devices", "b");
  EXPECT_TRUE(sink_.wait_told("node-resource-topology machine a gone"));
  EXPECT_TRUE(sink_.wait_told("resource-slices machine a gone"));
  EXPECT_TRUE(sink_.wait_told("koordinator machine b gone"));
}

// scheduler-plugins#967: a NodeResourceTopology that was made after the scheduler had started was never looked at.
TEST_F(MachineWatchesTest, TopologiesThatComeLaterAreSeenAlsoWhenTheirKindDoes) {
  start();
  ASSERT_TRUE(sink_.wait_told("data listed"));
  server_.serve(kTopology, {"noderesourcetopologies"});
  ASSERT_TRUE(looks_.step());
  ASSERT_TRUE(sink_.wait_told("all node-resource-topology machines 0"));
  server_.put(kTopology + "/noderesourcetopologies", numa_topology("a"));
  EXPECT_TRUE(sink_.wait_told("node-resource-topology machine a"));
  server_.put(kTopology + "/noderesourcetopologies", numa_topology("a"));
  EXPECT_TRUE(sink_.wait_told("node-resource-topology machine a", 2));
}

TEST_F(MachineWatchesTest, AKindThatIsForbiddenKeepsNobodyWaiting) {
  server_.serve(kKoordinator, {"devices"});
  server_.serve(kResource, {"resourceslices"});
  server_.fail_always(kResource + "/resourceslices", testing::ApiFault{.status = 403});
  server_.put(kKoordinator + "/devices", koordinator_device("a", 2));
  start();
  EXPECT_TRUE(sink_.wait_told("data listed"));
  EXPECT_TRUE(sink_.wait_told("all koordinator machines 1"));
  server_.fail_always(kResource + "/resourceslices", std::nullopt);
  EXPECT_TRUE(sink_.wait_told("all resource-slices machines 0"));
}

TEST_F(MachineWatchesTest, SlicesThatChangeOneByOneAreToldWhenTheyAreComplete) {
  const std::string path = kResource + "/resourceslices";
  server_.serve(kResource, {"resourceslices"});
  server_.put(path, resource_slice("s0", "a", 0, 1, 2));
  server_.put(path, resource_slice("s1", "a", 1, 1, 2));
  start();
  ASSERT_TRUE(sink_.wait_told("all resource-slices machines 1"));
  EXPECT_EQ(sink_.machines().back().machine->gpus.size(), 2U);
  // The next generation has three: until all are there, the last one counts.
  server_.put(path, resource_slice("s0", "a", 0, 2, 3));
  server_.put(path, resource_slice("s1", "a", 1, 2, 3));
  server_.put(path, resource_slice("s2", "a", 2, 2, 3));
  ASSERT_TRUE(sink_.wait_told("resource-slices machine a"));
  EXPECT_EQ(sink_.machines().back().machine->gpus.size(), 3U);
  // Slices of other drivers are none of ours.
  json other = resource_slice("nic", "a", 0, 1, 1);
  other["spec"]["driver"] = "dra.net";
  server_.put(path, other);
  server_.remove(path, "nic");
  for (const char* name : {"s0", "s1"}) server_.remove(path, name);
  server_.remove(path, "s2");
  ASSERT_TRUE(sink_.wait_told("resource-slices machine a gone"));
  const auto all = sink_.told();
  EXPECT_EQ(std::count(all.begin(), all.end(), "resource-slices machine a"), 1);
}

TEST(MachinesInADump, AreToldWithTheNodes) {
  json list = {{"kind", "List"}, {"apiVersion", "v1"}, {"items", json::array({testing::make_node("a", 2)})}};
  const auto add = [&list](json object, const std::string& version, const std::string& kind) {
    object["apiVersion"] = version;
    object["kind"] = kind;
    list["items"].push_back(object);
  };
  add(koordinator_device("a", 2), "scheduling.koordinator.sh/v1alpha1", "Device");
  add(numa_topology("a"), "topology.node.k8s.io/v1alpha2", "NodeResourceTopology");
  add(resource_slice("s", "a", 0, 1, 1), "resource.k8s.io/v1", "ResourceSlice");
  std::string text = list.dump();
  auto dump = codec::ObjectReader({}).read_cluster_dump(text);
  ASSERT_TRUE(dump) << dump.error().to_string();
  EXPECT_EQ(dump->skipped, 0U);
  testing::UpdateRecorder sink;
  codec::push_dump(*std::move(dump), sink);
  for (const char* what :
       {"all koordinator machines 1", "all node-resource-topology machines 1", "all resource-slices machines 1"}) {
    EXPECT_THAT(sink.told(), ::testing::Contains(what));
  }
}

}  // namespace
}  // namespace berth::sources
