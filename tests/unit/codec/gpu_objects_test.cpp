// Koordinator's Devices, NodeResourceTopologies and ResourceSlices.
#include "berth/codec/gpu_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "../src/codec/koordinator.h"
#include "berth/codec/kubernetes_objects.h"

namespace berth::codec {
namespace {

using model::Link;
using model::MigInstance;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
T read_object(std::string json) {
  auto object = ObjectReader({}).read<T>(json);
  EXPECT_TRUE(object) << object.error().to_string();
  return object.value_or(T{});
}

// A GPU of a Device on switch `pcie` of NUMA node `numa`; fields as in apis/scheduling/v1alpha1/device_types.go.
std::string koordinator_gpu(int minor, int numa, const std::string& pcie, bool health = true) {
  const std::string m = std::to_string(minor);
  return R"({"type":"gpu","id":"GPU-)" + m + R"(","minor":)" + m + R"(,"health":)" + (health ? "true" : "false") +
         R"(,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"24Gi",)"
         R"("koordinator.sh/gpu-memory-ratio":"100"},"topology":{"socketID":0,"nodeID":)" +
         std::to_string(numa) + R"(,"pcieID":")" + pcie + R"(","busID":"0000:0)" + m + R"(:00.0"}})";
}
std::string device(const std::string& model, const std::string& devices) {
  return R"({"apiVersion":"scheduling.koordinator.sh/v1alpha1","kind":"Device","metadata":{"name":"n1","labels":)"
         R"({"node.koordinator.sh/gpu-model":")" +
         model + R"("}},"spec":{"devices":[)" + devices + "]}}";
}

TEST(KoordinatorDevice, GpusByMinor) {
  const auto read_one = read_object<KoordinatorDevice>(
      device("NVIDIA A100-SXM4-40GB", koordinator_gpu(1, 1, "p1", false) + "," + koordinator_gpu(0, 0, "p0")));
  EXPECT_EQ(read_one.node, "n1");
  EXPECT_EQ(read_one.machine.source, model::TopologySource::kKoordinator);
  ASSERT_EQ(read_one.machine.gpus.size(), 2U);
  const model::Gpu& first = read_one.machine.gpus[0];
  EXPECT_EQ(first.uuid, "GPU-0");
  EXPECT_EQ(first.product, "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(first.memory_mib, 24 * 1024);
  EXPECT_EQ(first.numa, 0);
  EXPECT_EQ(first.pcie, "p0");
  EXPECT_TRUE(first.healthy);
  EXPECT_FALSE(read_one.machine.gpus[1].healthy);
  EXPECT_FALSE(read_one.machine.links) << "NVLink is not told: the table of shapes has it";
}

TEST(KoordinatorDevice, LinksOfCardsWithoutNvlinkFollowFromTheirSwitches) {
  const auto read_one = read_object<KoordinatorDevice>(
      device("NVIDIA GeForce RTX 4090", koordinator_gpu(0, 0, "p0") + "," + koordinator_gpu(1, 0, "p0") + "," +
                                            koordinator_gpu(2, 0, "p1") + "," + koordinator_gpu(3, 1, "p2")));
  ASSERT_TRUE(read_one.machine.links);
  EXPECT_EQ(read_one.machine.links->at(0, 1), Link::kPix);
  EXPECT_EQ(read_one.machine.links->at(0, 2), Link::kNode);
  EXPECT_EQ(read_one.machine.links->at(2, 3), Link::kSys);
}

// koordinator#2646: with several NICs on one switch, each GPU has its own.
TEST(KoordinatorDevice, NicsAreNearTheGpusOfTheirSwitch) {
  const std::string nic =
      R"({"type":"rdma","id":"0000:09:00.0","minor":0,"health":true,"topology":{"nodeID":0,"pcieID":"p0"}})";
  const std::string dead = R"({"type":"rdma","id":"0000:10:00.0","minor":1,"topology":{"nodeID":0,"pcieID":"p0"}})";
  const auto read_one = read_object<KoordinatorDevice>(
      device("", koordinator_gpu(0, 0, "p0") + "," + koordinator_gpu(1, 1, "p1") + "," + nic + "," + dead));
  ASSERT_EQ(read_one.machine.nics.size(), 1U);
  EXPECT_EQ(read_one.machine.nics[0].name, "0000:09:00.0");
  EXPECT_EQ(read_one.machine.nics[0].links[0], Link::kPix);
  EXPECT_EQ(read_one.machine.nics[0].links[1], Link::kSys);
}

TEST(KoordinatorDevice, BrokenOnesSayWhere) {
  std::string json = device("", R"({"type":"gpu","minor":"zero"})");
  const auto wrong = ObjectReader({}).read<KoordinatorDevice>(json);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().where, "spec.devices[0].minor");
  std::string twice = device("", koordinator_gpu(0, 0, "p") + "," + koordinator_gpu(0, 0, "p"));
  EXPECT_FALSE(ObjectReader({}).read<KoordinatorDevice>(twice));
}

