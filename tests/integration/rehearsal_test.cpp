// `berth simulate --through-http`: a cluster is played around a Berth that is started for it.
#include "berth/rehearse/rehearsal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/child_process.h"
#include "support/temp_dir.h"

namespace berth::tests {
namespace {

using simulate::size_of;
using ::testing::HasSubstr;

constexpr const char* kNodes = "sn,cpu_milli,memory_mib,gpu,model\n";
constexpr const char* kTasks = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";

simulate::Workload workload(const std::string& nodes, const std::string& tasks) {
  return simulate::read_workload(kNodes + nodes, "nodes", kTasks + tasks, "tasks").value();
}

core::Result<simulate::Replay> rehearse(const simulate::Workload& of, std::uint64_t seed = 1) {
  return rehearse::rehearse(of, {.program = BERTH_BINARY, .inflation = 0}, seed);
}

// A seed whose tasks come in the list's order.
std::uint64_t seed_in_order(const simulate::Workload& of) {
  for (std::uint64_t seed = 1;; ++seed) {
    if (std::ranges::is_sorted(simulate::arrivals(of, 0, seed))) return seed;
  }
}

struct RehearsalOutcome {
  int status;
  std::string output;
  std::string errors;
};

RehearsalOutcome rehearse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {BERTH_BINARY, "simulate"});
  ChildProcess child(arguments);
  RehearsalOutcome outcome;
  outcome.output = child.rest_of_output();
  outcome.errors = child.rest_of_errors();
  outcome.status = child.wait();
  return outcome;
}

