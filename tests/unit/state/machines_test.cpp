// What sources tell of a node's GPUs: which of them counts, and what it makes of the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using model::Link;
using model::Machine;
using model::TopologySource;

constexpr const char* kNoSuchProduct = "NVIDIA-Example-SXM";  // not in the table of shapes

// `gpus` GPUs of which every pair has `link`; no links are told for kSelf.
std::shared_ptr<Machine> machine(TopologySource source, int gpus, Link link = Link::kSelf) {
  auto made = std::make_shared<Machine>();
  made->source = source;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    made->gpus.push_back({.uuid = "GPU-" + std::to_string(gpu), .product = {}, .pcie = {}, .instances = {}});
  }
  if (link != Link::kSelf) made->links = model::LinkMatrix::uniform(gpus, link);
  return made;
}

model::MachineSet of(std::string name, std::shared_ptr<Machine> told) { return {std::move(name), std::move(told)}; }

TEST(Machines, LabelsAloneTellByTheTableOfShapes) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  EXPECT_EQ(cluster.at("a").machine, nullptr);
  ASSERT_NE(cluster.at("a").shape, nullptr);
  EXPECT_EQ(cluster.at("a").shape->links.at(0, 7), model::nvlink(18));
}

TEST(Machines, WhatIsToldMakesTheShape) {
  Cluster cluster;
  cluster.set_nodes(node("a", 4, kNoSuchProduct));
  EXPECT_EQ(cluster.at("a").shape, nullptr);
  cluster.tell(of("a", machine(TopologySource::kKoordinator, 4, Link::kPix)));
  ASSERT_NE(cluster.at("a").shape, nullptr);
  EXPECT_EQ(cluster.at("a").shape->links.at(0, 3), Link::kPix);
  ASSERT_NE(cluster.at("a").machine, nullptr);
  EXPECT_EQ(cluster.at("a").machine->gpus[2].uuid, "GPU-2");
  EXPECT_EQ(cluster.at("a").machine->gpus[2].product, kNoSuchProduct) << "what the source leaves open, the label tells";
  cluster.tell(model::MachineGone{"a", TopologySource::kKoordinator});
  EXPECT_EQ(cluster.at("a").machine, nullptr);
  EXPECT_EQ(cluster.at("a").shape, nullptr);
}

TEST(Machines, TheMostTrustedSourceCounts) {
  Cluster cluster;
  model::Node told = node("a", 4, kNoSuchProduct);
  told.hami = machine(TopologySource::kHami, 4, Link::kPxb);
  cluster.set_nodes(told);
  cluster.tell(of("a", machine(TopologySource::kKoordinator, 4, Link::kPix)),
               of("a", machine(TopologySource::kResourceSlices, 4)));
  EXPECT_EQ(cluster.at("a").machine->source, TopologySource::kHami);
  EXPECT_EQ(cluster.at("a").shape->links.at(0, 1), Link::kPxb);
  told.agent = machine(TopologySource::kAgent, 4, model::nvlink(4));
  cluster.set_nodes(told);
  EXPECT_EQ(cluster.at("a").machine->source, TopologySource::kAgent);
  EXPECT_EQ(cluster.at("a").shape->links.at(0, 1), model::nvlink(4));
  told.agent = nullptr;
  told.hami = nullptr;
  cluster.set_nodes(told);
  EXPECT_EQ(cluster.at("a").machine->source, TopologySource::kKoordinator);
}

// k8s-device-plugin#2038: one dead GPU made a node useless. The others are held as before.
TEST(Machines, AnUnhealthyGpuIsLeftOutAndTheRestIsUsed) {
  Cluster cluster;
  model::Node sick = node("a", 7);  // the device plugin hands out seven
  auto told = machine(TopologySource::kAgent, 8, model::nvlink(18));
  told->gpus[5].healthy = false;
  sick.agent = told;
  cluster.set_nodes(sick);
  EXPECT_EQ(cluster.at("a").gpus, 7);
  ASSERT_NE(cluster.at("a").shape, nullptr) << "the shape of eight: links do not change";
  EXPECT_EQ(cluster.at("a").shape->links.gpus, 8);
  sick.gpus = 8;  // before the device plugin has noticed
  cluster.set_nodes(sick);
  EXPECT_EQ(cluster.at("a").gpus, 7);
}