// The example of apis/extension/device_share.go.
TEST(KoordinatorPod, AllocatedGpus) {
  const auto claims = read_koordinator_pod(R"({"gpu":[
      {"minor":0,"resources":{"koordinator.sh/gpu-core":100,"koordinator.sh/gpu-memory-ratio":100,"koordinator.sh/gpu-memory":"16Gi"}},
      {"minor":1,"id":"GPU-1","resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory":"8Gi"}}],
      "rdma":[{"minor":0,"id":"0000:09:00.0","resources":{"koordinator.sh/rdma":100}}]})");
  ASSERT_TRUE(claims) << claims.error().to_string();
  ASSERT_EQ(claims->size(), 2U);
  using model::TopologySource;
  EXPECT_EQ((*claims)[0], (model::DeviceClaim{"", 0, 16384, 1000, TopologySource::kKoordinator}));
  EXPECT_EQ((*claims)[1], (model::DeviceClaim{"GPU-1", 1, 8192, 500, TopologySource::kKoordinator}));
  EXPECT_TRUE(read_koordinator_pod(R"({"rdma":[]})")->empty());
  EXPECT_FALSE(read_koordinator_pod("[]"));
  EXPECT_THAT(read_koordinator_pod(R"({"gpu":[{"minor":-1}]})").error().where, HasSubstr("gpu[0].minor"));
}

// The shape of docs/... of the API: zones at the top level, no spec.
TEST(NodeResourceTopology, GpusByNumaNode) {
  const auto topology =
      read_object<NumaTopology>(R"({"apiVersion":"topology.node.k8s.io/v1alpha2","kind":"NodeResourceTopology",
    "metadata":{"name":"n1"},"topologyPolicies":["SingleNUMANodeContainerLevel"],"zones":[
     {"name":"node-1","type":"Node","resources":[{"name":"cpu","capacity":"64","allocatable":"60","available":"2"},
       {"name":"nvidia.com/gpu","capacity":"4","allocatable":"4","available":"0"}]},
     {"name":"node-0","type":"Node","costs":[{"name":"node-0","value":10}],
      "resources":[{"name":"nvidia.com/gpu","capacity":"4","available":"1"}]},
     {"name":"cache-0","type":"Cache","resources":[{"name":"nvidia.com/gpu","capacity":"9"}]}]})");
  EXPECT_EQ(topology.node, "n1");
  EXPECT_EQ(topology.machine.source, model::TopologySource::kNodeResourceTopology);
  EXPECT_THAT(topology.machine.numa_gpus, ElementsAre(4, 4)) << "what is there, not what is free";
  EXPECT_TRUE(topology.machine.gpus.empty());
}

TEST(NodeResourceTopology, ZonesWithoutGpus) {
  EXPECT_TRUE(read_object<NumaTopology>(R"({"metadata":{"name":"a"}})").machine.numa_gpus.empty());
  EXPECT_TRUE(read_object<NumaTopology>(
                  R"({"metadata":{"name":"a"},"zones":[{"name":"node-0","type":"Node","resources":null}]})")
                  .machine.numa_gpus.empty());
}

// As the driver publishes them (cmd/gpu-kubelet-plugin/deviceinfo.go).
std::string dra_gpu(int minor, const std::string& more = "") {
  const std::string m = std::to_string(minor);
  return R"({"name":"gpu-)" + m + R"(","attributes":{"type":{"string":"gpu"},"uuid":{"string":"GPU-)" + m +
         R"("},"productName":{"string":"NVIDIA A100-SXM4-80GB"},"resource.kubernetes.io/pcieRoot":{"string":"pci0000:)" +
         m + R"("}},"capacity":{"memory":{"value":"80Gi"}})" + more + "}";
}
std::string slice(const std::string& name, const std::string& devices, int generation = 1, int of = 1,
                  const std::string& version = "v1") {
  return R"({"apiVersion":"resource.k8s.io/)" + version + R"(","kind":"ResourceSlice","metadata":{"name":")" + name +
         R"("},"spec":{"driver":"gpu.nvidia.com","nodeName":"n1","pool":{"name":"n1","generation":)" +
         std::to_string(generation) + R"(,"resourceSliceCount":)" + std::to_string(of) + R"(},"devices":[)" + devices +
         "]}}";
}

TEST(ResourceSlice, SlicesOfANodeMakeOneMachine) {
  const auto a = read_object<ResourceSlice>(slice("a", dra_gpu(1), 3, 2));
  const auto b = read_object<ResourceSlice>(slice("b", dra_gpu(0), 3, 2));
  EXPECT_EQ(assemble(std::vector{&a}), nullptr) << "one is missing";
  const auto machine = assemble(std::vector{&a, &b});
  ASSERT_NE(machine, nullptr);
  EXPECT_EQ(machine->source, model::TopologySource::kResourceSlices);
  ASSERT_EQ(machine->gpus.size(), 2U);
  EXPECT_EQ(machine->gpus[0].uuid, "GPU-0");
  EXPECT_EQ(machine->gpus[0].product, "NVIDIA-A100-SXM4-80GB");
  EXPECT_EQ(machine->gpus[0].memory_mib, 81920);
  EXPECT_EQ(machine->gpus[0].pcie, "pci0000:0");
  EXPECT_FALSE(machine->links);
}

