#include "berth/codec/topology_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "berth/codec/topology_text.h"
#include "test_data.h"

namespace berth::codec {
namespace {

std::string topology_of(const char* file, const model::LinkBandwidths& widths = {}) {
  return write_topology(*model::shape_of(read_topology_text(test_data(file)).value(), widths));
}

TEST(TopologyJson, BridgedPairOnFourGpus) {
  EXPECT_EQ(topology_of("topology/a100-one-bridge.txt"),
            R"({"gpus":4,"numa":[0,0,1,1],"links":[[0,1,"NV12"],[0,2,"SYS"],[0,3,"SYS"],[1,2,"SYS"],[1,3,"SYS"],)"
            R"([2,3,"NODE"]],"best_sets":{"2":[[0,1]],"3":[[0,1,2],[0,1,3]],"4":[[0,1,2,3]]}})"
            "\n");
}

TEST(TopologyJson, UnknownNumaNodesAreNullAndSetsAscend) {
  const auto json = nlohmann::json::parse(topology_of("topology/dgx-1v.txt"));
  EXPECT_EQ(json["numa"], nlohmann::json::parse("[null,null,null,null,null,null,null,null]"));
  EXPECT_EQ(json["best_sets"]["2"], nlohmann::json::parse("[[0,3],[0,4],[1,2],[1,5],[2,3],[4,7],[5,6],[6,7]]"));
  EXPECT_EQ(json["best_sets"]["3"], nlohmann::json::parse("[[0,2,3],[1,2,3],[4,6,7],[5,6,7]]"));
  EXPECT_EQ(json["best_sets"]["4"], nlohmann::json::parse("[[0,1,2,3],[4,5,6,7]]"));
  EXPECT_EQ(json["links"].size(), 28U);
}

// With PCIe as wide as NVLink, the pair on one switch is no worse than the bridged one.
TEST(TopologyJson, BandwidthsDecide) {
  model::LinkBandwidths widths;
  widths.node = 300;
  const auto json = nlohmann::json::parse(topology_of("topology/a100-one-bridge.txt", widths));
  EXPECT_EQ(json["best_sets"]["2"], nlohmann::json::parse("[[0,1],[2,3]]"));
}

TEST(TopologyJson, SixteenGpus) {
  const auto json = nlohmann::json::parse(topology_of("topology/dgx-2.txt"));
  EXPECT_EQ(json["best_sets"].size(), 15U);
  EXPECT_EQ(json["best_sets"]["8"].size(), 12870U);
}

TEST(TopologyJson, OneGpuHasNoSets) {
  model::Machine machine;
  machine.gpus.resize(1);
  machine.links = model::LinkMatrix::uniform(1, model::Link::kSys);
  EXPECT_EQ(write_topology(*model::shape_of(machine)), "{\"gpus\":1,\"numa\":[null],\"links\":[],\"best_sets\":{}}\n");
}

}  // namespace
}  // namespace berth::codec
