#include "berth/simulate/departures.h"

#include <gtest/gtest.h>

#include "fixture.h"

namespace berth::simulate {
namespace {

constexpr std::size_t kOneGpu = 2;

// One GPU, every task of 100 s, GPU time asked for as much as there is: who comes while it is in use waits for its end,
// so that the wait of each follows from the one before it, and with random arrivals it is never negative and some wait.
TEST(Departures, TasksWaitForThoseBeforeThem) {
  const Workload w = workload("a,64000,100000,1,G\n", "t,1000,1,1,1000,,0,100\n");
  const auto run = run_departures(w, {.load = 0.9, .arrivals = 1000}, 3);
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->tasks[kOneGpu], 800) << "the first fifth is not measured";
  EXPECT_GT(run->mean_wait_s[kOneGpu], 0);
  EXPECT_LT(run->allocation, 100);
  EXPECT_GT(run->allocation, 70);
}

TEST(Departures, NobodyWaitsWhereThereIsRoom) {
  const Workload w = workload("a,64000,100000,8,G\n", "t,1000,1,1,1000,,0,100\n");
  const auto run = run_departures(w, {.load = 0.05, .arrivals = 500}, 1);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->mean_wait_s[kOneGpu], 0);
  EXPECT_NEAR(run->allocation, 5, 1.5);
}

// Tasks of 2 GPUs on a node of 2 are overtaken by those of 1 while these keep coming, but all start in the end.
TEST(Departures, LaterTasksMayOvertakeAndAllStart) {
  const Workload w = workload("a,64000,100000,2,G\n", "t,1000,1,1,1000,,0,100\nu,1000,1,2,1000,,0,100\n");
  const auto run = run_departures(w, {.load = 0.95, .arrivals = 2000}, 1);
  ASSERT_TRUE(run);
  EXPECT_GT(run->mean_wait_s[kOneGpu + 1], 2 * run->mean_wait_s[kOneGpu]);
  EXPECT_EQ(run->tasks[kOneGpu] + run->tasks[kOneGpu + 1], 1600);
}

TEST(Departures, LargeTasksAreDrawnMoreOften) {
  const Workload w = workload("a,64000,100000,8,G\n", "t,1000,1,1,1000,,0,100\nu,1000,1,8,1000,,0,100\n");
  const auto run = run_departures(w, {.load = 0.1, .arrivals = 5000, .large_weight = 3, .dropped = 0}, 1);
  ASSERT_TRUE(run);
  EXPECT_NEAR(static_cast<double>(run->tasks[kOneGpu + 7]), 3750, 150);
}

// Nine of ten run 10 s; the tenth, of 1,000 s, is cut to what the 90th percentile is: no wait is longer than that.
TEST(Departures, LongLifetimesAreCut) {
  std::string tasks = "long,1000,1,1,1000,,0,1000\n";
  for (int i = 0; i < 9; ++i) tasks += "t" + std::to_string(i) + ",1000,1,1,1000,,0,10\n";
  const Workload w = workload("a,64000,100000,1,G\n", tasks);
  const auto run = run_departures(w, {.load = 0.5, .arrivals = 2000, .longest_quantile = 0.9}, 1);
  ASSERT_TRUE(run);
  EXPECT_LT(run->longest_wait_s[kOneGpu], 200);
}

TEST(Departures, PoliciesSeeTheSameTasks) {
  const Workload w = workload("a,64000,100000,8,G\nb,32000,50000,4,G\n",
                              "t,1000,1,1,1000,,0,70\nu,1000,1,8,1000,,0,100\nv,1000,1,1,300,,0,50\n");
  const auto one = run_departures(w, {.chooser = {PolicyName::kBestFit}, .arrivals = 300}, 5);
  const auto other = run_departures(w, {.chooser = {PolicyName::kBerth}, .arrivals = 300}, 5);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->tasks, other->tasks);
}

TEST(Departures, NeedLifetimesOfTasksThatFit) {
  EXPECT_FALSE(run_departures(workload("a,64000,100000,1,G\n", "t,1000,1,1,1000,,,\n"), {}, 1));
  EXPECT_FALSE(run_departures(workload("a,64000,100000,1,G\n", "t,1000,1,2,1000,,0,10\n"), {}, 1));
  EXPECT_FALSE(run_departures(workload("a,64000,100000,1,G\n", "t,1000,1,1,1000,,5,5\n"), {}, 1));
}

// Differences 1, 2, 3: mean 2, sd 1, t(2) = 4.303; 4.303 / √3 = 2.484.
TEST(PairedDifference, HasStudentsInterval) {
  const std::vector<double> a = {11, 12, 13};
  const std::vector<double> b = {10, 10, 10};
  const Difference found = paired_difference(a, b);
  EXPECT_DOUBLE_EQ(found.mean, 2);
  EXPECT_NEAR(found.half_width, 2.484, 0.001);
  EXPECT_TRUE(std::isinf(paired_difference({a.data(), 1}, {b.data(), 1}).half_width));
}

}  // namespace
}  // namespace berth::simulate
