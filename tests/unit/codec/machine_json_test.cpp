#include "berth/codec/machine_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace berth::codec {
namespace {

using model::Link;
using model::nvlink;
using testing::ElementsAre;

// 2026-11-29T16:00:00Z.
const core::WallTime kAt = core::WallTime(std::chrono::seconds(1'795'968'000));

std::string machine_error(std::string_view json) {
  const auto machine = read_machine(json);
  return machine ? "" : machine.error().to_string();
}

std::string holders_error(std::string_view json) {
  const auto holders = read_holders(json);
  return holders ? "" : holders.error().to_string();
}

constexpr std::string_view kTwoGpus = R"({"version":1,"at":"2026-11-29T16:00:00Z","gpus":[
  {"uuid":"GPU-0a","product":"NVIDIA-A100-SXM4-40GB","memoryMiB":40960,"healthy":true,"numa":3,"pcie":"0000:00"},
  {"uuid":"GPU-1b","healthy":false,"mig":true,"instances":[{"profile":"3g.20gb","start":4},{"profile":"1g.5gb"}]}],
  "links":[[1,0,"NV12"]],"nics":[{"name":"mlx5_0","links":["PXB",null]}],"clique":"c5e.7"})";

TEST(MachineJson, ReadsAllFields) {
  const auto machine = read_machine(kTwoGpus);
  ASSERT_TRUE(machine) << machine.error().to_string();
  EXPECT_EQ(machine->source, model::TopologySource::kAgent);
  EXPECT_EQ(machine->at, kAt);
  ASSERT_EQ(machine->gpus.size(), 2U);
  EXPECT_EQ(machine->gpus[0], (model::Gpu{"GPU-0a", "NVIDIA-A100-SXM4-40GB", 40960, true, 3, "0000:00", false, {}}));
  EXPECT_EQ(machine->gpus[1], (model::Gpu{"GPU-1b", "", 0, false, -1, "", true, {{"3g.20gb", 4}, {"1g.5gb", -1}}}));
  ASSERT_TRUE(machine->links);
  EXPECT_EQ(machine->links->at(0, 1), nvlink(12));
  ASSERT_EQ(machine->nics.size(), 1U);
  EXPECT_EQ(machine->nics[0].name, "mlx5_0");
  EXPECT_EQ(machine->nics[0].links[0], Link::kPxb);
  EXPECT_EQ(machine->nics[0].links[1], Link::kSelf);
  EXPECT_EQ(machine->clique, "c5e.7");
}

TEST(MachineJson, WhatIsWrittenIsReadBack) {
  const auto machine = read_machine(kTwoGpus).value();
  const std::string written = write_machine(machine);
  EXPECT_EQ(written,
            R"({"version":1,"at":"2026-11-29T16:00:00.000Z","gpus":[{"healthy":true,"uuid":"GPU-0a",)"
            R"("product":"NVIDIA-A100-SXM4-40GB","pcie":"0000:00","memoryMiB":40960,"numa":3},{"healthy":false,)"
            R"("uuid":"GPU-1b","mig":true,"instances":[{"profile":"3g.20gb","start":4},{"profile":"1g.5gb"}]}],)"
            R"("links":[[0,1,"NV12"]],"nics":[{"name":"mlx5_0","links":["PXB",null]}],"clique":"c5e.7"})");
  EXPECT_EQ(read_machine(written).value(), machine);
}

TEST(MachineJson, MachineWithoutGpus) {
  const auto machine = read_machine(R"({"version":1})");
  ASSERT_TRUE(machine) << machine.error().to_string();
  EXPECT_TRUE(machine->gpus.empty());
  EXPECT_FALSE(machine->links);
  EXPECT_EQ(write_machine(*machine), R"({"version":1,"gpus":[]})");
}

TEST(MachineJson, PassesOverWhatItDoesNotKnow) {
  EXPECT_TRUE(read_machine(R"({"version":1,"power":{"watts":[700]},"gpus":[{"fan":3}]})"));
}

struct WrongCase {
  const char* json;
  const char* error;
};

