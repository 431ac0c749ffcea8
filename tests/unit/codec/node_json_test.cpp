#include "berth/codec/node_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::codec {
namespace {

using nlohmann::json;

model::Snapshot snapshot_with(std::vector<model::NodeState> states) {
  model::Snapshot snapshot;
  std::vector<std::string> names;
  auto block = std::make_shared<model::NodeBlock>();
  for (std::size_t i = 0; i < states.size(); ++i) {
    names.push_back(states[i].node->name);
    (*block)[i] = std::move(states[i]);
  }
  snapshot.index = std::make_shared<const model::NodeIndex>(std::move(names));
  snapshot.blocks = {block};
  return snapshot;
}

model::NodeState state_of(const std::string& name) {
  model::NodeState state;
  auto node = std::make_shared<model::Node>();
  node->name = name;
  state.node = node;
  return state;
}

std::optional<std::string> one(const model::Snapshot& snapshot, core::WallTime now, std::string_view name) {
  return write_node(snapshot, model::view_free_gpus(snapshot), now, name);
}

core::WallTime at(int second) { return core::WallTime(std::chrono::seconds(second)); }

TEST(NodeJson, TellsEachGpuAndWhoHoldsIt) {
  auto machine = std::make_shared<model::Machine>();
  machine->source = model::TopologySource::kHami;
  machine->at = at(100);
  machine->gpus.resize(8);
  machine->gpus[1].uuid = "GPU-1";
  machine->gpus[1].healthy = false;
  model::NodeState state = state_of("a");
  state.machine = machine;
  state.shape = model::find_shape("NVIDIA-H100-80GB-HBM3", 8);
  state.gpus = 7;
  state.used = 1;
  state.free_known = true;
  state.free = 0b11111100;
  state.free_source = model::FreeSource::kAnnotations;
  state.occupants = std::make_shared<const std::vector<model::Occupant>>(
      1, model::Occupant{.uid = "u", .ns = "ns", .name = "p", .gpus = 1, .placement = {0b1, {}}});
  const auto text = one(snapshot_with({state}), at(130), "a");
  ASSERT_TRUE(text);
  const json told = json::parse(*text);
  EXPECT_EQ(told.at("topologySource"), "hami");
  EXPECT_EQ(told.at("ageSeconds"), 30);
  EXPECT_EQ(told.at("pairs"), (json{{"NV18", 28}}));
  EXPECT_EQ(told.at("freeSource"), "annotations");
  EXPECT_EQ(told.at("free"), (json{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(told.at("freeGpus"), json::parse(R"({"whole": 6, "milli": 6000, "largestRequest": 6, "fragmentation": 0.0,
                                                 "byIsland": {"6": 6}})"));
  ASSERT_EQ(told.at("gpuTable").size(), 8U);
  EXPECT_EQ(told.at("gpuTable")[0].at("pods"), (json{"ns/p"}));
  EXPECT_EQ(told.at("gpuTable")[1].at("healthy"), false);
  EXPECT_EQ(told.at("gpuTable")[7].at("numa"), 1) << "by the table of shapes";
  EXPECT_FALSE(one(snapshot_with({state}), at(130), "b"));
}

TEST(NodeJson, ListIsByNameAndCountsAll) {
  const model::Snapshot snapshot = snapshot_with({state_of("c"), state_of("a"), state_of("b")});
  const json told = json::parse(write_nodes(snapshot, model::view_free_gpus(snapshot), at(0), 2));
  EXPECT_EQ(told.at("count"), 3);
  ASSERT_EQ(told.at("nodes").size(), 2U);
  EXPECT_EQ(told.at("nodes")[0].at("node"), "a");
  EXPECT_EQ(told.at("nodes")[1].at("node"), "b");
  EXPECT_EQ(told.at("nodes")[0].at("topologySource"), "unknown");
  EXPECT_EQ(told.at("nodes")[0].at("free"), nullptr);
}

}  // namespace
}  // namespace berth::codec
