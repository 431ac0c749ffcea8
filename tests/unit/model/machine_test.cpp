#include "berth/model/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace berth::model {
namespace {

using testing::ElementsAre;

std::shared_ptr<const Machine> shared(Machine machine) { return std::make_shared<const Machine>(std::move(machine)); }

Machine told_by(TopologySource source, std::vector<Gpu> gpus) {
  Machine machine;
  machine.source = source;
  machine.gpus = std::move(gpus);
  return machine;
}

Gpu gpu(std::string uuid, std::string product = {}, std::int8_t numa = -1) {
  Gpu made;
  made.uuid = std::move(uuid);
  made.product = std::move(product);
  made.numa = numa;
  return made;
}

std::shared_ptr<const Machine> merged(std::vector<std::shared_ptr<const Machine>> told) { return merge(told); }

TEST(Merge, NoSourceTellsNothingAndOneTellsAll) {
  EXPECT_EQ(merged({}), nullptr);
  const auto only = shared(told_by(TopologySource::kHami, {gpu("a")}));
  EXPECT_EQ(merged({only}), only);
}

TEST(Merge, EachPartComesFromTheFirstThatHasIt) {
  Machine agent = told_by(TopologySource::kAgent, {gpu("a", "", 1), gpu("b")});
  agent.at = core::WallTime(std::chrono::seconds(5));
  Machine hami = told_by(TopologySource::kHami, {gpu("a", "NVIDIA-A10", 0), gpu("b", "NVIDIA-A10", 0)});
  hami.links = LinkMatrix::uniform(2, Link::kPix);
  hami.at = core::WallTime(std::chrono::seconds(7));
  Machine slices = told_by(TopologySource::kResourceSlices, {gpu("a"), gpu("b")});
  slices.links = LinkMatrix::uniform(2, Link::kSys);
  slices.clique = "c.1";
  slices.gpus[1].pcie = "pci0000:17";
  const auto all = merged({shared(agent), shared(hami), shared(slices)});
  EXPECT_THAT(all->gpus[0], gpu("a", "NVIDIA-A10", 1));
  EXPECT_EQ(all->gpus[1].numa, 0);
  EXPECT_EQ(all->gpus[1].pcie, "pci0000:17");
  EXPECT_EQ(all->links, LinkMatrix::uniform(2, Link::kPix));
  EXPECT_EQ(all->clique, "c.1");
  // Named after the source of the links.
  EXPECT_EQ(all->source, TopologySource::kHami);
  EXPECT_EQ(all->at, hami.at);
}

TEST(Merge, GpusAreTheSameByUuidWhateverTheirOrder) {
  Machine agent = told_by(TopologySource::kAgent, {gpu("a"), gpu("b"), gpu("c")});
  Machine hami = told_by(TopologySource::kHami, {gpu("c", "C"), gpu("a", "A"), gpu("b", "B")});
  hami.links = LinkMatrix::uniform(3, Link::kSys);
  hami.links->set(0, 1, nvlink(4));  // c-a
  hami.nics.push_back({"mlx5_0", {Link::kPix, Link::kSys, Link::kNode}});
  const auto all = merged({shared(agent), shared(hami)});
  EXPECT_EQ(all->gpus[0].product, "A");
  EXPECT_EQ(all->gpus[2].product, "C");
  EXPECT_EQ(all->links->at(0, 2), nvlink(4));
  EXPECT_EQ(all->links->at(0, 1), Link::kSys);
  EXPECT_EQ(all->nics[0].links[0], Link::kSys);
  EXPECT_EQ(all->nics[0].links[1], Link::kNode);
  EXPECT_EQ(all->nics[0].links[2], Link::kPix);
}

TEST(Merge, SourceOfOtherGpusIsLeftOut) {
  const Machine agent = told_by(TopologySource::kAgent, {gpu("a"), gpu("b")});
  Machine replaced = told_by(TopologySource::kHami, {gpu("a", "A"), gpu("old", "B")});
  replaced.links = LinkMatrix::uniform(2, Link::kPix);
  Machine more = told_by(TopologySource::kKoordinator, {gpu("a", "A"), gpu("b", "B"), gpu("c", "C")});
  more.links = LinkMatrix::uniform(3, Link::kPix);
  const auto all = merged({shared(agent), shared(replaced), shared(more)});
  EXPECT_EQ(all->gpus, agent.gpus);
  EXPECT_EQ(all->links, std::nullopt);
  EXPECT_EQ(all->source, TopologySource::kAgent);
}

TEST(Merge, GpuThatAnySourceCallsUnhealthyIs) {
  const Machine agent = told_by(TopologySource::kAgent, {gpu("a"), gpu("b")});
  Machine hami = agent;
  hami.gpus[1].healthy = false;
  const auto all = merged({shared(agent), shared(hami)});
  EXPECT_TRUE(all->gpus[0].healthy);
  EXPECT_FALSE(all->gpus[1].healthy);
}

TEST(Merge, CountsByNumaNodeComeFromSourcesThatTellNoGpus) {
  Machine zones;
  zones.source = TopologySource::kNodeResourceTopology;
  zones.numa_gpus = {2, 2};
  const Machine labels = told_by(TopologySource::kLabels, std::vector<Gpu>(4, gpu("", "NVIDIA-L40S")));
  const auto all = merged({shared(zones), shared(labels)});
  EXPECT_EQ(all->gpus.size(), 4U);
  EXPECT_THAT(all->numa_gpus, ElementsAre(2, 2));
  EXPECT_EQ(all->source, TopologySource::kLabels);
}

TEST(ShapeOf, ProductTableWhereNobodyTellsLinks) {
  const Machine labels = told_by(TopologySource::kLabels, std::vector<Gpu>(8, gpu("", "NVIDIA-H100-80GB-HBM3")));
  EXPECT_EQ(shape_of(labels), find_shape("NVIDIA-H100-80GB-HBM3", 8));
  EXPECT_EQ(shape_of(told_by(TopologySource::kLabels, std::vector<Gpu>(8, gpu("")))), nullptr);
  EXPECT_EQ(shape_of(told_by(TopologySource::kLabels, {})), nullptr);
  // Two kinds of GPUs on one machine: nobody knows its links.
  Machine mixed = labels;
  mixed.gpus[7].product = "Tesla-T4";
  EXPECT_EQ(shape_of(mixed), nullptr);
}

TEST(ShapeOf, MachinesOfTheSameLinksAndNumaNodesShareOne) {
  Machine machine = told_by(TopologySource::kAgent, {gpu("a", "", 0), gpu("b", "", 0), gpu("c", "", 1)});
  machine.links = LinkMatrix::uniform(3, Link::kSys);
  machine.links->set(0, 1, nvlink(4));
  Machine other = machine;
  for (Gpu& other_gpu : other.gpus) other_gpu.uuid += "2";
  const auto shape = shape_of(machine);
  ASSERT_NE(shape, nullptr);
  EXPECT_EQ(shape_of(other), shape);
  EXPECT_EQ(shape->table.best(mask_all(3), 2), mask({0, 1}));
  other.gpus[2].numa = 0;
  EXPECT_NE(shape_of(other), shape);
  EXPECT_NE(shape_of(machine, {.nvlink = 50}), shape);
  EXPECT_EQ(shape_of(machine, {.nvlink = 50})->table.quality(mask({0, 1})).bottleneck, 200);
}

// An agent that tells of an HGX H100 what the table of products says.
TEST(ShapeOf, ReportedMachineLikeTheTableSharesItsShape) {
  Machine machine = told_by(TopologySource::kAgent, {});
  for (int i = 0; i < 8; ++i) {
    machine.gpus.push_back(gpu(std::to_string(i), "NVIDIA-H100-80GB-HBM3", static_cast<std::int8_t>(i / 4)));
  }
  machine.links = LinkMatrix::uniform(8, nvlink(18));
  EXPECT_EQ(shape_of(machine), find_shape("NVIDIA-H100-80GB-HBM3", 8));
}

TEST(ShapeOf, EqualCountsByNumaNodeTellWhichGpusSitTogether) {
  Machine machine = told_by(TopologySource::kHami, std::vector<Gpu>(4));
  machine.links = LinkMatrix::uniform(4, Link::kPhb);
  machine.numa_gpus = {0, 2, 2};
  const auto shape = shape_of(machine);
  EXPECT_EQ(shape->table.numa_nodes(mask({0, 1})), 1);
  EXPECT_EQ(shape->table.numa_nodes(mask({1, 2})), 2);
  // Of 1 and 3 GPUs nobody knows which is the lone one; counts of other GPUs tell nothing.
  for (const std::vector<std::int32_t>& counts : {std::vector<std::int32_t>{1, 3}, {2}, {4, 4}, {-2, 2, 2}}) {
    machine.numa_gpus = counts;
    EXPECT_EQ(shape_of(machine)->table.numa_nodes(mask({0, 1})), 0);
  }
}

TEST(ShapeOf, LinksOfAnotherNumberOfGpusAreNoShape) {
  Machine machine = told_by(TopologySource::kAgent, std::vector<Gpu>(4));
  machine.links = LinkMatrix::uniform(2, Link::kPhb);
  EXPECT_EQ(shape_of(machine), nullptr);
}

// Anybody who may annotate a node can make up machines: their tables take 5 MB each with 16 GPUs.
TEST(ShapeOf, UnusedShapesMakeRoomAndUsedOnesHaveALimit) {
  Machine machine = told_by(TopologySource::kAgent, std::vector<Gpu>(16));
  machine.links = LinkMatrix::uniform(16, Link::kPhb);
  std::vector<std::shared_ptr<const GpuShape>> used;
  for (int i = 0; i < 14; ++i) {
    machine.links->set(0, 1, nvlink(1 + i));
    used.push_back(shape_of(machine));
  }
  const auto refused = std::ranges::count(used, nullptr);
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 10);
  EXPECT_EQ(used.back(), nullptr);
  used.clear();
  EXPECT_NE(shape_of(machine), nullptr);
}

}  // namespace
}  // namespace berth::model
