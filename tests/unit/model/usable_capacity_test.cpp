#include "berth/model/usable_capacity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace berth::model {
namespace {

constexpr const char* kSmallA100 = "NVIDIA-A100-SXM4-40GB";
constexpr std::int64_t kSmallA100Mib = 40'960;

// What one class can use of the room.
double usable(const RequestClass& request, Room room, const Counting& counting, const char* product = "") {
  const MixTable table(RequestMix{1, {{request, 1.0}}});
  room.product = table.product(product);
  double found = -1;
  table.usable(room, counting, {&found, 1});
  return found;
}

// Two free GPUs, one with 600 and one with 200 thousandths left, and 24 CPU.
Room four_gpus() {
  Room room = empty_room(24'000, 4, 0);
  take_gpus(room, {.gpus = 1, .milli = 400}, mask({2}));
  take_gpus(room, {.gpus = 1, .milli = 800}, mask({3}));
  return room;
}

RequestClass whole(int gpus, std::int64_t cpu_milli) {
  return {.cpu_milli = cpu_milli, .gpus = gpus, .milli = kWholeMilli};
}
RequestClass shared(std::int32_t milli, std::int64_t cpu_milli) {
  return {.cpu_milli = cpu_milli, .gpus = 1, .milli = milli};
}

struct Case {
  const char* name;
  RequestClass request;
  double cpu_weight;
  double want;
};
class UsableCapacity : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Table, UsableCapacity,
                         testing::Values(Case{"the CPU feeds both free GPUs", whole(1, 12'000), 1, 2000},
                                         Case{"it feeds one and a half", whole(1, 16'000), 1, 1500},
                                         Case{"a = 0 does not ask", whole(1, 16'000), 0, 2000},
                                         Case{"a = 0.2 takes a fifth of the loss off", whole(1, 16'000), 0.2, 1900},
                                         Case{"not even one", whole(1, 24'001), 0, 0},
                                         Case{"exactly one", whole(1, 24'000), 1, 1000},
                                         Case{"a pair, fed exactly", whole(2, 24'000), 1, 2000},
                                         Case{"no room for three", whole(3, 0), 1, 0},
                                         Case{"no CPU asked", whole(1, 0), 1, 2000},
                                         Case{"a share can use three of them", shared(500, 4'000), 1, 2600},
                                         Case{"six tenths is enough for itself", shared(600, 4'000), 1, 2600},
                                         Case{"and too little for more", shared(601, 4'000), 1, 2000},
                                         Case{"1.2 shares' CPU for three GPUs", shared(500, 20'000), 1, 1040},
                                         Case{"a small one can use all", shared(200, 1'000), 1, 2800}));

TEST_P(UsableCapacity, IsTheHandWorkedOne) {
  const Case& c = GetParam();
  EXPECT_DOUBLE_EQ(usable(c.request, four_gpus(), {c.cpu_weight, 0}), c.want) << c.name;
}

// Of three GPUs two are free: 2,000 · (2/3)⁴. Of four, half: 2,000 / 16.
TEST(UsableCapacityOf, NodesOfWhichMostIsFreeCountInPart) {
  EXPECT_DOUBLE_EQ(usable(whole(3, 0), four_gpus(), {1, 1}), 2000.0 * 16 / 81);
  EXPECT_DOUBLE_EQ(usable(whole(4, 6'000), four_gpus(), {1, 1}), 125);
  EXPECT_DOUBLE_EQ(usable(whole(4, 6'000), four_gpus(), {1, 0.5}), 62.5);
  EXPECT_DOUBLE_EQ(usable(whole(4, 24'001), four_gpus(), {1, 1}), 0) << "CPU that is short is not forgiven";
  EXPECT_DOUBLE_EQ(usable(whole(2, 24'001), four_gpus(), {1, 1}), 0);
  EXPECT_DOUBLE_EQ(usable(whole(2, 24'000), four_gpus(), {1, 1}), 2000) << "all is there";
  EXPECT_DOUBLE_EQ(usable(whole(5, 0), four_gpus(), {1, 1}), 0) << "the node never has five";
  EXPECT_DOUBLE_EQ(usable(whole(1, 24'001), four_gpus(), {1, 1}), 0) << "one GPU is what it is";
}

TEST(UsableCapacityOf, AProductThatIsNotAllowedIsNothing) {
  RequestClass request = whole(1, 1'000);
  request.products = {"G2", "T4"};
  EXPECT_DOUBLE_EQ(usable(request, four_gpus(), 1, "T4"), 2000);
  EXPECT_DOUBLE_EQ(usable(request, four_gpus(), 1, "P100"), 0);
}

TEST(UsableCapacityOf, ProductsBeyondTheManyShareOne) {
  RequestClass request = whole(1, 0);
  for (int i = 100; i < 200; ++i) request.products.push_back("P" + std::to_string(i));
  EXPECT_DOUBLE_EQ(usable(request, four_gpus(), 1, "P199"), 2000);
  EXPECT_DOUBLE_EQ(usable(request, four_gpus(), 1, "P200"), 0);
}

TEST(UsableCapacityOf, SharesByMemoryCountWhatIsScarcer) {
  // 30,000 of 40,000 MiB are left on the one, all on the other.
  Room room = empty_room(24'000, 2, 0, 40'000);
  take_gpus(room, {.gpus = 1, .milli = 0, .mib = 10'000}, mask({0}));
  EXPECT_DOUBLE_EQ(usable({.gpus = 1, .mib = 30'000}, room, 1), 1750);
  EXPECT_DOUBLE_EQ(usable({.gpus = 1, .mib = 30'001}, room, 1), 1000);
  EXPECT_DOUBLE_EQ(usable({.gpus = 1, .memory_percent = 75}, room, 1), 1750);
  EXPECT_DOUBLE_EQ(usable({.gpus = 1, .memory_percent = 76}, room, 1), 1000);
  // A share by memory alone leaves the time, but the GPU is no longer whole.
  EXPECT_DOUBLE_EQ(usable(whole(1, 0), room, 1), 1000);
  EXPECT_DOUBLE_EQ(usable(shared(900, 0), room, 1), 2000);
  // Half of the time is taken: the scarcer part counts.
  take_gpus(room, {.gpus = 1, .milli = 500}, mask({0}));
  EXPECT_DOUBLE_EQ(usable({.gpus = 1, .milli = 100, .mib = 1}, room, 1), 1500);
}

TEST(UsableCapacityOf, MemoryThatIsNotKnownServesNoShareOfIt) {
  EXPECT_DOUBLE_EQ(usable({.gpus = 1, .mib = 1}, empty_room(1'000, 2, 0), 1), 0);
}

// One GPU of an A100 in MIG mode.
Room partitioned(std::uint8_t used) {
  Room room{.cpu_milli = 24'000, .gpus = 1};
  room.milli[0] = -1;
  room.mig_table[0] = static_cast<std::int8_t>(mig_table_of(kSmallA100, kSmallA100Mib));
  room.used_slices[0] = used;
  return room;
}
RequestClass partition(const char* profile, int count = 1) { return {.gpus = count, .mig = profile}; }

TEST(UsableCapacityOf, PartitionsCountThePlacesLeft) {
  // Slice 0 is taken: six small ones (1/8 of the memory each), 2g at 2 and 4, 3g at 4, 7g nowhere.
  const Room room = partitioned(0b1);
  EXPECT_DOUBLE_EQ(usable(partition("1g.5gb"), room, 1), 750);
  EXPECT_DOUBLE_EQ(usable(partition("2g.10gb"), room, 1), 500);
  EXPECT_DOUBLE_EQ(usable(partition("3g.20gb"), room, 1), 500);
  EXPECT_DOUBLE_EQ(usable(partition("3g.20gb", 2), room, 1), 0) << "partitions are there or not";
  EXPECT_DOUBLE_EQ(usable(partition("7g.40gb"), room, 1), 0);
  EXPECT_DOUBLE_EQ(usable(partition("1g.24gb"), room, 1), 0) << "a profile of another GPU";
  EXPECT_DOUBLE_EQ(usable(shared(100, 0), room, 1), 0) << "no shares of a partitioned GPU";
  EXPECT_EQ(room.free_milli(), 0);
}

TEST(UsableCapacityOf, OnlyPartitionsThatWereMadeCount) {
  Room room = partitioned(0);
  room.made[0] = 0x00050005;  // 3g.20gb, the fifth of its table, at 0 and 4
  EXPECT_DOUBLE_EQ(usable(partition("3g.20gb"), room, 1), 1000);
  EXPECT_DOUBLE_EQ(usable(partition("1g.5gb"), room, 1), 0);
  take_partition(room, partition("3g.20gb"), 0);
  EXPECT_DOUBLE_EQ(usable(partition("3g.20gb"), room, 1), 500);
}

TEST(TakePartition, TakesTheSlotThatKeepsLargerOnesPossible) {
  Room room = partitioned(0);
  take_partition(room, partition("1g.5gb"), 0);
  EXPECT_EQ(room.used_slices[0], 0b1000000) << "a 4g at 0 stays possible";
  EXPECT_EQ(meeting(room, partition("4g.20gb")), mask({0}));
  EXPECT_EQ(meeting(room, partition("7g.40gb")), 0U);
}

TEST(Meeting, SaysWhichGpusDo) {
  EXPECT_EQ(meeting(four_gpus(), whole(1, 0)), mask({0, 1}));
  EXPECT_EQ(meeting(four_gpus(), shared(300, 0)), mask({0, 1, 2}));
}

TEST(UsableCapacityOf, PodsWithoutGpusUseTheCpu) {
  EXPECT_DOUBLE_EQ(usable({.cpu_milli = 24'000}, four_gpus(), 1), 24'000);
  EXPECT_DOUBLE_EQ(usable({.cpu_milli = 24'001}, four_gpus(), 1), 0);
  EXPECT_DOUBLE_EQ(usable({}, Room{.cpu_milli = 4'000}, 1), 4'000);
}

// Many classes in one table are each as alone in one, and the worth is their sum.
TEST(MixTable, GivesEachClassWhatItWouldGetAlone) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::set<RequestClass> classes;
  for (int i = 0; i < 120; ++i) {
    RequestClass request{.cpu_milli = below(4) * 4'000, .gpus = 1 + below(3), .milli = (1 + below(10)) * 100};
    if (below(4) == 0) request = {.cpu_milli = 1'000, .gpus = 1, .milli = 100, .mib = below(20'000)};
    if (below(8) == 0) request = {.cpu_milli = below(90) * 1'000};
    if (below(5) == 0) request.products = {below(2) == 0 ? "A" : "B"};
    classes.insert(request);
  }
  RequestMix mix;
  for (const auto& request : classes) mix.classes.push_back({request, 1.0 / static_cast<double>(classes.size())});
  const MixTable table(mix);
  std::vector<double> prices(table.size());
  for (std::size_t i = 0; i < prices.size(); ++i) prices[i] = 1.0 + static_cast<double>(i);
  for (int round = 0; round < 100; ++round) {
    Room room = empty_room(below(100) * 1'000, 8, table.product("A"), 24'000);
    for (int gpu = 0; gpu < 8; ++gpu) {
      if (below(2) == 0) take_gpus(room, {.gpus = 1, .milli = below(11) * 100, .mib = below(24'000)}, mask({gpu}));
    }
    std::vector<double> all(table.size());
    table.usable(room, 0.5, all);
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_DOUBLE_EQ(all[i], usable(table.request(i), room, 0.5, "A"));
      sum += all[i] * prices[i];
    }
    EXPECT_NEAR(table.worth(room, 0.5, prices), sum, 1e-9 * sum);
  }
}

}  // namespace
}  // namespace berth::model
