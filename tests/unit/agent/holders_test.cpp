#include "../src/agent/holders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::agent {
namespace {

using model::GpuHolder;
using model::GpuPlacement;
using model::mask;
using model::MigSlot;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kUuid = "GPU-8f6b1d1e-5b0a-11ee-be56-0242ac12000";  // and a digit: the index

// Three GPUs, minor numbers in another order. The last is cut into 3g at 4 and 1g at 0, with one compute instance each,
// and a 1g whose place nobody tells.
MachineReading machine() {
  MachineReading reading;
  for (int i = 0; i < 3; ++i) {
    model::Gpu gpu;
    gpu.uuid = kUuid + std::to_string(i);
    reading.machine.gpus.push_back(gpu);
  }
  reading.minors = {2, 0, 1};
  reading.partitions = {{"MIG-three", 2, 1, MigSlot{2, 4, 4}},
                        {"MIG-one", 2, 9, MigSlot{2, 0, 1}},
                        {"MIG-somewhere", 2, -1, std::nullopt}};
  return reading;
}

GpuPlacement held(const std::vector<std::string>& devices, const std::vector<std::string>& claimed = {}) {
  const auto reading = holders_of(std::vector{PodDevices{"ns", "p", devices, claimed}}, machine());
  EXPECT_THAT(reading.unknown, IsEmpty());
  return reading.holders.pods.empty() ? GpuPlacement{} : reading.holders.pods.front().holds;
}

std::string uuid(int gpu) { return kUuid + std::to_string(gpu); }

TEST(HoldersOf, WholeGpus) { EXPECT_EQ(held({uuid(2), uuid(0)}), (GpuPlacement{mask({0, 2}), {}})); }

// Time slicing and MPS of NVIDIA's plugin: "::" and the number of the replica.
TEST(HoldersOf, ReplicasOfSharedGpus) {
  EXPECT_EQ(held({uuid(1) + "::0", uuid(1) + "::13", uuid(0) + "::3"}), (GpuPlacement{mask({0, 1}), {}}));
}

TEST(HoldersOf, SharesOfHami) { EXPECT_EQ(held({uuid(1) + "-7"}), (GpuPlacement{mask({1}), {}})); }

TEST(HoldersOf, PartitionsByTheirSlices) {
  EXPECT_EQ(held({"MIG-three", "MIG-one"}), (GpuPlacement{0, {MigSlot{2, 0, 1}, MigSlot{2, 4, 4}}}));
  EXPECT_EQ(held({"MIG-one::2"}), (GpuPlacement{0, {MigSlot{2, 0, 1}}}));
}

TEST(HoldersOf, IdsOfGke) {
  EXPECT_EQ(held({"nvidia0"}), (GpuPlacement{mask({1}), {}})) << "by minor number";
  EXPECT_EQ(held({"nvidia2/vgpu1"}), (GpuPlacement{mask({0}), {}}));
  EXPECT_EQ(held({"nvidia1/gi9"}), (GpuPlacement{0, {MigSlot{2, 0, 1}}}));
  EXPECT_EQ(held({"nvidia1/gi1/vgpu0"}), (GpuPlacement{0, {MigSlot{2, 4, 4}}}));
}

TEST(HoldersOf, DevicesOfDra) { EXPECT_EQ(held({}, {"gpu-1", "gpu-2"}), (GpuPlacement{mask({0, 2}), {}})); }

TEST(HoldersOf, PodsByNamespaceAndName) {
  const auto reading = holders_of(std::vector{PodDevices{"b", "a", {uuid(0)}, {}}, PodDevices{"a", "z", {uuid(1)}, {}},
                                              PodDevices{"a", "b", {uuid(2)}, {}}},
                                  machine());
  EXPECT_THAT(reading.holders.pods,
              ElementsAre(GpuHolder{"a", "b", {mask({2}), {}}}, GpuHolder{"a", "z", {mask({1}), {}}},
                          GpuHolder{"b", "a", {mask({0}), {}}}));
}

// One deleted by force, the other of the same StatefulSet, for as long as the first takes to end. Nobody reads a list
// that has a pod twice.
TEST(HoldersOf, PodsOfOneNameAreOne) {
  const auto reading =
      holders_of(std::vector{PodDevices{"ns", "p-0", {uuid(0), "MIG-three"}, {}}, PodDevices{"ns", "q", {uuid(0)}, {}},
                             PodDevices{"ns", "p-0", {uuid(1), "MIG-one", "MIG-three"}, {}}},
                 machine());
  EXPECT_THAT(reading.holders.pods,
              ElementsAre(GpuHolder{"ns", "p-0", {mask({0, 1}), {MigSlot{2, 0, 1}, MigSlot{2, 4, 4}}}},
                          GpuHolder{"ns", "q", {mask({0}), {}}}));
}

// Half of what a pod holds would make the other half look free.
TEST(HoldersOf, PodWithAnUnknownDeviceIsLeftOut) {
  for (const char* id :
       {"GPU-other", "MIG-somewhere", "MIG-other", "nvidia7", "nvidia1/gi77", "nvidia", "", "::", "-1"}) {
    const auto reading = holders_of(
        std::vector{PodDevices{"ns", "p", {uuid(0), id}, {}}, PodDevices{"ns", "q", {uuid(1)}, {}}}, machine());
    EXPECT_THAT(reading.unknown, ElementsAre(id));
    EXPECT_THAT(reading.holders.pods, ElementsAre(GpuHolder{"ns", "q", {mask({1}), {}}})) << id;
  }
  for (const char* name : {"gpu-7", "gpu-", "gpu-0-mig-9-4-4", "vfio-0"}) {
    const auto reading = holders_of(std::vector{PodDevices{"ns", "p", {}, {name}}}, machine());
    EXPECT_THAT(reading.unknown, ElementsAre(name));
    EXPECT_THAT(reading.holders.pods, IsEmpty());
  }
}

}  // namespace
}  // namespace berth::agent