TEST(Machines, GpusInMigModeAreNotHeldWhole) {
  Cluster cluster;
  model::Node mixed = node("a", 2, kNoSuchProduct);
  auto told = machine(TopologySource::kAgent, 4, Link::kPix);
  told->gpus[2].mig = told->gpus[3].mig = true;
  mixed.agent = told;
  cluster.set_nodes(mixed);
  EXPECT_EQ(cluster.at("a").gpus, 2);
}

TEST(Machines, APluginThatSplitsGpusCountsWhatIsThere) {
  Cluster cluster;
  model::Node split = node("a", 80, kH100);  // HAMi hands out ten of each
  split.hami = machine(TopologySource::kHami, 8);
  cluster.set_nodes(split);
  EXPECT_EQ(cluster.at("a").gpus, 8);
  ASSERT_NE(cluster.at("a").shape, nullptr) << "by the table, from the product of the label";
}

TEST(Machines, AreToldBeforeTheNodeIs) {
  Cluster cluster;
  cluster.tell(of("a", machine(TopologySource::kKoordinator, 4, Link::kPix)));
  cluster.set_nodes(node("a", 4, kNoSuchProduct));
  ASSERT_NE(cluster.at("a").machine, nullptr);
  cluster.tell(model::NodeGone{"a"});
  cluster.set_nodes(node("a", 4, kNoSuchProduct));
  EXPECT_NE(cluster.at("a").machine, nullptr) << "and stay when the node goes and comes back";
}

// scheduler-plugins#1015: what was told of deleted objects stayed in a cache.
TEST(Machines, AListReplacesAllThatTheSourceTold) {
  Cluster cluster;
  cluster.set_nodes(node("a", 4, kNoSuchProduct), node("b", 4, kNoSuchProduct));
  cluster.tell(of("a", machine(TopologySource::kKoordinator, 4, Link::kPix)),
               of("b", machine(TopologySource::kResourceSlices, 4, Link::kPix)));
  cluster.tell(model::AllMachines{TopologySource::kKoordinator,
                                  {of("b", machine(TopologySource::kKoordinator, 4, Link::kPxb))}});
  EXPECT_EQ(cluster.at("a").machine, nullptr);
  EXPECT_EQ(cluster.at("b").shape->links.at(0, 1), Link::kPxb);
  cluster.tell(model::AllMachines{TopologySource::kKoordinator, {}});
  EXPECT_EQ(cluster.at("b").machine->source, TopologySource::kResourceSlices) << "others are not touched";
}

TEST(Machines, CountsByNumaNodeSpreadTheGpus) {
  Cluster cluster;
  cluster.set_nodes(node("a", 8, kV100));
  auto told = std::make_shared<Machine>();
  told->source = TopologySource::kNodeResourceTopology;
  told->numa_gpus = {2, 2, 2, 2};
  cluster.tell(of("a", told));
  ASSERT_NE(cluster.at("a").shape, nullptr);
  EXPECT_EQ(cluster.at("a").shape->links.at(0, 3), model::nvlink(2)) << "links are the table's";
  EXPECT_EQ(cluster.at("a").shape->numa[1], 0);
  EXPECT_EQ(cluster.at("a").shape->numa[2], 1);
  EXPECT_EQ(cluster.at("a").shape->numa[7], 3);
}

TEST(Machines, TheSameAgainChangesNoSnapshot) {
  Cluster cluster;
  cluster.set_nodes(node("a", 4, kNoSuchProduct));
  cluster.tell(of("a", machine(TopologySource::kKoordinator, 4, Link::kPix)));
  const auto before = cluster.snapshot()->version;
  cluster.tell(of("a", machine(TopologySource::kKoordinator, 4, Link::kPix)));
  EXPECT_EQ(cluster.snapshot()->version, before);
}

TEST(Machines, BandwidthsAreThoseOfTheOptions) {
  StateOptions options;
  options.link_bandwidths = {.nvlink = 50, .pix = 60};
  Cluster cluster(options);
  cluster.set_nodes(node("labels"), node("told", 4, kNoSuchProduct));
  cluster.tell(of("told", machine(TopologySource::kKoordinator, 4, Link::kPix)));
  EXPECT_EQ(cluster.at("labels").shape->table.best_quality(2).bottleneck, 18 * 50);
  EXPECT_EQ(cluster.at("told").shape->table.best_quality(2).bottleneck, 60);
}

}  // namespace
}  // namespace berth::state
