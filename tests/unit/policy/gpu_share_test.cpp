// Shares and partitions: which nodes have room, which come first, and what exactly a pod would get.
#include "berth/model/part_placement.h"
#include "berth/policy/ledger_credit.h"
#include "berth/policy/scores.h"
#include "policy_fixture.h"

namespace berth::policy {
namespace {

using model::GpuParts;
using model::GpuUse;
using model::mask;

constexpr std::int64_t kMib = 81'559;  // of each GPU of SnapshotBuilder::node()

model::PodRequest wants(GpuParts parts, int gpus = 0) {
  model::Pod pod;
  pod.ns = "team";
  pod.name = "serve";
  pod.uid = "uid-serve";
  pod.gpus = gpus;
  pod.parts = std::move(parts);
  return model::make_request(pod, {});
}

// Of eight GPUs, the first ones as given.
std::vector<GpuUse> eight(std::vector<GpuUse> first) {
  for (GpuUse& use : first) use.memory_mib = kMib;
  first.resize(8, {.memory_mib = kMib});
  return first;
}
const GpuUse kHeld{.used_mib = kMib, .used_milli = 1000};

model::GpuPlacement placed(const SnapshotBuilder& cluster, const model::PodRequest& pod, const char* on = "n") {
  const auto snapshot = cluster.build();
  const LedgerCredit ledger(*snapshot, pod);
  return place_gpus(pod, ledger.view(snapshot->find(on))).value_or(model::GpuPlacement{});
}

TEST(FilterGpuShare, RejectsNodesWithoutAGpuThatHasIt) {
  SnapshotBuilder cluster;
  cluster.node("fresh").node("full", 8, 8).node("small", 8, 0, tests::kH100, 10'000).node("none", 0, 0, "", 0);
  cluster.node("open", 8, 8).uses(eight({{.used_mib = 60'000}, kHeld, kHeld, kHeld, kHeld, kHeld, kHeld, kHeld}));
  const auto outcome = filter(cluster, wants({.gpus = 1, .mib = 20'000}), {"fresh", "full", "small", "none", "open"});
  EXPECT_THAT(outcome.kept, ElementsAre("open", "fresh")) << "a share opens no fresh GPU while a used one will do";
  EXPECT_THAT(outcome.rejected,
              UnorderedElementsAre(Pair("full", "GPU_SHARE_EXHAUSTED"), Pair("small", "GPU_SHARE_EXHAUSTED"),
                                   Pair("none", "GPU_SHARE_EXHAUSTED")));
  EXPECT_EQ(candidate(outcome, "open").gpu_set, mask({0}));
}

TEST(FilterGpuShare, ANodeNotSeenYetIsNone) {
  const auto outcome = filter(SnapshotBuilder(), wants({.gpus = 1, .milli = 500}), {"unseen"});
  EXPECT_THAT(outcome.rejected, ElementsAre(Pair("unseen", "NODE_UNKNOWN")));
}

TEST(FilterGpuShare, SharesOfSeveralGpusNeedThemAll) {
  SnapshotBuilder cluster;
  cluster.node("n", 8, 7).uses(eight({{.used_milli = 500}, {.used_milli = 600}, kHeld, kHeld, kHeld, kHeld, kHeld}));
  EXPECT_EQ(placed(cluster, wants({.gpus = 2, .milli = 400})).gpus, mask({0, 1}));
  EXPECT_EQ(placed(cluster, wants({.gpus = 2, .milli = 500})).gpus, mask({0, 7}));
  EXPECT_TRUE(placed(cluster, wants({.gpus = 3, .milli = 500})).empty());
}

// koordinator#2769: "uneven split over cards wanted (10 + 30)".
TEST(FilterGpuShare, UnevenSharesAreRefusedWithTheReason) {
  const auto pod = wants({.gpus = 2, .mib = 30'000, .uneven = true});
  ASSERT_TRUE(pod.invalid);
  EXPECT_THAT(pod.invalid->message, testing::HasSubstr("shares of different sizes"));
  EXPECT_THAT(filter(SnapshotBuilder().node("n"), pod, {"n"}).rejected, ElementsAre(Pair("n", "INVALID_POLICY")));
}

TEST(FilterGpuShare, PartitionsThatNobodyTellsApartAreTheSchedulersToCount) {
  SnapshotBuilder cluster;
  cluster.node("a", 0, 0, tests::kH100).partitions({{"1g.10gb", 7}}).node("b", 0, 0, tests::kH100);
  const auto outcome = filter(cluster, wants({.mig = {{"1g.10gb", 1}}}), {"a", "b"});
  EXPECT_THAT(outcome.kept, ElementsAre("a"));
  EXPECT_THAT(outcome.rejected, ElementsAre(Pair("b", "GPU_SHARE_EXHAUSTED")));
}

TEST(PlaceGpus, PartitionsGoToTheSlotThatKeepsTheLargerOnes) {
  model::Machine machine;
  machine.gpus.resize(2);
  for (model::Gpu& gpu : machine.gpus) gpu.product = "NVIDIA-A100-SXM4-40GB", gpu.memory_mib = 40'960, gpu.mig = true;
  SnapshotBuilder cluster;
  cluster.node("n", 0, 0, "NVIDIA-A100-SXM4-40GB")
      .machine(machine)
      .uses({{.memory_mib = 40'960, .mig = true}, {.memory_mib = 40'960, .used_slices = 0b01000000, .mig = true}});
  EXPECT_EQ(placed(cluster, wants({.mig = {{"1g.5gb", 1}}})).slots, (std::vector<model::MigSlot>{{1, 5, 1}}));
  EXPECT_EQ(placed(cluster, wants({.mig = {{"7g.40gb", 1}}})).slots, (std::vector<model::MigSlot>{{0, 0, 8}}));
  const auto outcome = filter(cluster, wants({.mig = {{"3g.20gb", 1}}}), {"n"});
  EXPECT_EQ(candidate(outcome, "n").mig_slots, (std::vector<model::MigSlot>{{1, 0, 4}}));
  EXPECT_THAT(filter(cluster, wants({.mig = {{"7g.40gb", 2}}}), {"n"}).rejected,
              ElementsAre(Pair("n", "GPU_SHARE_EXHAUSTED")));
}

TEST(PlaceGpus, WhatIsPromisedOneByOneIsLeftOut) {
  SnapshotBuilder cluster;
  cluster.node("n").promised("other", 4, model::EntryKind::kFirm, 5, {mask({0, 1, 2, 3}), {}});
  EXPECT_EQ(placed(cluster, request(4)).gpus, mask({4, 5, 6, 7}));
  EXPECT_TRUE(placed(cluster, request(5)).empty());
  auto urgent = request(8);
  urgent.priority = 6;
  EXPECT_EQ(placed(cluster, urgent).gpus, model::mask_all(8)) << "a lower priority holds nothing against it";
  auto own = request(8);
  own.uid = "other";
  EXPECT_EQ(placed(cluster, own).gpus, model::mask_all(8));
}

TEST(PlaceGpus, SharesPromisedToOthersCountAndOnesOwnDoesNot) {
  SnapshotBuilder cluster;
  cluster.node("n", 1, 0, "Tesla-T4", 16'000)
      .uses({{.memory_mib = 16'000, .used_mib = 10'000}})
      .promised("other", 0, model::EntryKind::kFirm, 5, {mask({0}), {}}, {.gpus = 1, .mib = 10'000});
  EXPECT_TRUE(placed(cluster, wants({.gpus = 1, .mib = 10'000})).empty());
  auto own = wants({.gpus = 1, .mib = 10'000});
  own.uid = "other";
  EXPECT_EQ(placed(cluster, own).gpus, mask({0}));
}

TEST(PlaceGpus, ANominatedSharePodFindsItsRoomAndOthersDoNot) {
  SnapshotBuilder cluster;
  cluster.node("n", 1, 0, "Tesla-T4", 16'000)
      .promised("nominated", 0, model::EntryKind::kFirm, 5, {}, {.gpus = 1, .mib = 10'000});
  EXPECT_TRUE(placed(cluster, wants({.gpus = 1, .mib = 10'000})).empty());
  EXPECT_EQ(placed(cluster, wants({.gpus = 1, .mib = 6'000})).gpus, mask({0}));
  auto own = wants({.gpus = 1, .mib = 10'000});
  own.uid = "nominated";
  EXPECT_EQ(placed(cluster, own).gpus, mask({0}));
  EXPECT_TRUE(placed(cluster, request(1)).empty()) << "the GPU is no longer whole";
}

TEST(PlaceGpus, BindsOwnBookCountsToo) {
  const auto snapshot = SnapshotBuilder().node("n").build();
  const auto pod = request(4);
  const LedgerCredit ledger(*snapshot, pod);
  NodeView view = ledger.view(0);
  std::vector<GpuUse> uses;
  promise(view, 2, {}, {mask({0, 1}), {}}, uses);
  promise(view, 0, {.gpus = 1, .mib = 1'000}, {mask({4}), {}}, uses);
  EXPECT_EQ(view.unused(), 5);
  EXPECT_EQ(place_gpus(pod, view)->gpus & mask({0, 1, 4}), 0U);
  EXPECT_EQ(place_gpus(wants({.gpus = 1, .mib = 1'000}), view)->gpus, mask({4}));
  EXPECT_FALSE(place_gpus(request(6), view));
}

TEST(SoftShares, MakeTheNextPodPreferAnotherNode) {
  SnapshotBuilder cluster;
  cluster.node("a", 1, 0, "Tesla-T4", 16'000)
      .promised("other", 0, model::EntryKind::kSoft, 0, {}, {.gpus = 1, .mib = 10'000})
      .node("b", 1, 0, "Tesla-T4", 16'000);
  EXPECT_THAT(filter(cluster, wants({.gpus = 1, .mib = 10'000}), {"a", "b"}).kept, ElementsAre("b", "a"));
}

// A GPU that has a share already comes before a fresh one, on whatever node, as long as GPUs are asked for whole.
TEST(PackingOfShares, PrefersGpusInUse) {
  std::vector<GpuUse> uses(8, {.memory_mib = 80'000});
  uses[0].used_mib = 40'000;
  uses[0].used_milli = 500;
  SnapshotBuilder cluster;
  cluster.node("fresh", 8, 0, tests::kH100, 80'000);
  cluster.node("shared", 8, 1, tests::kH100, 80'000).uses(uses);
  cluster.mix(
      {1, {{{.gpus = 1, .milli = 500}, 0.5}, {{.gpus = 1, .milli = 1'000}, 0.3}, {{.gpus = 8, .milli = 1'000}, 0.2}}});
  EXPECT_THAT(filter(cluster, wants({.gpus = 1, .mib = 20'000, .milli = 400}), {"fresh", "shared"}).kept,
              ElementsAre("shared", "fresh"));
  EXPECT_THAT(filter(cluster, wants({.gpus = 1, .mib = 20'000, .milli = 600}), {"fresh", "shared"}).kept,
              ElementsAre("shared", "fresh"))
      << "a fresh one is opened either way: on the node that can't run eight any more";
}

TEST(ScoreOfShares, LinksDontMatterToThem) {
  const auto outcome = filter(SnapshotBuilder().node("n"), wants({.gpus = 1, .milli = 100}), {"n"});
  EXPECT_EQ(candidate(outcome, "n").parts.topology, 1);
}

TEST(ResourceClaims, AreScoredByTheNodeAlone) {
  auto pod = request(0, {{"topology-policy", "best-effort"}});
  pod.resource_claims = true;
  const auto outcome = filter(SnapshotBuilder().node("full", 8, 8).node("free"), pod, {"full", "free"});
  for (const char* on : {"full", "free"}) {
    EXPECT_EQ(candidate(outcome, on).parts.topology, kNeutral) << on;
    EXPECT_EQ(candidate(outcome, on).parts.packing, kNeutral) << on;
  }
}

// gpushare#219: GPUs of two sizes on one node; the large ones are 1, 3, 5 and 7.
class MixedSizes : public testing::Test {
 protected:
  MixedSizes() {
    model::Machine machine;
    machine.gpus.resize(8);
    std::vector<GpuUse> uses(8);
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
      uses[gpu].memory_mib = machine.gpus[gpu].memory_mib = gpu % 2 == 1 ? 81'920 : 40'960;
      machine.gpus[gpu].product = gpu % 2 == 1 ? "NVIDIA-A100-SXM4-80GB" : "NVIDIA-A100-SXM4-40GB";
    }
    cluster.node("n", 8, 0, tests::kH100, 40'960).machine(machine).uses(uses);
  }
  SnapshotBuilder cluster;
};
TEST_F(MixedSizes, APodGetsGpusWithTheMemoryThatItAsksFor) {
  EXPECT_EQ(placed(cluster, request(2, {{"min-gpu-memory", "80"}})).gpus & mask({0, 2, 4, 6}), 0U);
  EXPECT_THAT(filter(cluster, request(4, {{"min-gpu-memory", "80"}}), {"n"}).kept, ElementsAre("n"));
  EXPECT_THAT(filter(cluster, request(5, {{"min-gpu-memory", "80"}}), {"n"}).rejected,
              ElementsAre(Pair("n", "GPU_MEMORY_TOO_SMALL")));
  EXPECT_THAT(filter(cluster, request(5, {{"min-gpu-memory", "40"}}), {"n"}).kept, ElementsAre("n"));
}
TEST_F(MixedSizes, OfTheProductThatItNames) {
  model::PodDefaults defaults;
  defaults.gpu_products = {"NVIDIA-A100-SXM4-40GB"};
  EXPECT_EQ(placed(cluster, request(4, {}, defaults)).gpus, mask({0, 2, 4, 6}));
  EXPECT_THAT(filter(cluster, request(5, {}, defaults), {"n"}).rejected,
              ElementsAre(Pair("n", "GPU_PRODUCT_MISMATCH")));
}

// volcano#3948: "free GPUs are spread 1 + 2 + 1 over nodes; a job of four can't run". Three nodes of four GPUs.
TEST(PackingReplays, FourGpusStayTogether) {
  const auto kept = [](int a, int b, int c, int gpus) {
    SnapshotBuilder cluster;
    cluster.node("a", 4, a, tests::kH100).node("b", 4, b, tests::kH100).node("c", 4, c, tests::kH100);
    const auto names = filter(cluster, request(gpus), {"a", "b", "c"}).kept;
    return names.empty() ? std::string() : names.front();
  };
  EXPECT_EQ(kept(0, 0, 0, 2), "a");
  EXPECT_EQ(kept(2, 0, 0, 1), "a");
  EXPECT_EQ(kept(3, 0, 0, 3), "b");
  EXPECT_EQ(kept(3, 3, 0, 1), "a") << "c keeps its four for the job that needs them";
}

// kubernetes#68036: "spreading strands scarce resources": nodes with 4, 4 and 2 GPUs; a pod of 2, then two of 4.
TEST(PackingReplays, ThePodOfTwoGoesToTheNodeOfTwo) {
  SnapshotBuilder cluster;
  cluster.node("a", 4).node("b", 4).node("c", 2, 0, tests::kH100);
  model::PodRequest pod = request(2, {{"topology-policy", "none"}});
  EXPECT_EQ(filter(cluster, pod, {"a", "b", "c"}).kept.front(), "c");
}

}  // namespace
}  // namespace berth::policy
