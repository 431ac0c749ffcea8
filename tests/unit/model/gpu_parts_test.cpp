#include "berth/model/gpu_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/model/part_placement.h"

namespace berth::model {
namespace {

constexpr const char* kA100 = "NVIDIA-A100-SXM4-40GB";
constexpr std::int64_t kA100Mib = 40'960;

struct ProfilesCase {
  const char* product;
  std::int64_t memory_mib;
  std::vector<std::string> names;  // those of 1g, the wide 1g, 2g, 3g, 4g, 7g
};
class MigProfiles : public testing::TestWithParam<ProfilesCase> {};
// NVIDIA's MIG user guide, "Supported MIG profiles".
INSTANTIATE_TEST_SUITE_P(
    Table, MigProfiles,
    testing::Values(
        ProfilesCase{kA100, kA100Mib, {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"}},
        ProfilesCase{kA100, 39'538, {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"}},
        ProfilesCase{
            "NVIDIA-A100-SXM4-80GB", 81'920, {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}},
        ProfilesCase{
            "NVIDIA-H100-80GB-HBM3", 81'559, {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}},
        ProfilesCase{"NVIDIA-H200", 143'771, {"1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"}},
        ProfilesCase{"NVIDIA-B200", 183'359, {"1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"}}));

TEST_P(MigProfiles, SlicesAndPlacesAreTheSameWhateverTheNames) {
  const auto profiles = mig_profiles(GetParam().product, GetParam().memory_mib);
  using Starts = std::vector<std::int8_t>;
  const std::vector<std::pair<int, Starts>> want = {
      {1, {0, 1, 2, 3, 4, 5, 6}}, {2, {0, 2, 4, 6}}, {2, {0, 2, 4}}, {4, {0, 4}}, {4, {0}}, {8, {0}}};
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto found = std::ranges::find(profiles, GetParam().names[i], &MigProfile::name);
    ASSERT_NE(found, profiles.end()) << GetParam().names[i];
    EXPECT_EQ(found->size, want[i].first) << found->name;
    EXPECT_EQ(Starts(found->starts.begin(), found->starts.end()), want[i].second) << found->name;
  }
}

TEST(MigProfilesOf, AnA30HasFourSlices) {
  const auto profiles = mig_profiles("NVIDIA-A30", 24'576);
  EXPECT_EQ(mig_size(profiles, "1g.6gb"), 1);
  EXPECT_EQ(mig_size(profiles, "2g.12gb"), 2);
  EXPECT_EQ(mig_size(profiles, "4g.24gb"), 4);
  EXPECT_EQ(best_mig_start(profiles, "1g.6gb", 0), 3);
  EXPECT_EQ(best_mig_start(profiles, "2g.12gb", 0b1000), 0);
  EXPECT_EQ(best_mig_start(profiles, "4g.24gb", 0b1000), std::nullopt);
}

TEST(MigProfilesOf, GpusThatCantBePartitionedHaveNone) {
  EXPECT_TRUE(mig_profiles("Tesla-V100-SXM2-32GB", 32'768).empty());
  EXPECT_TRUE(mig_profiles("", 81'920).empty());
  EXPECT_TRUE(mig_profiles("NVIDIA-A100-SXM4-80GB", 0).empty()) << "40 or 80 GiB?";
}

struct StartCase {
  const char* profile;
  std::uint8_t used;
  std::optional<int> want;
};
class BestMigStart : public testing::TestWithParam<StartCase> {};
// HAMi#2831, HAMi#2750: small partitions in the low slices make the large ones impossible. A 1g in slices 0 to 3 costs
// the 4g, one in 4 to 6 a 3g; in slice 6 it costs one of the wide 1g, in 4 or 5 a 2g as well.
INSTANTIATE_TEST_SUITE_P(Table, BestMigStart,
                         testing::Values(StartCase{"1g.5gb", 0b00000000, 6}, StartCase{"1g.5gb", 0b01000000, 5},
                                         StartCase{"1g.5gb", 0b01100000, 4}, StartCase{"1g.5gb", 0b01110000, 3},
                                         StartCase{"1g.5gb", 0b01110111, 3}, StartCase{"1g.5gb", 0b01111111, {}},
                                         StartCase{"1g.10gb", 0b00000000, 6}, StartCase{"2g.10gb", 0b00000000, 4},
                                         StartCase{"2g.10gb", 0b01000000, 4}, StartCase{"2g.10gb", 0b00110000, 2},
                                         StartCase{"3g.20gb", 0b00000000, 4}, StartCase{"3g.20gb", 0b01000000, 0},
                                         StartCase{"4g.20gb", 0b11110000, 0}, StartCase{"4g.20gb", 0b00000001, {}},
                                         StartCase{"7g.40gb", 0b00000000, 0}, StartCase{"7g.40gb", 0b01000000, {}},
                                         StartCase{"9g.90gb", 0b00000000, {}}));

TEST_P(BestMigStart, KeepsTheLargerProfilesPossible) {
  const auto start = best_mig_start(mig_profiles(kA100, kA100Mib), GetParam().profile, GetParam().used);
  EXPECT_EQ(start ? std::optional<int>(*start) : std::nullopt, GetParam().want) << GetParam().profile;
}

TEST(MigSize, OfAnUnknownGpuFollowsTheName) {
  EXPECT_EQ(mig_size({}, "1g.99gb"), 1);
  EXPECT_EQ(mig_size({}, "2g.99gb"), 2);
  EXPECT_EQ(mig_size({}, "3g.99gb"), 4);
  EXPECT_EQ(mig_size({}, "4g.99gb"), 4);
  EXPECT_EQ(mig_size({}, "7g.99gb"), 8);
  EXPECT_EQ(mig_size({}, "8g.99gb"), 0);
  EXPECT_EQ(mig_size({}, "1"), 0);
  EXPECT_EQ(mig_size({}, ""), 0);
}

Gpu partitioned(std::vector<MigInstance> instances = {}) {
  Gpu gpu;
  gpu.product = kA100;
  gpu.memory_mib = kA100Mib;
  gpu.mig = true;
  gpu.instances = std::move(instances);
  return gpu;
}
Machine machine_of(std::vector<Gpu> gpus) {
  Machine machine;
  machine.gpus = std::move(gpus);
  return machine;
}
std::vector<GpuUse> unused(const Machine& machine) {
  std::vector<GpuUse> uses;
  for (const Gpu& gpu : machine.gpus) uses.push_back({.memory_mib = gpu.memory_mib, .mig = gpu.mig});
  return uses;
}
std::vector<MigSlot> slots_of(const std::optional<PartPlacement>& placed) {
  return placed ? std::vector<MigSlot>(placed->taken().begin(), placed->taken().end()) : std::vector<MigSlot>();
}

TEST(PlaceParts, APartitionGoesWhereTheMostAre) {
  const Machine machine = machine_of({partitioned(), partitioned()});
  auto uses = unused(machine);
  uses[1].used_slices = 0b01000000;
  EXPECT_EQ(slots_of(place_parts({.mig = {{"1g.5gb", 1}}}, uses, &machine, nullptr)),
            (std::vector<MigSlot>{{1, 5, 1}}));
  EXPECT_EQ(slots_of(place_parts({.mig = {{"4g.20gb", 1}, {"7g.40gb", 1}}}, uses, &machine, nullptr)),
            (std::vector<MigSlot>{{0, 0, 8}, {1, 0, 4}}));
  EXPECT_FALSE(place_parts({.mig = {{"7g.40gb", 2}}}, uses, &machine, nullptr));
}

TEST(PlaceParts, PartitionsThatExistAreTakenAsTheyAre) {
  const Machine machine = machine_of({partitioned({{"3g.20gb", 0}, {"1g.5gb", 5}, {"1g.5gb", 4}})});
  auto uses = unused(machine);
  EXPECT_EQ(slots_of(place_parts({.mig = {{"1g.5gb", 2}}}, uses, &machine, nullptr)),
            (std::vector<MigSlot>{{0, 4, 1}, {0, 5, 1}}));
  EXPECT_FALSE(place_parts({.mig = {{"1g.5gb", 3}}}, uses, &machine, nullptr)) << "nobody makes a third";
  uses[0].used_slices = 0b00001111;
  EXPECT_FALSE(place_parts({.mig = {{"3g.20gb", 1}}}, uses, &machine, nullptr));
}

// The driver lays them out by itself; only their sizes are known.
TEST(PlaceParts, PartitionsWhoseStartNobodyTellsAreLaidOutTheLargestFirst) {
  EXPECT_EQ(mig_layout(partitioned({{"1g.5gb", -1}, {"4g.20gb", -1}, {"2g.10gb", -1}}), 0),
            (std::vector<MigSlot>{{0, 6, 1}, {0, 0, 4}, {0, 4, 2}}));
}

std::vector<GpuUse> of_memory(std::vector<std::int64_t> mib) {
  std::vector<GpuUse> uses;
  for (const std::int64_t each : mib) uses.push_back({.memory_mib = each});
  return uses;
}
GpuMask share_on(const std::vector<GpuUse>& uses, const GpuParts& parts, const GpuShape* shape = nullptr) {
  const auto placed = place_parts(parts, uses, nullptr, shape);
  return placed ? placed->gpus : 0;
}

TEST(PlaceParts, AShareGoesToTheTightestGpu) {
  auto uses = of_memory({40'000, 40'000, 40'000});
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 10'000}), mask({0}));
  uses[1].used_mib = 10'000;
  uses[2].used_mib = 20'000;
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 10'000}), mask({2}));
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 25'000}), mask({1}));
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 35'000}), mask({0})) << "a fresh one only where no other will do";
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 45'000}), 0U);
}

TEST(PlaceParts, TheScarcerOfTimeAndMemoryDecides) {
  auto uses = of_memory({40'000, 40'000});
  uses[0].used_milli = 900;
  uses[1].used_mib = 30'000;
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 1'000, .milli = 100}), mask({0}));
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 1'000, .milli = 101}), mask({1}));
  EXPECT_EQ(share_on(uses, {.gpus = 1, .milli = 200}), mask({1}));
}

// gpushare#219: "mixed cards are miscounted, several GPUs for one pod are impossible".
TEST(PlaceParts, EachGpuHasTheMemoryThatItHas) {
  const auto uses = of_memory({16'000, 24'000, 16'000});
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 20'000}), mask({1}));
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 10'000}), mask({0})) << "tighter than on the larger one";
  EXPECT_EQ(share_on(uses, {.gpus = 3, .mib = 10'000}), mask({0, 1, 2}));
  EXPECT_EQ(share_on(uses, {.gpus = 2, .mib = 20'000}), 0U);
  EXPECT_EQ(share_mib({.gpus = 1, .memory_percent = 50}, 24'000), 12'000);
}

TEST(PlaceParts, MemoryThatIsNotKnownHoldsNoShareOfIt) {
  const auto uses = of_memory({0});
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 1}), 0U);
  EXPECT_EQ(share_on(uses, {.gpus = 1, .memory_percent = 1}), 0U);
  EXPECT_EQ(share_on(uses, {.gpus = 1, .milli = 1}), mask({0}));
}

// k8s-device-plugin#2038: "one dead GPU blocks the node".
TEST(PlaceParts, UnhealthyAndPartitionedGpusAreLeftOut) {
  auto uses = of_memory({40'000, 40'000, 40'000});
  uses[0].healthy = false;
  uses[1].mig = true;
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 1}), mask({2}));
}

TEST(PlaceParts, AFreshGpuIsTheOneThatLeavesTheBestSets) {
  // Eight GPUs, all linked alike, on NUMA nodes 0-3 and 4-7: GPU 0 is held, so that 1 to 3 are broken up already.
  const auto shape = find_shape("NVIDIA-H100-80GB-HBM3", 8);
  auto uses = of_memory({80'000, 80'000, 80'000, 80'000, 80'000, 80'000, 80'000, 80'000});
  count_whole(uses[0]);
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 1'000}, shape.get()), mask({1}));
  uses = of_memory({80'000, 80'000, 80'000, 80'000, 80'000, 80'000, 80'000, 80'000});
  count_whole(uses[7]);
  EXPECT_EQ(share_on(uses, {.gpus = 1, .mib = 1'000}, shape.get()), mask({4}));
}

TEST(CountParts, TakesBackWhatItCounted) {
  const Machine machine = machine_of({partitioned(), {}});
  auto uses = unused(machine);
  uses[1].memory_mib = 1'000;
  const auto before = uses;
  const GpuParts parts{.gpus = 1, .memory_percent = 33, .milli = 250, .mig = {{"2g.10gb", 1}}};
  const GpuPlacement placement{mask({1}), {{0, 4, 2}}};
  count_parts(parts, placement, uses);
  EXPECT_EQ(uses[0].used_slices, 0b00110000);
  EXPECT_EQ(uses[1].used_mib, 330);
  EXPECT_EQ(uses[1].used_milli, 250);
  count_parts(parts, placement, uses, -1);
  EXPECT_EQ(uses, before);
}

}  // namespace
}  // namespace berth::model
