#include <gtest/gtest.h>

#include "berth/model/machine.h"

namespace berth::model {
namespace {

// Eight GPUs that all see each other over NVSwitch; two on a PCIe switch; NUMA 0 = 0-3, 1 = 4-7.
Machine hgx() {
  Machine machine;
  machine.gpus.resize(8);
  for (std::size_t i = 0; i < 8; ++i) {
    machine.gpus[i].numa = static_cast<std::int8_t>(i / 4);
    machine.gpus[i].pcie = "switch-" + std::to_string(i / 2);
  }
  machine.links = LinkMatrix::uniform(8, nvlink(12));
  return machine;
}

// A NIC `near` to the GPUs given and SYS to the others.
Nic nic(std::string name, std::initializer_list<std::size_t> gpus, Link near = Link::kPix) {
  Nic made{std::move(name), {}};
  made.links.fill(Link::kSys);
  for (const std::size_t gpu : gpus) made.links[gpu] = near;
  return made;
}

std::optional<GpuMask> refined(const Machine& machine, GpuMask free, int count, GpuMask busy) {
  return best_refined(*shape_of(machine), &machine, free, count, false, busy);
}

TEST(BestRefined, WithoutAMachineIsTheBestOfTheTable) {
  const auto shape = shape_of(hgx());
  EXPECT_EQ(best_refined(*shape, nullptr, mask_all(8), 2, false, 0), shape->table.best(mask_all(8), 2));
  EXPECT_EQ(best_refined(*shape, nullptr, mask({2}), 2, true, 0), std::nullopt);
  const Machine machine = hgx();
  EXPECT_EQ(best_refined(*shape, &machine, mask({2}), 2, false, 0), std::nullopt);
}

// GPU 0 runs a job of several GPUs: its neighbour 1 shares the switch with it, 2 and 3 have one to themselves.
TEST(BestRefined, SwitchThatNoBusyJobUses) {
  EXPECT_EQ(refined(hgx(), mask({1, 2, 3, 4, 5, 6, 7}), 2, mask({0})), mask({2, 3}));
  EXPECT_EQ(refined(hgx(), mask({1, 2, 3}), 1, mask({0})), mask({2}));
  // GPU 0 is held by a job with one GPU: nothing tells the pairs apart but their indices.
  EXPECT_EQ(refined(hgx(), mask({1, 2, 3, 4, 5, 6, 7}), 2, 0), mask({1, 2}));
}

// NUMA nodes count before switches: 1, 2 and 3 stay together although 0, beside 1, is busy.
TEST(BestRefined, LinksAndNumaNodesComeFirst) {
  EXPECT_EQ(refined(hgx(), mask({1, 2, 3, 4, 5}), 3, mask({0, 6, 7})), mask({1, 2, 3}));
}

// Two GPUs a NIC: that of 0 and 1 is used by the job on 0.
TEST(BestRefined, NicThatNoBusyJobUses) {
  Machine machine = hgx();
  for (Gpu& gpu : machine.gpus) gpu.pcie.clear();
  for (std::size_t i = 0; i < 8; i += 2) machine.nics.push_back(nic("mlx5_" + std::to_string(i / 2), {i, i + 1}));
  EXPECT_EQ(refined(machine, mask({1, 2, 3}), 1, mask({0})), mask({2}));
  EXPECT_EQ(refined(machine, mask({1, 2, 3}), 2, mask({0})), mask({2, 3}));
}

// koordinator PR#2646: one PCIe switch carries three NICs, the others one; each GPU is to have a NIC of its own, and
// the two GPUs of a switch with one NIC can't both have it.
TEST(BestRefined, EachGpuGetsANearNicOfItsOwn) {
  Machine machine = hgx();
  machine.nics = {nic("mlx5_0", {0, 1}), nic("mlx5_1", {2, 3}), nic("mlx5_2", {2, 3}),
                  nic("mlx5_3", {2, 3}), nic("mlx5_4", {4, 5}), nic("mlx5_5", {6, 7})};
  EXPECT_EQ(refined(machine, mask_all(8), 2, 0), mask({0, 2}));
  EXPECT_EQ(refined(machine, mask({0, 1, 2, 3}), 2, 0), mask({0, 2}));
  EXPECT_EQ(refined(machine, mask({0, 1, 2, 3}), 3, 0), mask({0, 2, 3}));
}

// The first NIC that GPU 2 could have is the only one of GPU 3: 2 takes the other.
TEST(BestRefined, NicsAreMatchedNotTakenInTurn) {
  Machine machine = hgx();
  machine.nics = {nic("mlx5_0", {2, 3}), nic("mlx5_1", {2}), nic("mlx5_2", {0, 1})};
  EXPECT_EQ(refined(machine, mask({0, 1, 2, 3}), 3, 0), mask({0, 2, 3}));
}

// PIX before PXB before PHB before NODE.
TEST(BestRefined, NearerNicsCountBeforeMoreNics) {
  Machine machine = hgx();
  machine.nics = {nic("mlx5_0", {0, 1}, Link::kPxb), nic("mlx5_1", {2}), nic("mlx5_2", {3}, Link::kPxb)};
  EXPECT_EQ(refined(machine, mask({0, 1, 2, 3}), 1, 0), mask({2}));
  EXPECT_EQ(refined(machine, mask({0, 1, 3}), 1, 0), mask({0}));
}

TEST(BestRefined, ConnectedSetsOnly) {
  Machine machine = hgx();
  machine.links = LinkMatrix::uniform(8, Link::kSys);
  machine.links->set(0, 1, nvlink(4));
  machine.links->set(2, 3, nvlink(4));
  const auto shape = shape_of(machine);
  EXPECT_EQ(best_refined(*shape, &machine, mask({0, 2, 3}), 2, true, mask({1})), mask({2, 3}));
  EXPECT_EQ(best_refined(*shape, &machine, mask({0, 1, 2, 3}), 4, true, 0), std::nullopt);
}

}  // namespace
}  // namespace berth::model
