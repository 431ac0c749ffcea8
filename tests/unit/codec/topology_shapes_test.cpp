// The machines of docs/gpu-topology.md as nvidia-smi shows them: what is read, and the best sets, worked out by hand
// from the bandwidths NVk 25·k, PIX 20, PXB 16, PHB 12, NODE 10, SYS 8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/codec/topology_text.h"
#include "test_data.h"

namespace berth::codec {
namespace {

using model::GpuMask;
using model::mask;
using model::mask_all;

struct Best {
  int count;
  int bottleneck;
  int sum;
  std::size_t ties;  // sets of the empty machine that are as good
  GpuMask set;       // the one that is taken
};

struct MachineCase {
  const char* name;
  const char* file;
  std::vector<int> numa;
  std::size_t nics;
  std::vector<Best> best;
};

std::vector<int> two_by(int each) {
  std::vector<int> numa(static_cast<std::size_t>(each), 0);
  numa.resize(static_cast<std::size_t>(each) * 2, 1);
  return numa;
}

// Eight GPUs, each pair as wide: C(8, k) sets of k·(k − 1) / 2 pairs; from one half first, then from the other.
std::vector<Best> eight_alike(int width) {
  return {{2, width, width, 28, mask({0, 1})},     {3, width, 3 * width, 56, mask({0, 1, 2})},
          {4, width, 6 * width, 70, mask_all(4)},  {5, width, 10 * width, 56, mask_all(5)},
          {6, width, 15 * width, 28, mask_all(6)}, {7, width, 21 * width, 8, mask_all(7)},
          {8, width, 28 * width, 1, mask_all(8)}};
}

std::vector<Best> four_alike(int width) {
  return {
      {2, width, width, 6, mask({0, 1})}, {3, width, 3 * width, 4, mask_all(3)}, {4, width, 6 * width, 1, mask_all(4)}};
}

class Machines : public testing::TestWithParam<MachineCase> {};

INSTANTIATE_TEST_SUITE_P(
    Table, Machines,
    testing::Values(
        MachineCase{"HgxH100", "hgx-h100.txt", two_by(4), 10, eight_alike(450)},
        MachineCase{"DgxA100", "dgx-a100.txt", {3, 3, 1, 1, 7, 7, 5, 5}, 10, eight_alike(300)},
        MachineCase{"A100Intel", "a100-intel.txt", two_by(4), 2, eight_alike(300)},
        MachineCase{"A800", "a800-nv8.txt", two_by(4), 8, eight_alike(200)},
        // C(16, 8) = 12870; 120 pairs of 150.
        MachineCase{"Dgx2",
                    "dgx-2.txt",
                    std::vector<int>(16, -1),
                    0,
                    {{2, 150, 150, 120, mask({0, 1})},
                     {8, 150, 4200, 12870, mask_all(8)},
                     {15, 150, 15750, 16, mask_all(15)},
                     {16, 150, 18000, 1, mask_all(16)}}},
        MachineCase{"FourH100", "h100-4-nv6.txt", {0, 2, 4, 6}, 4, four_alike(150)},
        MachineCase{"Gb200", "gb200.txt", {0, 0, 1, 1}, 4, four_alike(450)},
        // Hybrid cube mesh: 8 NV2 pairs (a ring 0-3-2-1-5-6-7-4), 8 NV1 pairs, 12 SYS pairs, 696 together. 3: two
        // neighbouring NV2 whose ends have an NV1. 5: a board (225) and 4 or 5, or 0 or 1 beside the other board: one
        // NV2 and three SYS more. Each GPU has 174; without the two of an NV2 pair 696 − 348 + 50 are left, without
        // one 522.
        MachineCase{"Dgx1V",
                    "dgx-1v.txt",
                    std::vector<int>(8, -1),
                    4,
                    {{2, 50, 50, 8, mask({0, 3})},
                     {3, 25, 125, 4, mask({0, 2, 3})},
                     {4, 25, 225, 2, mask_all(4)},
                     {5, 8, 299, 4, mask_all(5)},
                     {6, 8, 398, 8, mask_all(6)},
                     {7, 8, 522, 8, mask_all(7)},
                     {8, 8, 696, 1, mask_all(8)}}},
        // Two meshed quads and i-(i+4), all NV1: 16 pairs of 25, 12 of 8, 496 together, 124 each.
        MachineCase{"Dgx1P",
                    "dgx-1p.txt",
                    std::vector<int>(8, -1),
                    4,
                    {{2, 25, 25, 16, mask({0, 1})},
                     {3, 25, 75, 8, mask_all(3)},
                     {4, 25, 150, 2, mask_all(4)},
                     {5, 8, 199, 8, mask_all(5)},
                     {6, 8, 273, 16, mask_all(6)},
                     {7, 8, 372, 8, mask_all(7)},
                     {8, 8, 496, 1, mask_all(8)}}},
        MachineCase{"Rtx8000",
                    "rtx8000-4.txt",
                    {0, 0, 1, 1},
                    0,
                    {{2, 50, 50, 2, mask({0, 3})}, {3, 8, 68, 4, mask_all(3)}, {4, 8, 136, 1, mask_all(4)}}},
        // k8s-device-plugin#546 and #711: two GPUs are a bridged pair, four two pairs on one NUMA node.
        MachineCase{"BridgedPairs",
                    "a100-pcie-bridged.txt",
                    two_by(4),
                    0,
                    {{2, 300, 300, 4, mask({0, 2})},
                     {3, 8, 316, 24, mask_all(3)},
                     {4, 8, 632, 6, mask_all(4)},
                     {5, 8, 664, 24, mask_all(5)},
                     {6, 8, 996, 4, mask_all(6)},
                     {7, 8, 1044, 8, mask_all(7)},
                     {8, 8, 1392, 1, mask_all(8)}}},
        // k8s-device-plugin#436: two GPUs are the bridged pair 0-1, not 2-3.
        MachineCase{"OneBridge",
                    "a100-one-bridge.txt",
                    {0, 0, 1, 1},
                    2,
                    {{2, 300, 300, 1, mask({0, 1})}, {3, 8, 316, 2, mask_all(3)}, {4, 8, 342, 1, mask_all(4)}}},
        MachineCase{"Rtx4090",
                    "rtx4090-8.txt",
                    two_by(4),
                    1,
                    {{2, 20, 20, 12, mask({0, 1})},
                     {3, 20, 60, 8, mask_all(3)},
                     {4, 20, 120, 2, mask_all(4)},
                     {5, 8, 152, 8, mask_all(5)},
                     {6, 8, 204, 12, mask_all(6)},
                     {7, 8, 276, 8, mask_all(7)},
                     {8, 8, 368, 1, mask_all(8)}}},
        MachineCase{"P100",
                    "p100-8.txt",
                    std::vector<int>(8, -1),
                    0,
                    {{2, 20, 20, 12, mask({0, 1})},
                     {3, 20, 60, 8, mask_all(3)},
                     {4, 20, 120, 2, mask_all(4)},
                     {5, 12, 168, 8, mask_all(5)},
                     {6, 12, 236, 12, mask_all(6)},
                     {7, 12, 324, 8, mask_all(7)},
                     {8, 12, 432, 1, mask_all(8)}}},
        // The fifth alone on its socket.
        MachineCase{"FiveGpus",
                    "five-gpus.txt",
                    {0, 0, 0, 0, 1},
                    0,
                    {{1, 0, 0, 5, mask({4})},
                     {2, 12, 12, 2, mask({0, 1})},
                     {3, 10, 32, 4, mask_all(3)},
                     {4, 10, 64, 1, mask_all(4)},
                     {5, 8, 96, 1, mask_all(5)}}},
        MachineCase{"Pcie4",
                    "pcie-4.txt",
                    {0, 0, 1, 1},
                    0,
                    {{2, 20, 20, 1, mask({0, 1})}, {3, 8, 36, 2, mask_all(3)}, {4, 8, 62, 1, mask_all(4)}}}),
    kCaseName);

TEST_P(Machines, AreReadAndHaveTheHandWorkedBestSets) {
  const MachineCase& c = GetParam();
  const auto machine = read_topology_text(test_data("topology/" + std::string(c.file)));
  ASSERT_TRUE(machine) << machine.error().to_string();
  std::vector<int> numa;
  for (const model::Gpu& gpu : machine->gpus) numa.push_back(gpu.numa);
  EXPECT_EQ(numa, c.numa);
  EXPECT_EQ(machine->nics.size(), c.nics);
  const auto shape = model::shape_of(*machine);
  ASSERT_NE(shape, nullptr);
  for (const Best& best : c.best) {
    const auto ties = shape->table.ties(best.count);
    EXPECT_EQ(ties.size(), best.ties) << best.count << " GPUs";
    EXPECT_EQ(shape->table.best_quality(best.count), (model::SetQuality{best.bottleneck, best.sum}))
        << best.count << " GPUs";
    EXPECT_EQ(shape->table.best(mask_all(static_cast<int>(machine->gpus.size())), best.count), best.set)
        << best.count << " GPUs";
  }
}

model::Machine machine_of(const char* file) {
  return read_topology_text(test_data("topology/" + std::string(file))).value();
}

// Each GPU of an HGX H100 has a NIC of its own on its PCIe switch, whichever are taken; mlx5_8 and mlx5_9 are further.
TEST(Nics, OfAnHgxH100) {
  const model::Machine machine = machine_of("hgx-h100.txt");
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(machine.nics[gpu].name, "mlx5_" + std::to_string(gpu));
    EXPECT_EQ(machine.nics[gpu].links[gpu], model::Link::kPix);
  }
  EXPECT_EQ(machine.nics[8].links[0], model::Link::kNode);
  EXPECT_EQ(machine.nics[8].links[4], model::Link::kSys);
}

// Two GPUs of a DGX A100 share a switch with two NICs: beside a busy job on GPU 0, GPUs of another switch.
TEST(Nics, SwitchesOfADgxA100) {
  const model::Machine machine = machine_of("dgx-a100.txt");
  const auto shape = model::shape_of(machine);
  const GpuMask free = mask_all(8) & ~mask({0});
  EXPECT_EQ(model::best_refined(*shape, &machine, free, 1, false, mask({0})), mask({2}));
  EXPECT_EQ(model::best_refined(*shape, &machine, free, 2, false, mask({0})), mask({2, 3}));
}

// The only NIC hangs on the switch of GPUs 0 to 3.
TEST(Nics, QuadWithTheNicOfAnRtx4090Machine) {
  const model::Machine machine = machine_of("rtx4090-8.txt");
  const auto shape = model::shape_of(machine);
  EXPECT_EQ(machine.nics[0].name, "mlx5_bond_0");
  EXPECT_EQ(model::best_refined(*shape, &machine, mask_all(8), 4, false, 0), mask_all(4));
  EXPECT_EQ(model::best_refined(*shape, &machine, mask({1, 4, 5}), 1, false, 0), mask({1}));
}

// Four boards of an NVL72 are one NVLink domain: the clique comes from the node's label, the links from nvidia-smi.
TEST(Gb200, IsPartOfAClique) {
  model::Machine labels;
  labels.gpus.resize(4);
  for (model::Gpu& gpu : labels.gpus) gpu.product = "NVIDIA-GB200";
  labels.clique = "7a0e.2";
  const std::vector<std::shared_ptr<const model::Machine>> told = {
      std::make_shared<const model::Machine>(machine_of("gb200.txt")), std::make_shared<const model::Machine>(labels)};
  const auto all = model::merge(told);
  EXPECT_EQ(all->clique, "7a0e.2");
  EXPECT_EQ(all->links->at(0, 3), model::nvlink(18));
}

}  // namespace
}  // namespace berth::codec