TEST(MachineJson, WhatIsWrongIsNamedWithItsPlace) {
  const std::string seventeen = [] {
    std::string json = R"({"version":1,"gpus":[{})";
    for (int i = 1; i < 17; ++i) json += ",{}";
    return json + "]}";
  }();
  const WrongCase cases[] = {
      {"[]", "must be an object, not a list"},
      {"{}", "version: is missing"},
      {R"({"version":2})", "version: is not one that this Berth reads; it reads 1"},
      {R"({"version":1,"at":"today"})", "at: \"today\" is not an RFC 3339 time"},
      {R"({"version":1,"gpus":[{},7]})", "gpus[1]: must be an object, not a number"},
      {seventeen.c_str(), "gpus: has 17 items; at most 16 are read"},
      {R"({"version":1,"gpus":[{"numa":128}]})", "gpus[0].numa: must be from 0 to 127"},
      {R"({"version":1,"gpus":[{"healthy":"yes"}]})", "gpus[0].healthy: must be a boolean, not a string"},
      {R"({"version":1,"gpus":[{"instances":[{"start":1}]}]})", "gpus[0].instances[0].profile: is missing"},
      {R"({"version":1,"gpus":[{"instances":[{"profile":"1g.5gb","start":8}]}]})",
       "gpus[0].instances[0].start: must be from 0 to 7"},
      {R"({"version":1,"links":[]})", "links: are of GPUs, and there are none"},
      {R"({"version":1,"gpus":[{},{}],"links":[]})", "links: has 0 of 1 pairs"},
      {R"({"version":1,"gpus":[{},{}],"links":[[0,1]]})", "links[0]: must be two GPUs and their link, [0,1,\"NV18\"]"},
      {R"({"version":1,"gpus":[{},{}],"links":[[0,2,"SYS"]]})", "links[0]: must be from 0 to 1"},
      {R"({"version":1,"gpus":[{},{}],"links":[[1,1,"SYS"]]})", "links[0]: is no pair of GPUs"},
      {R"({"version":1,"gpus":[{},{}],"links":[[0,1,"NV0"]]})",
       "links[0]: must be one of NV1 to NV99, PIX, PXB, PHB, NODE and SYS"},
      {R"({"version":1,"gpus":[{},{},{}],"links":[[0,1,"SYS"],[1,0,"SYS"],[0,2,"SYS"]]})", "links[1]: is given twice"},
      {R"({"version":1,"gpus":[{}],"nics":[{"links":[]}]})", "nics[0].name: is missing"},
      {R"({"version":1,"gpus":[{}],"nics":[{"name":"a","links":["PIX","PIX"]}]})",
       "nics[0].links: has 2 items; at most 1 are read"},
      {R"({"version":1,"gpus":[{}],"gpus":[]})", "gpus: is given twice"},
  };
  for (const WrongCase& wrong : cases) EXPECT_EQ(machine_error(wrong.json), wrong.error) << wrong.json;
  EXPECT_NE(machine_error("{"), "");
  EXPECT_NE(machine_error(""), "");
}

TEST(MachineJson, LongTextsAreRefused) {
  EXPECT_EQ(machine_error(R"({"version":1,"clique":")" + std::string(254, 'c') + R"("})"),
            "clique: is longer than 253 bytes");
  EXPECT_EQ(machine_error(std::string(262'145, ' ')), "is 262145 bytes; 262144 are read");
}

TEST(HoldersJson, ReadsAndSorts) {
  const auto holders = read_holders(R"({"version":1,"at":"2026-11-29T16:00:00Z","pods":[
      {"namespace":"vision","pod":"b","gpus":[3,0]},
      {"namespace":"nlp","pod":"a","slots":[[2,4,4],[1,6,1]]},
      {"namespace":"nlp","pod":"idle"}]})");
  ASSERT_TRUE(holders) << holders.error().to_string();
  EXPECT_EQ(holders->at, kAt);
  EXPECT_THAT(holders->pods, ElementsAre(model::GpuHolder{"nlp", "a", {0, {{1, 6, 1}, {2, 4, 4}}}},
                                         model::GpuHolder{"nlp", "idle", {}},
                                         model::GpuHolder{"vision", "b", {model::mask({0, 3}), {}}}));
  const std::string written = write_holders(*holders);
  EXPECT_EQ(written, R"({"version":1,"at":"2026-11-29T16:00:00.000Z","pods":[)"
                     R"({"namespace":"nlp","pod":"a","slots":[[1,6,1],[2,4,4]]},{"namespace":"nlp","pod":"idle"},)"
                     R"({"namespace":"vision","pod":"b","gpus":[0,3]}]})");
  EXPECT_EQ(read_holders(written).value(), *holders);
}

TEST(HoldersJson, WhatIsWrongIsNamedWithItsPlace) {
  const WrongCase cases[] = {
      {"7", "must be an object, not a number"},
      {R"({"pods":[]})", "version: is missing"},
      {R"({"version":1,"pods":[{"pod":"a"}]})", "pods[0].namespace: is missing"},
      {R"({"version":1,"pods":[{"namespace":"n","pod":"a","gpus":[16]}]})", "pods[0].gpus[0]: must be from 0 to 15"},
      {R"({"version":1,"pods":[{"namespace":"n","pod":"a","gpus":[1,1]}]})", "pods[0].gpus[1]: is given twice"},
      {R"({"version":1,"pods":[{"namespace":"n","pod":"a","slots":[[0,1]]}]})",
       "pods[0].slots[0]: must be GPU, start and size, [0,4,2]"},
      {R"({"version":1,"pods":[{"namespace":"n","pod":"a","slots":[[0,5,4]]}]})",
       "pods[0].slots[0]: ends past the last slice, 7"},
      {R"({"version":1,"pods":[{"namespace":"n","pod":"a"},{"namespace":"n","pod":"a"}]})", "pods: has n/a twice"},
  };
  for (const WrongCase& wrong : cases) EXPECT_EQ(holders_error(wrong.json), wrong.error) << wrong.json;
}

}  // namespace
}  // namespace berth::codec