TEST(ResourceSlice, OnlyTheNewestGenerationCounts) {
  const auto old_one = read_object<ResourceSlice>(slice("old", dra_gpu(0) + "," + dra_gpu(1), 1, 1));
  const auto new_one = read_object<ResourceSlice>(slice("new", dra_gpu(0), 2, 1));
  EXPECT_EQ(assemble(std::vector{&old_one, &new_one})->gpus.size(), 1U);
}

TEST(ResourceSlice, OlderVersionWrapsItsDevices) {
  const std::string wrapped =
      R"({"name":"gpu-0","basic":{"attributes":{"type":{"string":"gpu"},"uuid":{"string":"GPU-0"}},)"
      R"("capacity":{"memory":{"value":"40Gi"}}}})";
  const auto one = read_object<ResourceSlice>(slice("a", wrapped, 1, 1, "v1beta1"));
  ASSERT_EQ(one.devices.size(), 1U);
  EXPECT_EQ(one.devices[0].gpu.uuid, "GPU-0");
  EXPECT_EQ(one.devices[0].gpu.memory_mib, 40960);
}

TEST(ResourceSlice, TaintedGpusAreUnhealthy) {
  const auto one = read_object<ResourceSlice>(
      slice("a", dra_gpu(0, R"(,"taints":[{"key":"gpu.nvidia.com/xid","value":"79","effect":"NoSchedule"}])") + "," +
                     dra_gpu(1, R"(,"taints":[{"key":"gpu.nvidia.com/unmonitored","effect":"None"}])")));
  EXPECT_FALSE(one.devices[0].gpu.healthy);
  EXPECT_TRUE(one.devices[1].gpu.healthy);
}

// Static partitions: the GPU itself is not published (cmd/gpu-kubelet-plugin/mig.go).
TEST(ResourceSlice, PartitionsMakeTheirGpu) {
  const auto mig = [](const std::string& name, const std::string& profile, const std::string& capacity) {
    return R"({"name":")" + name +
           R"(","attributes":{"type":{"string":"mig"},"uuid":{"string":"MIG-1"},)"
           R"("parentUUID":{"string":"GPU-0"},"profile":{"string":")" +
           profile + R"("}},"capacity":{)" + capacity + "}}";
  };
  const auto one = read_object<ResourceSlice>(
      slice("a", mig("gpu-0-mig-3g20gb-9-4", "3g.20gb",
                     R"("memorySlice4":{"value":"1"},"memorySlice5":{"value":"1"},"memory":{"value":"20Gi"})") +
                     "," + mig("gpu-0-mig-1g5gb-19-0", "1g.5gb", R"("memorySlice0":{"value":"1"})")));
  const auto machine = assemble(std::vector{&one});
  ASSERT_EQ(machine->gpus.size(), 1U);
  EXPECT_EQ(machine->gpus[0].uuid, "GPU-0");
  EXPECT_TRUE(machine->gpus[0].mig);
  EXPECT_THAT(machine->gpus[0].instances, ElementsAre(MigInstance{"1g.5gb", 0}, MigInstance{"3g.20gb", 4}));
}

// KEP-4815: one device for each place that a partition could have, all of them drawing on counters of the GPU.
TEST(ResourceSlice, PartitionsOnDemandLeaveTheGpuWhole) {
  const std::string possible =
      R"({"name":"gpu-0-mig-1g5gb-19-0","attributes":{"type":{"string":"mig"},"parentUUID":{"string":"GPU-0"},)"
      R"("profile":{"string":"1g.5gb"}},"consumesCounters":[{"counterSet":"gpu-0-counter-set"}]})";
  const auto one = read_object<ResourceSlice>(slice("a", dra_gpu(0) + "," + possible));
  const auto machine = assemble(std::vector{&one});
  EXPECT_FALSE(machine->gpus[0].mig);
  EXPECT_TRUE(machine->gpus[0].instances.empty());
}

TEST(ResourceSlice, OtherDriversAndSharedSlicesAreNotOurs) {
  EXPECT_FALSE(
      read_object<ResourceSlice>(R"({"metadata":{"name":"a"},"spec":{"driver":"dra.net","nodeName":"n1"}})").ours());
  EXPECT_FALSE(
      read_object<ResourceSlice>(R"({"metadata":{"name":"a"},"spec":{"driver":"gpu.nvidia.com","allNodes":true}})")
          .ours());
}

}  // namespace
}  // namespace berth::codec
