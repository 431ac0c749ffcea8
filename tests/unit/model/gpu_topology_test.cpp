#include "berth/model/gpu_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::model {
namespace {

using testing::ElementsAre;

constexpr NumaNodes kNoNuma = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

const GpuShape& dgx1v() { return *find_shape("Tesla-V100-SXM2-32GB", 8); }
const GpuShape& hgx_h100() { return *find_shape("NVIDIA-H100-80GB-HBM3", 8); }
const GpuShape& pcie(int gpus) { return *find_shape("NVIDIA-A100-80GB-PCIe", gpus); }

// GB/s per direction (docs/gpu-topology.md): NVk 25·k, PIX 20, PXB 16, PHB 12, NODE 10, SYS 8.
TEST(Bandwidth, PerDirection) {
  EXPECT_EQ(bandwidth(nvlink(18)), 450);
  EXPECT_EQ(bandwidth(nvlink(1)), 25);
  EXPECT_EQ(bandwidth(Link::kPix), 20);
  EXPECT_EQ(bandwidth(Link::kPxb), 16);
  EXPECT_EQ(bandwidth(Link::kPhb), 12);
  EXPECT_EQ(bandwidth(Link::kNode), 10);
  EXPECT_EQ(bandwidth(Link::kSys), 8);
  EXPECT_EQ(link_name(nvlink(12)), "NV12");
  EXPECT_EQ(link_name(Link::kSelf), "X");
}

TEST(LowerIndices, ComparesAscendingLists) {
  EXPECT_TRUE(lower_indices(mask({0, 3}), mask({1, 2})));
  EXPECT_FALSE(lower_indices(mask({1, 2}), mask({0, 3})));
  EXPECT_TRUE(lower_indices(mask({0, 1, 7}), mask({0, 2, 3})));
  EXPECT_FALSE(lower_indices(mask({4, 5}), mask({4, 5})));
}

struct BestCase {
  const char* name;
  GpuMask free;
  int count;
  GpuMask want;
};

class BestSetOfDgx1V : public testing::TestWithParam<BestCase> {};

// Hybrid cube mesh, NV2 pairs 0-3 0-4 1-2 1-5 2-3 4-7 5-6 6-7, NV1 pairs 0-1 0-2 1-3 2-6 3-7 4-5 4-6 5-7.
INSTANTIATE_TEST_SUITE_P(
    Table, BestSetOfDgx1V,
    testing::Values(
        BestCase{"pair on a double link", mask({0, 1, 3}), 2, mask({0, 3})},
        BestCase{"pair over SYS only where nothing else is free", mask({0, 5}), 2, mask({0, 5})},
        // {0,2,3} and {1,2,3} both have 50 + 50 + 25 = 125 GB/s; the second leaves the double link 0-4 whole.
        BestCase{"three leave the larger island", mask({0, 1, 2, 3, 4}), 3, mask({1, 2, 3})},
        // A board's quad is fully meshed, 3·50 + 3·25 = 225; every quad across the boards has a SYS pair.
        BestCase{"four stay on one board", mask_all(8), 4, mask({0, 1, 2, 3})},
        BestCase{"four on the other board if one GPU of the first is gone", mask({1, 2, 3, 4, 5, 6, 7}), 4,
                 mask({4, 5, 6, 7})},
        BestCase{"eight are all", mask_all(8), 8, mask_all(8)},
        // Whichever is taken, the other seven stay connected.
        BestCase{"one GPU of an empty machine", mask_all(8), 1, mask({0})},
        // 1 is linked to neither 4 nor 7; 4-7 is an island that stays whole when 1 is taken.
        BestCase{"one GPU leaves the island whole", mask({1, 4, 7}), 1, mask({1})}));

TEST_P(BestSetOfDgx1V, IsTheHandWorkedOne) {
  const BestCase& c = GetParam();
  EXPECT_EQ(dgx1v().table.best(c.free, c.count), c.want) << c.name;
}

// Two GPUs on any of the eight NV2 pairs; four only as {0..3} and {4..7}.
TEST(BestSetTies, OfTheEmptyDgx1V) {
  EXPECT_THAT(dgx1v().table.ties(2), ElementsAre(mask({0, 3}), mask({0, 4}), mask({1, 2}), mask({1, 5}), mask({2, 3}),
                                                 mask({4, 7}), mask({5, 6}), mask({6, 7})));
  EXPECT_THAT(dgx1v().table.ties(4), ElementsAre(mask({0, 1, 2, 3}), mask({4, 5, 6, 7})));
}

TEST(BestSet, NoneIfFewerAreFreeOrNoneIsAsked) {
  EXPECT_EQ(dgx1v().table.best(mask({1}), 2), std::nullopt);
  EXPECT_EQ(dgx1v().table.best(0, 1), std::nullopt);
  EXPECT_EQ(dgx1v().table.best(mask_all(8), 0), std::nullopt);
  EXPECT_EQ(dgx1v().table.best(mask_all(8), 9), std::nullopt);
}

TEST(BestSet, EveryPairOfAnNvswitchMachineIsEqual) {
  EXPECT_EQ(hgx_h100().table.ties(2).size(), 28U);
  EXPECT_EQ(hgx_h100().table.best(mask({2, 5}), 2), mask({2, 5}));
  EXPECT_EQ(hgx_h100().table.quality(mask({2, 5})).bottleneck, 450);
}

// NUMA 0 = 0-3, 1 = 4-7; every link is equal.
TEST(BestSet, AmongEqualLinksStaysOnOneSocketAndKeepsTheOtherWhole) {
  EXPECT_EQ(hgx_h100().table.best(mask({2, 3, 4, 5, 6, 7}), 4), mask({4, 5, 6, 7}));
  EXPECT_EQ(hgx_h100().table.best(mask({3, 4, 5, 6, 7}), 2), mask({4, 5}));
  EXPECT_EQ(hgx_h100().table.best(mask({0, 1, 2, 3, 6}), 1), mask({6}));
  EXPECT_EQ(hgx_h100().table.best(mask({0, 1, 2, 3, 6, 7}), 2), mask({6, 7}));
}

TEST(BestSet, PcieQuadStaysOnOneSwitch) {
  EXPECT_EQ(pcie(8).table.best(mask({0, 1, 2, 4, 5, 6, 7}), 4), mask({4, 5, 6, 7}));
  EXPECT_EQ(pcie(4).table.best(mask({1, 2, 3}), 2), mask({2, 3}));
}

TEST(BestConnected, NeedsOneIslandOrOneNumaNode) {
  // 0-3 and 5-6 are double links, and nothing links the pairs: 132 GB/s, but two islands.
  EXPECT_EQ(dgx1v().best_connected(mask({0, 3, 5, 6}), 4), std::nullopt);
  // A pair of SYS distance is no island.
  EXPECT_EQ(dgx1v().best_connected(mask({0, 5}), 2), std::nullopt);
  EXPECT_EQ(dgx1v().best_connected(mask({0, 5}), 1), mask({0}));
  EXPECT_EQ(pcie(4).best_connected(mask({1, 2}), 2), std::nullopt);
  EXPECT_EQ(pcie(4).best_connected(mask({1, 2, 3}), 2), mask({2, 3}));
}

// The widest set is two islands, and a chain of links within one island exists: restricted must find the chain.
TEST(BestConnected, PrefersAChainToAWiderSetOfTwoIslands) {
  LinkMatrix links = LinkMatrix::uniform(6, Link::kSys);
  links.set(0, 1, nvlink(12));
  links.set(2, 3, nvlink(12));
  links.set(3, 4, nvlink(1));
  links.set(4, 5, nvlink(1));
  const auto table = BestSetTable::build(links, kNoNuma).value();
  // {0,1,2,3}: 300 + 300 + 4·8 = 632; {2,3,4,5}: 300 + 25 + 25 + 3·8 = 374; both have the bottleneck 8.
  EXPECT_EQ(table.best(mask_all(6), 4), mask({0, 1, 2, 3}));
  EXPECT_EQ(table.best_connected(mask_all(6), 4), mask({2, 3, 4, 5}));
}

TEST(BestSetTable, RefusesWhatIsNoLinkMatrix) {
  EXPECT_FALSE(BestSetTable::build(LinkMatrix{}, kNoNuma).has_value());
  LinkMatrix skewed = LinkMatrix::uniform(2, Link::kPix);
  skewed.links[0][1] = Link::kSys;
  const auto built = BestSetTable::build(skewed, kNoNuma);
  ASSERT_FALSE(built.has_value());
  EXPECT_EQ(built.error().message, "the link matrix is not symmetric at GPU 0, GPU 1");
}

TEST(BestSetTable, SixteenGpus) {
  const auto table = BestSetTable::build(LinkMatrix::uniform(16, nvlink(6)), kNoNuma).value();
  EXPECT_EQ(table.best(mask_all(16), 16), mask_all(16));
  EXPECT_EQ(table.best(mask({3, 9, 14}), 2), mask({3, 9}));
}

struct ProductCase {
  const char* product;
  int gpus;
  Link pair;  // of GPUs 0 and 1; kSelf: no shape
};

class Shapes : public testing::TestWithParam<ProductCase> {};

// Product labels as GPU-feature-discovery writes them.
INSTANTIATE_TEST_SUITE_P(
    Table, Shapes,
    testing::Values(
        ProductCase{"NVIDIA-H100-80GB-HBM3", 8, nvlink(18)}, ProductCase{"NVIDIA-H200", 8, nvlink(18)},
        ProductCase{"NVIDIA-H800", 8, nvlink(8)}, ProductCase{"NVIDIA-A100-SXM4-80GB", 8, nvlink(12)},
        ProductCase{"A100-SXM4-40GB", 8, nvlink(12)}, ProductCase{"NVIDIA-A800-SXM4-80GB", 8, nvlink(8)},
        ProductCase{"Tesla-V100-SXM2-32GB", 8, nvlink(1)}, ProductCase{"NVIDIA-A100-80GB-PCIe", 8, Link::kPix},
        ProductCase{"NVIDIA-A100-PCIE-40GB", 4, Link::kNode}, ProductCase{"NVIDIA-H100-PCIe", 2, Link::kSys},
        ProductCase{"NVIDIA-L40S", 4, Link::kNode}, ProductCase{"Tesla-T4", 4, Link::kNode},
        ProductCase{"NVIDIA-B200", 8, nvlink(18)}, ProductCase{"NVIDIA-B300-SXM6-AC", 8, nvlink(18)},
        ProductCase{"NVIDIA-H20", 8, nvlink(18)}, ProductCase{"NVIDIA-H20", 4, Link::kSelf},
        ProductCase{"NVIDIA-B200", 4, Link::kSelf}, ProductCase{"NVIDIA-GB200", 4, nvlink(18)},
        ProductCase{"NVIDIA-GB300", 4, nvlink(18)}, ProductCase{"NVIDIA-GB200", 2, Link::kSelf},
        ProductCase{"Tesla-V100-SXM3-32GB", 16, nvlink(6)}, ProductCase{"Tesla-V100-SXM3-32GB", 8, Link::kSelf},
        ProductCase{"Tesla-P100-SXM2-16GB", 8, nvlink(1)}, ProductCase{"Tesla-P100-SXM2-16GB", 4, Link::kSelf},
        ProductCase{"NVIDIA-L20", 8, Link::kPix}, ProductCase{"NVIDIA-A10", 2, Link::kSys},
        ProductCase{"A100-SXM4-40GB-MIG-1g.5gb", 8, Link::kSelf}, ProductCase{"NVIDIA-H100-NVL", 8, Link::kSelf},
        ProductCase{"NVIDIA-H200-NVL", 4, Link::kSelf}, ProductCase{"NVIDIA-A100-SXM4-80GB-SHARED", 8, Link::kSelf},
        ProductCase{"NVIDIA-A800-40GB-Active", 4, Link::kSelf}, ProductCase{"NVIDIA-GH200-480GB", 4, Link::kSelf},
        ProductCase{"NVIDIA-H100-80GB-HBM3", 3, Link::kSelf}, ProductCase{"", 8, Link::kSelf},
        ProductCase{"Some-New-Card", 8, Link::kSelf}, ProductCase{"NVIDIA-L40S", 40, Link::kSelf}));

TEST_P(Shapes, ByProductAndCount) {
  const ProductCase& c = GetParam();
  const auto shape = find_shape(c.product, c.gpus);
  if (c.pair == Link::kSelf) {
    EXPECT_EQ(shape, nullptr) << c.product;
    return;
  }
  ASSERT_NE(shape, nullptr) << c.product;
  EXPECT_EQ(shape->links.gpus, c.gpus);
  EXPECT_EQ(shape->links.at(0, 1), c.pair) << c.product << ": " << link_name(shape->links.at(0, 1));
}

TEST(Shapes, AreSharedByAllMachinesOfAKind) {
  EXPECT_EQ(find_shape("NVIDIA-H100-80GB-HBM3", 8), find_shape("NVIDIA-H200", 8));
}

// HAMi PR#2103 ("missed 28 of 28 pairs" on 8 H100) and vgpu-manager PR#70: over NVSwitch each GPU is linked to the
// switch, not to the other GPU; every pair is as wide, and wider than PCIe.
TEST(BestSet, NvswitchPairsCountAsLinked) {
  const BestSetTable& table = hgx_h100().table;
  EXPECT_EQ(table.ties(2).size(), 28U);
  for (const GpuMask pair : table.ties(2)) EXPECT_EQ(table.quality(pair), (SetQuality{450, 450}));
  EXPECT_LT(bandwidth(Link::kPix), 450);
}

// Every number of GPUs has a best set, three, five, six and seven too, of any free ones.
TEST(BestSet, OfAnyNumberOfGpus) {
  const auto dgx2 = find_shape("Tesla-V100-SXM3-32GB", 16);
  for (int count = 1; count <= 16; ++count) {
    EXPECT_EQ(dgx2->table.best(mask_all(16), count), mask_all(count)) << count;
    EXPECT_EQ(dgx2->table.best_connected(mask_all(16), count), mask_all(count)) << count;
  }
  // Nine of ten: one socket has eight, the other two, and which of the two is taken makes no difference.
  EXPECT_EQ(dgx2->table.best(mask_all(8) | mask({9, 12}), 9), mask_all(8) | mask({9}));
  // Five: the socket that has no more than five free.
  EXPECT_EQ(dgx2->table.best(mask_all(16) & ~mask({1, 2, 3}), 5), mask({0, 4, 5, 6, 7}));
}

TEST(BestSet, SetsThatTieButForTheirIndices) {
  const BestSetTable& table = hgx_h100().table;
  EXPECT_THAT(table.equals(mask_all(8), 4, false), ElementsAre(mask({0, 1, 2, 3}), mask({4, 5, 6, 7})));
  EXPECT_THAT(table.equals(mask({1, 2, 3, 6, 7}), 2, true), ElementsAre(mask({6, 7})));
  EXPECT_TRUE(table.equals(mask({1}), 2, false).empty());
  EXPECT_TRUE(dgx1v().table.equals(mask({0, 5}), 2, true).empty());
}

// Without NVLink a set is connected on one NUMA node; a NUMA node that nobody told is another one only across SYS.
TEST(BestConnected, WithoutNvlink) {
  LinkMatrix links = LinkMatrix::uniform(4, Link::kSys);
  links.set(0, 1, Link::kPhb);
  links.set(2, 3, Link::kNode);
  const auto unknown = BestSetTable::build(links, kNoNuma).value();
  EXPECT_EQ(unknown.best_connected(mask_all(4), 2), mask({0, 1}));
  EXPECT_EQ(unknown.best_connected(mask({0, 2, 3}), 2), mask({2, 3}));
  EXPECT_EQ(unknown.best_connected(mask({0, 2}), 2), std::nullopt);
  EXPECT_EQ(unknown.best_connected(mask({0, 2}), 1), mask({0}));
  // {0,1,3} has 12 + 12 + 8 GB/s, {0,1,2} only 12 + 8 + 8, but on one NUMA node.
  links.set(0, 3, Link::kPhb);
  NumaNodes numa = kNoNuma;
  for (std::size_t gpu = 0; gpu < 4; ++gpu) numa[gpu] = static_cast<std::int8_t>(gpu / 3);
  const auto known = BestSetTable::build(links, numa).value();
  EXPECT_EQ(known.best(mask_all(4), 3), mask({0, 1, 3}));
  EXPECT_EQ(known.best_connected(mask_all(4), 3), mask({0, 1, 2}));
}

TEST(ParseLink, NamesOfAllDrivers) {
  EXPECT_EQ(parse_link("NV1"), nvlink(1));
  EXPECT_EQ(parse_link("NV18"), nvlink(18));
  EXPECT_EQ(parse_link("SOC"), Link::kSys);
  for (const Link link : {Link::kSys, Link::kNode, Link::kPhb, Link::kPxb, Link::kPix, nvlink(36)}) {
    EXPECT_EQ(parse_link(link_name(link)), link);
  }
  for (const char* text : {"X", "", "NV", "NV0", "NV01", "NV100", "NV-1", "NV1 ", "nv1", "PIXX", "N/A"}) {
    EXPECT_EQ(parse_link(text), std::nullopt) << text;
  }
}

TEST(NumaNodes, TouchedAndFewest) {
  EXPECT_EQ(hgx_h100().table.numa_nodes(mask({0, 3})), 1);
  EXPECT_EQ(hgx_h100().table.numa_nodes(mask({0, 4})), 2);
  EXPECT_EQ(hgx_h100().table.fewest_numa_nodes(4), 1);
  EXPECT_EQ(hgx_h100().table.fewest_numa_nodes(5), 2);
}

}  // namespace
}  // namespace berth::model