// The T4s are just enough for a whole GPU and two halves, the G2s for two whole ones, in whatever order they come.
TEST(ThroughHttp, EveryTaskHasTheGpusThatItMayHave) {
  const TempDir dir;
  const std::string nodes = dir.write("nodes.csv", std::string(kNodes) + "n,64000,262144,2,T4\nm,64000,262144,2,G2\n");
  const std::string tasks =
      dir.write("tasks.csv", std::string(kTasks) +
                                 "a,4000,1024,1,1000,T4\nb,4000,1024,1,500,T4\nc,4000,1024,1,500,T4|P100\n"
                                 "d,4000,1024,2,1000,G2\ne,4000,1024,0,0,\n");
  const RehearsalOutcome outcome = rehearse({"--nodes", nodes, "--tasks", tasks, "--through-http", "--seeds", "1..4",
                                             "--jobs", "2", "--inflation", "0", "--format", "json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto told = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(told["policy"], "berth");
  ASSERT_EQ(told["runs"].size(), 4U);
  EXPECT_EQ(told["mean"]["allocation"]["100"], 100);
  for (const auto& [size, failed] : told["mean"]["failures"]["100"].items()) EXPECT_EQ(failed, 0) << size;
}

// Shares and whole GPUs are two resources to kube-scheduler, and Filter leaves the counting to it: Bind finds out.
TEST(ThroughHttp, WhatBindRefusesIsAFailure) {
  // Asked about one node, and about several.
  for (const std::string& others : {std::string(), std::string("m,64000,262144,1,G2\no,64000,262144,1,G2\n")}) {
    const auto of = workload("n,64000,262144,2,T4\n" + others,
                             "a,4000,1024,1,600,T4\nb,4000,1024,1,600,T4\nc,4000,1024,1,1000,T4\n");
    const auto run = rehearse(of, seed_in_order(of));
    ASSERT_TRUE(run) << run.error().to_string();
    const simulate::Point& last = run->points.back();
    EXPECT_DOUBLE_EQ(last.allocation, others.empty() ? 60 : 30);
    EXPECT_EQ(last.failed[size_of({.gpus = 1, .milli = 1000})], 1);
    EXPECT_EQ(last.failed[size_of({.gpus = 1, .milli = 600})], 0);
  }
}

// Neither CPU nor memory nor a second whole GPU is left for the last three; the fourth is rejected by Filter.
TEST(ThroughHttp, CpuMemoryAndCountsAreCheckedBeforeBerthIsAsked) {
  const auto of = workload("n,8000,8192,1,T4\n",
                           "a,4000,4096,1,1000,\nb,4001,0,0,0,\nc,0,4097,0,0,\nd,0,0,1,1000,\ne,0,0,1,100,\n"
                           "f,4000,4096,0,0,\n");
  const auto run = rehearse(of, seed_in_order(of));
  ASSERT_TRUE(run) << run.error().to_string();
  const simulate::Point& last = run->points.back();
  EXPECT_EQ(last.failed[size_of({})], 2);
  EXPECT_EQ(last.failed[size_of({.gpus = 1, .milli = 1000})], 1);
  EXPECT_EQ(last.failed[size_of({.gpus = 1, .milli = 100})], 1);
}

TEST(ThroughHttp, PairsStayInAnIslandWhereThereAreSome) {
  const auto of = workload("n,64000,262144,8,H100\n",
                           "a,1000,1024,1,1000,\nb,1000,1024,2,1000,\nc,1000,1024,2,1000,\nd,1000,1024,2,1000,\n");
  rehearse::RehearsalSettings settings{.program = BERTH_BINARY, .inflation = 0, .islands = true};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto run = rehearse::rehearse(of, settings, seed);
    ASSERT_TRUE(run) << run.error().to_string();
    EXPECT_EQ(run->points.back().linked, 3);
    EXPECT_EQ(run->points.back().in_island, 3);
  }
}

TEST(ThroughHttp, SaysHowFarItIs) {
  const auto of = workload("n,64000,262144,2,T4\n", "a,1000,1024,1,1000,\nb,1000,1024,0,0,\n");
  std::vector<std::size_t> told;
  rehearse::RehearsalSettings settings{.program = BERTH_BINARY, .inflation = 0};
  settings.progress = [&](std::size_t arrived, std::size_t all) { told.insert(told.end(), {arrived, all}); };
  ASSERT_TRUE(rehearse::rehearse(of, settings, 1));
  EXPECT_EQ(told, (std::vector<std::size_t>{1, 2, 2, 2}));
}

TEST(ThroughHttp, WhatCannotBeShownAsObjectsIsRefused) {
  const std::string task = "a,1000,1024,1,1000,\n";
  EXPECT_THAT(rehearse(workload("Node_1,1000,1024,1,T4\n", task)).error().message, HasSubstr("\"Node_1\""));
  EXPECT_THAT(rehearse(workload("n,1000,1024,1,T4\nn,1000,1024,1,T4\n", task)).error().message, HasSubstr("two nodes"));
  EXPECT_THAT(rehearse(workload("n,1000,1024,2,T4\n", "a,1000,1024,2,500,\n")).error().message,
              HasSubstr("parts of several GPUs"));
}

TEST(ThroughHttp, LogOfABerthThatDoesNotStartIsShown) {
  const TempDir dir;
  const std::string nodes = dir.write("nodes.csv", std::string(kNodes) + "n,64000,262144,2,T4\n");
  const std::string tasks = dir.write("tasks.csv", std::string(kTasks) + "a,1000,1024,1,1000,\n");
  const std::string config = dir.write("berth.yaml", "policy: {weihgts: 1}\n");
  const RehearsalOutcome outcome = rehearse({"--nodes", nodes, "--tasks", tasks, "--through-http", "--config", config});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("berth serve: ended at once"));
  EXPECT_THAT(outcome.errors, HasSubstr("weihgts"));

  const auto none =
      rehearse::rehearse(workload("n,1000,1024,1,T4\n", "a,1000,1024,1,1000,\n"), {.program = dir.path("nothing")}, 1);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("ended at once"));
}

TEST(ThroughHttp, FlagsThatSayNothingWithItAreRefused) {
  const std::vector<std::string> start = {"--nodes", "n", "--tasks", "t", "--through-http"};
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"--policy", "fgd"}, "--policy does not go with --through-http"},
      {{"--departures"}, "--departures does not go with --through-http"},
      {{"--mix-from", "0.2"}, "--mix-from does not go with --through-http"},
      {{"--tilt", "0.5"}, "--config FILE"}};
  for (const auto& [more, says] : cases) {
    std::vector<std::string> arguments = start;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RehearsalOutcome outcome = rehearse(arguments);
    EXPECT_EQ(outcome.status, 2) << more.front();
    EXPECT_THAT(outcome.errors, HasSubstr(says));
    EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1);
  }
  const RehearsalOutcome outcome = rehearse({"--nodes", "n", "--tasks", "t", "--config", "c"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("--through-http"));
}

}  // namespace
}  // namespace berth::tests
