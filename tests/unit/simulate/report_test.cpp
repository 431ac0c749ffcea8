#include "berth/simulate/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fixture.h"

namespace berth::simulate {
namespace {

using testing::HasSubstr;

Workload small() { return workload("a,64000,100000,2,G\n", "a,1,1,1,1000,,,\nb,1,1,0,0,,,\n"); }

// Two runs that know 0, 50 and 100 per cent, the second not so far.
PolicyReplays two_runs() {
  Point half{.tasks = 1, .allocation = 50, .fragmentation = 1, .unusable = 2};
  Point full{.tasks = 2, .allocation = 90, .fragmentation = 10, .unusable = 100};
  full.failed[2] = 3;
  PolicyReplays policy{PolicyName::kFgd, {{1, std::vector<Point>(101)}, {2, std::vector<Point>(51)}}};
  policy.runs[0].points[50] = half;
  policy.runs[0].points[100] = full;
  half.allocation = 48;
  policy.runs[1].points[50] = half;
  return policy;
}

TEST(Spread, IsThePopulations) {
  const std::vector<double> values = {1, 3};
  EXPECT_DOUBLE_EQ(spread(values).mean, 2);
  EXPECT_DOUBLE_EQ(spread(values).sd, 1);
  EXPECT_EQ(spread({}).runs, 0);
}

TEST(ReplayJson, IsKeyedByPerCentOfDemandArrived) {
  const auto json = nlohmann::json::parse(replay_json(small(), std::vector{two_runs()}, false));
  EXPECT_EQ(json["policy"], "fgd");
  // Half of the tasks, those without GPUs, can use nothing of 2,000 thousandths.
  EXPECT_EQ(json["cluster"],
            (nlohmann::json{{"nodes", 1}, {"gpus", 2}, {"tasks", 2}, {"empty_fragmentation_milli", 1000.0}}));
  EXPECT_EQ(json["runs"].size(), 2U);
  EXPECT_EQ(json["runs"][0]["seed"], 1);
  EXPECT_EQ(json["runs"][0]["allocation"], (nlohmann::json{{"50", 50}, {"100", 90}}));
  EXPECT_EQ(json["runs"][0]["failures"]["100"], (nlohmann::json{{"cpu", 0}, {"1", 3}}));
  EXPECT_EQ(json["mean"]["allocation"], (nlohmann::json{{"50", 49}, {"100", 90}}));
  EXPECT_EQ(json["sd"]["allocation"], (nlohmann::json{{"50", 1}, {"100", 0}}));
  EXPECT_EQ(json["mean"]["failures"]["100"]["1"], 3);
  EXPECT_EQ(json["mean"]["unusable"]["50"], 2);
  EXPECT_FALSE(json["runs"][0].contains("islands"));
}

TEST(ReplayJson, OfSeveralPoliciesIsAList) {
  const auto json = nlohmann::json::parse(replay_json(small(), std::vector{two_runs(), two_runs()}, true));
  EXPECT_EQ(json["policies"].size(), 2U);
  EXPECT_EQ(json["policies"][1]["runs"][0]["islands"]["50"], (nlohmann::json{{"tasks", 0}, {"inside", 0}}));
}

TEST(ReplayTable, ShowsMeansBesideTheirSpread) {
  const std::string table = replay_table(small(), std::vector{two_runs()}, false);
  EXPECT_THAT(table, HasSubstr("1 nodes, 2 GPUs; a list of 2 tasks; 2 runs"));
  EXPECT_THAT(table, HasSubstr("49.00 ±1.00"));
  EXPECT_THAT(table, HasSubstr("90.00"));
}

TEST(AllocationPlot, IsAPictureWithALineForEachPolicy) {
  const std::string svg = allocation_plot(std::vector{two_runs()}, "a <list> & more");
  EXPECT_THAT(svg, testing::StartsWith("<svg "));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("a &lt;list&gt; &amp; more"));
  EXPECT_THAT(svg, HasSubstr("fgd 90.0"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(AllocationPlot, OfNothingIsStillAPicture) {
  const std::string svg = allocation_plot(std::vector{PolicyReplays{PolicyName::kFgd, {{1, {}}}}}, "");
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

std::vector<PolicyDepartures> two_policies() {
  std::vector<PolicyDepartures> policies(2);
  policies[0].policy = PolicyName::kBestFit;
  policies[1].policy = PolicyName::kBerth;
  for (int seed = 1; seed <= 3; ++seed) {
    DepartureRun run{.seed = static_cast<std::uint64_t>(seed), .allocation = 90};
    run.tasks[9] = 10;
    run.mean_wait_s[9] = 100;
    policies[0].runs.push_back(run);
    run.mean_wait_s[9] = 100 - seed;
    policies[1].runs.push_back(run);
  }
  return policies;
}

// -1, -2, -3: mean -2, half-width 2.484.
TEST(Departures, AreComparedPairByPair) {
  EXPECT_THAT(departures_table(two_policies()), HasSubstr("berth - bestfit, 8: -2 (-4 to 0)"));
  const auto json = nlohmann::json::parse(departures_json(two_policies()));
  EXPECT_EQ(json["policies"][1]["runs"][2]["mean_wait_seconds"]["8"], 97);
  EXPECT_EQ(json["policies"][1]["mean"]["mean_wait_seconds"]["8"], 98);
  ASSERT_EQ(json["differences"].size(), 1U);
  EXPECT_EQ(json["differences"][0]["seconds"], -2);
  EXPECT_NEAR(json["differences"][0]["interval"][0], -4.484, 0.001);
}

TEST(Departures, OfOnePolicyIsOneObject) {
  const auto policies = two_policies();
  const auto json = nlohmann::json::parse(departures_json(std::span(policies).first(1)));
  EXPECT_EQ(json["policy"], "bestfit");
}

}  // namespace
}  // namespace berth::simulate
