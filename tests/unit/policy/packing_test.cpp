#include "berth/policy/packing.h"

#include <gtest/gtest.h>

#include <cmath>

namespace berth::policy {
namespace {

using model::empty_room;
using model::mask;
using model::MixTable;
using model::RequestClass;
using model::RequestMix;
using model::Room;

RequestClass whole(int gpus, std::int64_t cpu_milli = 1'000) {
  return {.cpu_milli = cpu_milli, .gpus = gpus, .milli = model::kWholeMilli};
}
RequestClass shared(std::int32_t milli, std::int64_t cpu_milli = 1'000) {
  return {.cpu_milli = cpu_milli, .gpus = 1, .milli = milli};
}
RequestClass cpu_only(std::int64_t cpu_milli) { return {.cpu_milli = cpu_milli}; }

std::size_t index_of(const MixTable& mix, const RequestClass& request) {
  for (std::size_t i = 0; i < mix.size(); ++i) {
    if (mix.request(i) == request) return i;
  }
  ADD_FAILURE() << "no such class";
  return 0;
}

// A GPU that is free, one with 600 thousandths left, and more CPU than they need.
Room two_gpus() {
  Room room = empty_room(100'000, 2, 0);
  take_gpus(room, shared(400), mask({1}));
  return room;
}

const RequestMix kHalfShared{1, {{whole(1), 0.5}, {shared(500), 0.5}}};

TEST(PackingWeights, TiltTowardsSmallRequestsAndWeighLargeJobsByTheKnob) {
  const MixTable mix(RequestMix{
      1, {{whole(1), 0.5}, {shared(500), 0.25}, {whole(2), 0.04}, {whole(8), 0.06}, {cpu_only(1'000), 0.15}}});
  const auto weights = packing_weights(mix, {.large_jobs = 2, .tilt = 0.7, .tilt_power = 2});
  // One-GPU classes: P = 0.75; share / size² is 0.5 and 1, 1.5 in all.
  EXPECT_NEAR(weights[index_of(mix, whole(1))], 0.3 * 0.5 + 0.7 * 0.75 * 0.5 / 1.5, 1e-12);
  EXPECT_NEAR(weights[index_of(mix, shared(500))], 0.3 * 0.25 + 0.7 * 0.75 * 1.0 / 1.5, 1e-12);
  EXPECT_NEAR(weights[index_of(mix, whole(2))], 0.08, 1e-12);
  EXPECT_NEAR(weights[index_of(mix, whole(8))], 0.12, 1e-12);
  EXPECT_NEAR(weights[index_of(mix, cpu_only(1'000))], 0.075, 1e-12);
}

TEST(PackingWeights, AreTheSharesWithoutTiltAndKnob) {
  const MixTable mix(RequestMix{1, {{whole(1), 0.5}, {shared(500), 0.3}, {whole(8), 0.2}}});
  const auto weights = packing_weights(mix, {.large_jobs = 1, .tilt = 0});
  for (std::size_t i = 0; i < mix.size(); ++i) EXPECT_DOUBLE_EQ(weights[i], mix.share(i));
}

TEST(PartOfGpu, IsTimeMemoryOrSlices) {
  EXPECT_DOUBLE_EQ(part_of_gpu(shared(250)), 0.25);
  EXPECT_DOUBLE_EQ(part_of_gpu(whole(8)), 1);
  EXPECT_DOUBLE_EQ(part_of_gpu({.gpus = 1, .milli = 100, .mib = 10'000}, 40'000), 0.25);
  EXPECT_DOUBLE_EQ(part_of_gpu({.gpus = 1, .memory_percent = 40}), 0.4);
  EXPECT_DOUBLE_EQ(part_of_gpu({.gpus = 1, .mig = "3g.20gb"}), 0.5);
  EXPECT_DOUBLE_EQ(part_of_gpu(shared(1)), 0.02) << "next to nothing counts as two hundredths";
}

TEST(PackingPrices, RiseAsCapacityRunsOutUpToAFloor) {
  const std::vector<double> weights = {0.5, 0.5, 0.2};
  const std::vector<double> usable = {100'000, 10'000, 0};
  std::vector<double> prices(3);
  packing_prices(weights, usable, 0.005, 1'000'000, prices);
  EXPECT_DOUBLE_EQ(prices[0], 0.5 / 100'000);
  EXPECT_DOUBLE_EQ(prices[1], 0.5 / 10'000);
  EXPECT_DOUBLE_EQ(prices[2], 0.2 / 5'000);
}

TEST(PlaceCheapest, PutsAShareWhereItTakesTheLeastFromOthers) {
  const MixTable mix(kHalfShared);
  const std::vector<double> prices = {1, 1};
  const Valuation valuation{mix, prices};
  // 1,000 for whole GPUs and 1,600 for shares.
  const double worth = valuation.worth(two_gpus());
  EXPECT_DOUBLE_EQ(worth, 2600);
  const auto placed = place_cheapest(valuation, two_gpus(), worth, shared(500));
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->gpus, mask({1}));
  EXPECT_DOUBLE_EQ(placed->cost, 600);  // on GPU 0: 1,000 and 500
  EXPECT_EQ(placed->after.milli[1], 100);
  EXPECT_EQ(placed->after.cpu_milli, 99'000);
}

TEST(PlaceCheapest, TakesTheGivenWholeGpusElseTheLowest) {
  const MixTable mix(kHalfShared);
  const std::vector<double> prices = {1, 1};
  const Valuation valuation{mix, prices};
  const Room room = empty_room(100'000, 4, 0);
  const double worth = valuation.worth(room);
  EXPECT_EQ(place_cheapest(valuation, room, worth, whole(2))->gpus, mask({0, 1}));
  EXPECT_EQ(place_cheapest(valuation, room, worth, whole(2), mask({2, 3}))->gpus, mask({2, 3}));
  EXPECT_DOUBLE_EQ(place_cheapest(valuation, room, worth, whole(2))->cost, 4000);
  EXPECT_FALSE(place_cheapest(valuation, room, worth, whole(5)));
  EXPECT_FALSE(place_cheapest(valuation, two_gpus(), worth, whole(1), mask({1})));
}

TEST(PlaceCheapest, ChargesCpuThatGpusNeed) {
  const MixTable mix(RequestMix{1, {{whole(1, 12'000), 1.0}}});
  const std::vector<double> prices = {1};
  const Valuation valuation{mix, prices};
  const Room room = empty_room(36'000, 2, 0);
  // 36 CPU feed three tasks; 12 fewer still two; 24 fewer one, on two free GPUs half of them.
  const double worth = valuation.worth(room);
  EXPECT_DOUBLE_EQ(place_cheapest(valuation, room, worth, cpu_only(12'000))->cost, 0);
  EXPECT_DOUBLE_EQ(place_cheapest(valuation, room, worth, cpu_only(24'000))->cost, 1000);
  EXPECT_DOUBLE_EQ(place_cheapest(valuation, room, worth, cpu_only(25'000))->cost, 2000);
  EXPECT_FALSE(place_cheapest(valuation, room, worth, cpu_only(36'001)));
}

// Free CPU that is enough for pods without GPUs is worth something to them, the same for each.
TEST(PlaceCheapest, ChargesCpuThatPodsWithoutGpusNeed) {
  const MixTable mix(RequestMix{1, {{cpu_only(8'000), 1.0}}});
  const std::vector<double> prices = {1};
  const Valuation valuation{mix, prices};
  const Room room = empty_room(36'000, 2, 0);
  const double worth = valuation.worth(room);
  EXPECT_DOUBLE_EQ(place_cheapest(valuation, room, worth, whole(1, 28'000))->cost, 28'000);
  EXPECT_DOUBLE_EQ(place_cheapest(valuation, room, worth, whole(1, 28'001))->cost, 36'000);
}

TEST(PlaceCheapest, PutsSharesOfOnePodOnDifferentGpus) {
  const MixTable mix(kHalfShared);
  const std::vector<double> prices = {1, 1};
  const Valuation valuation{mix, prices};
  const RequestClass pair{.cpu_milli = 1'000, .gpus = 2, .milli = 200};
  const auto placed = place_cheapest(valuation, two_gpus(), valuation.worth(two_gpus()), pair);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->gpus, mask({0, 1}));
  EXPECT_FALSE(place_cheapest(valuation, two_gpus(), 0, {.gpus = 2, .milli = 601}));
}

TEST(PlaceCheapest, PutsPartitionsWhereLargerOnesStayPossible) {
  const RequestClass small{.gpus = 1, .mig = "1g.5gb"};
  const RequestClass large{.gpus = 1, .mig = "7g.40gb"};
  const MixTable mix(RequestMix{1, {{small, 0.5}, {large, 0.5}}});
  const std::vector<double> prices = {1, 1};
  const Valuation valuation{mix, prices};
  Room room{.gpus = 2};
  for (const std::size_t gpu : {0U, 1U}) {
    room.milli[gpu] = -1;
    room.mig_table[gpu] = static_cast<std::int8_t>(model::mig_table_of("NVIDIA-A100-SXM4-40GB", 40'960));
  }
  room.used_slices[1] = 0b1000000;
  const auto placed = place_cheapest(valuation, room, valuation.worth(room), {.gpus = 2, .mig = "1g.5gb"});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->gpus, mask({1}));
  EXPECT_DOUBLE_EQ(placed->cost, 250);
  EXPECT_EQ(std::popcount(placed->after.used_slices[1]), 3);
}

TEST(FgdPrices, AreTheSharesOfTheMostFrequentThatMakeUp95PerCent) {
  const RequestMix counted{1, {{whole(1), 0.5}, {cpu_only(1'000), 0.3}, {shared(500), 0.16}, {whole(8), 0.04}}};
  const MixTable mix(counted);
  const FgdPrices fgd = fgd_prices(mix, counted);
  EXPECT_NEAR(fgd.prices[index_of(mix, whole(1))], 0.5 / 0.96, 1e-12);
  EXPECT_NEAR(fgd.prices[index_of(mix, shared(500))], 0.16 / 0.96, 1e-12);
  EXPECT_EQ(fgd.prices[index_of(mix, whole(8))], 0);
  EXPECT_NEAR(fgd.cpu_only, 0.3 / 0.96, 1e-12);
}

TEST(PlaceFgd, ScoresAsPublished) {
  // F = 0.5 · 600 before: the partly used GPU is no use to half of the requests. A share of 500 there leaves F = 0.5 ·
  // 100 + 0.5 · 100: 100 · sigmoid(0.2) = 54.98. On GPU 0 it leaves F = 0.5 · 1,100: 100 · sigmoid(-0.25) = 43.8.
  const MixTable mix(kHalfShared);
  const FgdPrices fgd = fgd_prices(mix, kHalfShared);
  const Valuation valuation{mix, fgd.prices, kFgdCounting};
  const double worth = valuation.worth(two_gpus());
  EXPECT_DOUBLE_EQ(static_cast<double>(two_gpus().free_milli()) - worth, 300);
  const auto placed = place_fgd(valuation, two_gpus(), worth, shared(500));
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->gpus, mask({1}));
  EXPECT_EQ(fgd_score(500, placed->cost), 54);
  const auto other = place_cheapest(valuation, two_gpus(), worth, whole(1), mask({0}));
  // All of GPU 0: F = 0.5 · 600 stays, sigmoid(0).
  EXPECT_EQ(fgd_score(1000, other->cost), 50);
}

TEST(PlaceFgd, TakesTheFirstGpuOfEqualScores) {
  const MixTable mix(kHalfShared);
  const FgdPrices fgd = fgd_prices(mix, kHalfShared);
  const Valuation valuation{mix, fgd.prices, kFgdCounting};
  // 510 and 500 left: F falls by 250 and 255, which are one level.
  Room room = empty_room(100'000, 2, 0);
  take_gpus(room, shared(490), mask({0}));
  take_gpus(room, shared(500), mask({1}));
  const double worth = valuation.worth(room);
  EXPECT_EQ(place_fgd(valuation, room, worth, shared(500))->gpus, mask({0}));
  EXPECT_EQ(place_cheapest(valuation, room, worth, shared(500))->gpus, mask({1}));
}

}  // namespace
}  // namespace berth::policy
