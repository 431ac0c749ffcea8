#include "berth/model/free_gpus.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "berth/model/packing_view.h"
#include "support/snapshot_builder.h"

namespace berth::model {
namespace {

using tests::kH100;
using tests::kV100;
using tests::SnapshotBuilder;

RequestClass class_of(std::int32_t gpus, std::int64_t cpu_milli = 0, std::vector<std::string> products = {}) {
  return {.cpu_milli = cpu_milli, .gpus = gpus, .milli = kWholeMilli, .products = std::move(products)};
}
RequestClass class_of_share(std::int32_t milli) { return {.gpus = 1, .milli = milli}; }

// Of the node added first.
FreeGpus first(const SnapshotBuilder& builder) { return view_free_gpus(*builder.build()).nodes.at(0); }

// The same but for the node added first.
std::shared_ptr<const Snapshot> changed(const SnapshotBuilder& builder, const std::function<void(NodeState&)>& change) {
  auto snapshot = std::make_shared<Snapshot>(*builder.build());
  auto block = std::make_shared<NodeBlock>(*snapshot->blocks[0]);
  change(block->at(0));
  snapshot->blocks[0] = std::move(block);
  return snapshot;
}

struct Islands {
  const char* name;
  const char* product;
  int gpus;
  GpuMask free;
  std::map<std::size_t, std::int64_t> want;  // by size
};
class FreeIslands : public testing::TestWithParam<Islands> {};

// NVLinks of the hybrid cube mesh: 0-1 0-2 0-3 0-4 1-2 1-3 1-5 2-3 2-6 3-7 4-5 4-6 4-7 5-6 5-7 6-7.
INSTANTIATE_TEST_SUITE_P(Table, FreeIslands,
                         testing::Values(Islands{"all to all", kH100, 8, 0b11100000, {{3, 3}}},
                                         Islands{"a whole machine", kH100, 8, 0xff, {{8, 8}}},
                                         Islands{"no link between 0 and 5", kV100, 8, mask({0, 5}), {{1, 2}}},
                                         Islands{"one between them", kV100, 8, mask({0, 1, 5}), {{3, 3}}},
                                         Islands{"two pairs", kV100, 8, mask({0, 1, 6, 7}), {{2, 4}}},
                                         Islands{"a pair and one", kV100, 8, mask({0, 6, 7}), {{1, 1}, {2, 2}}},
                                         Islands{"sockets without NVLink", "Tesla-T4", 4, 0b1111, {{2, 4}}},
                                         Islands{"one socket and half", "Tesla-T4", 4, 0b1101, {{1, 1}, {2, 2}}},
                                         Islands{"nothing", kH100, 8, 0, {}}));

TEST_P(FreeIslands, AreWhatIsConnectedOfTheFreeGpus) {
  const Islands& c = GetParam();
  const FreeGpus free = first(SnapshotBuilder().node("a", c.gpus, 0, c.product).free(c.free));
  std::map<std::size_t, std::int64_t> found;
  for (std::size_t size = 0; size < free.by_island.size(); ++size) {
    if (free.by_island[size] != 0) found[size] = free.by_island[size];
  }
  EXPECT_EQ(found, c.want) << c.name;
  EXPECT_EQ(free.whole, count(c.free)) << c.name;
  EXPECT_EQ(free.largest_request, count(c.free)) << c.name;
  EXPECT_EQ(free.milli, 1000 * count(c.free)) << c.name;
}

TEST(FreeGpusOf, AreIslandsOfTheirOwnWhereNobodyKnowsWhichAreFree) {
  const FreeGpus free = first(SnapshotBuilder().node("a", 4, 1, "unheard-of"));
  EXPECT_EQ(free.whole, 3);
  EXPECT_EQ(free.by_island[1], 3);
  EXPECT_EQ(free.milli, 3000);
}

// Only the first kMaxGpus are told apart.
TEST(FreeGpusOf, AreCountedBeyondThoseThatAreToldApart) {
  const FreeGpus free = first(SnapshotBuilder().node("a", 32, 2, "unheard-of"));
  EXPECT_EQ(free.whole, 30);
  EXPECT_EQ(free.largest_request, 30);
  EXPECT_EQ(free.by_island[1], 30);
  EXPECT_EQ(free.milli, 16'000);
}

TEST(FreeGpusOf, FirmPromisesAreUsedAndSoftOnesAreNot) {
  const FreeGpus firm = first(SnapshotBuilder().node("a").promised("u", 2, EntryKind::kFirm));
  EXPECT_EQ(firm.whole, 6);
  EXPECT_EQ(firm.milli, 6000);
  EXPECT_EQ(firm.by_island[6], 6);
  EXPECT_EQ(first(SnapshotBuilder().node("a").promised("u", 2, EntryKind::kSoft)).whole, 8);
}

// A GPU in use as a whole or in part is no whole one; what is left of a shared one is free nevertheless.
TEST(FreeGpusOf, SharesCountInPartAndGpusInMigModeNot) {
  const std::vector<GpuUse> uses = {{.used_milli = 1000}, {.used_milli = 400}, {.mig = true}, {}};
  const FreeGpus free = first(SnapshotBuilder().node("a", 4).free(mask({3})).uses(uses));
  EXPECT_EQ(free.whole, 1);
  EXPECT_EQ(free.milli, 1600);
  EXPECT_EQ(free.by_island[1], 1);
}

// One of four GPUs has 600 thousandths left. Whole GPUs can't use these, shares of 500 can: F = 0.5 · 600 of R = 3,600.
TEST(Fragmentation, IsWhatTheMixCannotUse) {
  const RequestMix mix{1, {{class_of(1), 0.5}, {class_of_share(500), 0.5}}};
  const std::vector<GpuUse> uses = {{.used_milli = 400}, {}, {}, {}};
  const FreeGpus free = first(SnapshotBuilder().node("a", 4).free(mask({1, 2, 3})).uses(uses).mix(mix));
  EXPECT_EQ(free.milli, 3600);
  EXPECT_DOUBLE_EQ(free.fragmented_milli, 300);
  EXPECT_DOUBLE_EQ(free.fragmentation(), 1.0 / 12);
}

// A quarter of the default mix wants eight GPUs, of which the node has half.
TEST(Fragmentation, OfTheDefaultMix) {
  const FreeGpus free = first(SnapshotBuilder().node("a", 8, 4));
  EXPECT_DOUBLE_EQ(free.fragmented_milli, 1000);
  EXPECT_DOUBLE_EQ(free.fragmentation(), 0.25);
}

// Half of what counts wants 700 thousandths and half a whole GPU: neither can use the 600.
TEST(Fragmentation, ClassesOfCpuAndOfPartitionsDoNotCount) {
  const RequestMix mix{1,
                       {{class_of(1), 0.2},
                        {{.cpu_milli = 1000}, 0.5},
                        {{.gpus = 1, .mig = "1g.10gb"}, 0.1},
                        {class_of_share(700), 0.2}}};
  const std::vector<GpuUse> uses = {{.used_milli = 400}, {}, {}, {}};
  const FreeGpus free = first(SnapshotBuilder().node("a", 4).free(mask({1, 2, 3})).uses(uses).mix(mix));
  EXPECT_DOUBLE_EQ(free.fragmented_milli, 600);
  EXPECT_DOUBLE_EQ(free.fragmentation(), 1.0 / 6);
}

// Three quarters of the requests want 12 CPUs or more, of which the node has ten, or another product.
TEST(Fragmentation, GpusWithoutCpuForThemOrOfTheWrongProductAreNoUse) {
  const RequestMix mix{1, {{class_of(1, 10'000), 0.25}, {class_of(1, 12'000), 0.5}, {class_of(1, 0, {kV100}), 0.25}}};
  const SnapshotBuilder builder = SnapshotBuilder().node("a", 8, 4).cpu(96'000, 10'000).mix(mix);
  EXPECT_DOUBLE_EQ(first(builder).fragmentation(), 0.75);
  // What soft entries ask for is not used: the same CPU is free, with eight of them or without.
  const auto soft = changed(builder, [](NodeState& state) { state.soft_requests.cpu_milli = 8000; });
  EXPECT_DOUBLE_EQ(view_free_gpus(*soft).nodes[0].fragmentation(), 0.75);
  const auto firm = changed(builder, [](NodeState& state) { state.firm_requests.cpu_milli = 8000; });
  EXPECT_DOUBLE_EQ(view_free_gpus(*firm).nodes[0].fragmentation(), 1);
}

TEST(Fragmentation, IsNothingWithoutFreeGpusOrRequestsForThem) {
  EXPECT_EQ(first(SnapshotBuilder().node("a", 8, 8)).fragmentation(), 0);
  const RequestMix no_gpus{1, {{{.cpu_milli = 1000}, 1.0}}};
  EXPECT_EQ(first(SnapshotBuilder().node("a", 8, 4).mix(no_gpus)).fragmentation(), 0);
  Snapshot unknown = *SnapshotBuilder().node("a", 8, 4).build();
  unknown.packing = nullptr;
  EXPECT_EQ(view_free_gpus(unknown).cluster.fragmented_milli, 0);
  EXPECT_EQ(view_free_gpus(unknown).cluster.whole, 4);
  EXPECT_EQ(view_free_gpus(Snapshot()).cluster, FreeGpus());
}

// Half of the requests want one GPU, which all nodes have, and half eight, which only b has: F = 0.5 · (3,000 + 2,000)
// of R = 13,000.
TEST(ViewFreeGpus, SumsOverTheCluster) {
  const RequestMix mix{1, {{class_of(1), 0.5}, {class_of(8), 0.5}}};
  const auto snapshot = SnapshotBuilder()
                            .node("a", 8, 5)
                            .node("b")
                            .node("c", 8, 0, kV100)
                            .free(mask({0, 5}))
                            .node("cpu", 0, 0, "")
                            .mix(mix)
                            .build();
  const FreeGpusView view = view_free_gpus(*snapshot);
  EXPECT_EQ(view.cluster.whole, 13);
  EXPECT_EQ(view.cluster.milli, 13'000);
  EXPECT_EQ(view.cluster.largest_request, 8);
  EXPECT_EQ(view.cluster.by_island[1], 2);
  EXPECT_EQ(view.cluster.by_island[3], 3);
  EXPECT_EQ(view.cluster.by_island[8], 8);
  EXPECT_DOUBLE_EQ(view.cluster.fragmented_milli, 2500);
  EXPECT_DOUBLE_EQ(view.cluster.fragmentation(), 2500.0 / 13'000);
  EXPECT_EQ(view.most_gpus, 8);
  EXPECT_EQ(view.nodes.at(3), FreeGpus());
}

TEST(ViewFreeGpus, CountsOnlyWhatHasChanged) {
  const auto builder = SnapshotBuilder().node("a", 8, 5).node("b").stamped();
  FreeGpusView before = view_free_gpus(*builder.build());
  // Wrong on purpose, to be known again.
  before.nodes[0].whole = before.nodes[1].whole = 100;
  EXPECT_EQ(view_free_gpus(*builder.build(), &before).cluster.whole, 200);
  const auto next = changed(builder, [](NodeState& state) { state.stamp = 9; });
  EXPECT_EQ(view_free_gpus(*next, &before).cluster.whole, 3 + 100);
  const auto unstamped = changed(builder, [](NodeState& state) { state.stamp = 0; });
  EXPECT_EQ(view_free_gpus(*unstamped, &before).cluster.whole, 3 + 100);
  before.mix_version = 5;
  EXPECT_EQ(view_free_gpus(*builder.build(), &before).cluster.whole, 3 + 8) << "another mix";
}

}  // namespace
}  // namespace berth::model
