#include "berth/model/packing_view.h"

#include <gtest/gtest.h>

#include "berth/model/part_placement.h"
#include "support/snapshot_builder.h"

namespace berth::model {
namespace {

using tests::SnapshotBuilder;

RequestClass wants_gpus(int gpus, std::int64_t cpu_milli = 0) {
  return {.cpu_milli = cpu_milli, .gpus = gpus, .milli = kWholeMilli};
}

Room room(const SnapshotBuilder& cluster) {
  const auto snapshot = cluster.build();
  const NodeState& state = snapshot->at(0);
  return room_of(state, Promised::by(state), state.uses.get(), snapshot->packing->mix);
}

TEST(RequestClassOf, IsThatOfTheScarcestPart) {
  EXPECT_EQ(request_class(2, {}, 4'000), wants_gpus(2, 4'000));
  EXPECT_EQ(request_class(1, {.gpus = 1, .mib = 5, .milli = 100}, 0), wants_gpus(1)) << "a share beside a whole GPU";
  const RequestClass share{.gpus = 1, .milli = 300, .mib = 5'000};
  EXPECT_EQ(request_class(0, {.gpus = 1, .mib = 5'000, .memory_percent = 9, .milli = 300}, 0), share);
  const RequestClass partitions{.gpus = 2, .mig = "3g.20gb"};
  EXPECT_EQ(request_class(0, {.mig = {{"1g.5gb", 4}, {"3g.20gb", 2}}}, 0), partitions);
  const RequestClass all_time{.gpus = 1, .milli = kWholeMilli - 1};
  EXPECT_EQ(request_class(0, {.gpus = 1, .milli = kWholeMilli}, 0), all_time) << "not a whole one";
  EXPECT_EQ(request_class(0, {}, 500), (RequestClass{.cpu_milli = 500}));
  EXPECT_EQ(request_class(1, {}, 0, {"b", "a"}).products, (std::vector<std::string>{"a", "b"}));
}

TEST(DefaultMix, AddsUpToOne) {
  double sum = 0;
  for (const RequestShare& one : default_mix().classes) sum += one.share;
  EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(RoomOf, HasTheFreeGpusAndTheFreeCpu) {
  const Room found = room(SnapshotBuilder().node("n", 8, 3).cpu(64'000, 40'000));
  EXPECT_EQ(found.cpu_milli, 40'000);
  EXPECT_EQ(found.gpus, 8);
  EXPECT_EQ(found.whole, mask({3, 4, 5, 6, 7}));
  EXPECT_EQ(found.milli[2], 0);
  EXPECT_EQ(found.milli[3], 1000);
  EXPECT_EQ(found.mib[3], 81'559);
  EXPECT_EQ(found.free_milli(), 5000);
}

// Whoever was promised GPUs without saying which gets the best ones: of a DGX-1 the first quad.
TEST(RoomOf, LeavesOutWhatIsPromised) {
  SnapshotBuilder cluster;
  cluster.node("n", 8, 0, tests::kV100).promised("firm", 2, EntryKind::kFirm, 0, {mask({4, 5}), {}});
  EXPECT_EQ(room(cluster).whole, mask({0, 1, 2, 3, 6, 7}));
  cluster.promised("soft", 4, EntryKind::kSoft);
  EXPECT_EQ(room(cluster).whole, mask({6, 7}));
}

TEST(RoomOf, CountsGpusThatNobodyTellsApart) {
  const Room found = room(SnapshotBuilder().node("n", 8, 5, "New-Card", 0).promised("soft", 1, EntryKind::kSoft));
  EXPECT_EQ(count(found.whole), 2);
  EXPECT_EQ(found.gpus, 8);
  EXPECT_GT(found.cpu_milli, 1'000'000'000) << "a node that does not tell its CPU";
}

TEST(RoomOf, KnowsWhatIsLeftOfSharedAndBrokenGpus) {
  std::vector<GpuUse> uses(4, {.memory_mib = 16'000});
  uses[1].used_milli = 300;
  uses[1].used_mib = 10'000;
  uses[2].healthy = false;
  count_whole(uses[3]);
  const Room found = room(SnapshotBuilder().node("n", 4, 0, "Tesla-T4", 16'000).free(mask({0})).uses(uses));
  EXPECT_EQ(found.whole, mask({0}));
  EXPECT_EQ(found.milli[1], 700);
  EXPECT_EQ(found.mib[1], 6'000);
  EXPECT_LT(found.milli[2], 0);
  EXPECT_EQ(found.milli[3], 0);
}

// Nobody tells how these are linked, so which are free is not known but where they are shared.
TEST(RoomOf, CountsOnUntouchedGpusWhereOnlyCountsAreKnown) {
  std::vector<GpuUse> uses(4, {.memory_mib = 16'000});
  uses[0].used_milli = uses[1].used_milli = 500;
  const Room found = room(SnapshotBuilder().node("n", 4, 2, "New-Card", 16'000).uses(uses));
  EXPECT_EQ(found.whole, mask({2, 3}));
  EXPECT_EQ(found.free_milli(), 3000);
}

TEST(RoomOf, KnowsGpusOfSeveralSizes) {
  std::vector<GpuUse> uses(2, {.memory_mib = 16'000});
  uses[1].memory_mib = 80'000;
  const Room found = room(SnapshotBuilder().node("n", 2, 0, "", 16'000).free(mask({0, 1})).uses(uses));
  EXPECT_EQ(found.mib[1], 80'000);
}

// No device plugin hands these out whole.
TEST(RoomOf, KnowsGpusThatAreThereForSharesAlone) {
  const std::vector<GpuUse> uses(2, {.memory_mib = 16'000});
  const Room found = room(SnapshotBuilder().node("n", 0, 0, "Tesla-T4", 16'000).uses(uses));
  EXPECT_EQ(found.whole, 0U);
  EXPECT_EQ(found.free_milli(), 2000);
}

TEST(RoomOf, KnowsPartitionsOnDemandAndMadeBeforehand) {
  Machine machine;
  for (int i = 0; i < 2; ++i) {
    Gpu gpu;
    gpu.product = "NVIDIA-A100-SXM4-40GB";
    gpu.memory_mib = 40'960;
    gpu.mig = true;
    machine.gpus.push_back(gpu);
  }
  machine.gpus[1].instances = {{"3g.20gb", 4}};
  std::vector<GpuUse> uses(2, {.memory_mib = 40'960, .mig = true});
  uses[0].used_slices = 0b1111;
  const Room found = room(SnapshotBuilder().node("n", 2, 0, "", 0).free(0).machine(machine).uses(uses));
  EXPECT_EQ(found.whole, 0U);
  EXPECT_LT(found.milli[0], 0);
  // Half of the first is taken: room for one 3g.20gb at slice 4. On the second one exists, there as well.
  const RequestClass half{.gpus = 1, .mig = "3g.20gb"};
  EXPECT_EQ(meeting(found, half), mask({0, 1}));
  const RequestClass seventh{.gpus = 1, .mig = "1g.5gb"};
  EXPECT_EQ(meeting(found, seventh), mask({0})) << "what exists is what can be given";
}

// Eight free GPUs, and four: a job of four can use all, one of eight those of the first node and, with half of the GPUs
// free, a sixteenth of those of the second.
TEST(ViewPacking, SumsOverTheNodes) {
  SnapshotBuilder cluster;
  cluster.node("a").node("b", 8, 4).mix({1, {{wants_gpus(4), 0.5}, {wants_gpus(8), 0.5}}});
  const auto snapshot = cluster.build();
  const PackingView& view = *snapshot->packing;
  ASSERT_EQ(view.mix.size(), 2U);
  EXPECT_EQ(view.gpu_milli, 16'000);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(view.usable[i], view.mix.request(i).gpus == 4 ? 12'000 : 8'000 + 4'000.0 / 16);
  }
}

}  // namespace
}  // namespace berth::model
