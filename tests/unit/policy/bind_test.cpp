#include "berth/policy/bind.h"

#include "policy_fixture.h"

namespace berth::policy {
namespace {

using model::mask;
using model::Reason;

BindVerdict check(const SnapshotBuilder& cluster, const model::PodRequest& pod, std::vector<Promise> others = {},
                  const std::string& node = "a") {
  const auto snapshot = cluster.build();
  return check_node({*snapshot, pod, snapshot->find(node), {}}, others, {});
}

TEST(CheckNode, GivesTheBestSetOfWhatIsFree) {
  // DGX-1V: 4-7 and 5-6 are double links, 4-5 a single one.
  const BindVerdict verdict = check(SnapshotBuilder().node("a", 8, 0, tests::kV100).free(mask({4, 5, 6})), request(2));
  EXPECT_EQ(verdict.reason, Reason::kNone);
  EXPECT_EQ(verdict.placement.gpus, mask({5, 6}));
}

TEST(CheckNode, WhatIsPromisedToOthersIsTaken) {
  const SnapshotBuilder cluster = SnapshotBuilder().node("a", 4);
  const BindVerdict verdict = check(cluster, request(2), {{2, {}, {mask({0, 1}), {}}}});
  EXPECT_EQ(verdict.placement.gpus, mask({2, 3}));
  EXPECT_EQ(check(cluster, request(2), {{2, {}, {mask({0, 1}), {}}}, {1, {}, {mask({3}), {}}}}).reason,
            Reason::kReserved);
}

// Filter leaves whole GPUs to the scheduler, but two Binds at once are known to nobody else.
TEST(CheckNode, CountsAreEnforced) {
  EXPECT_EQ(check(SnapshotBuilder().node("a", 8, 7), request(2)).reason, Reason::kInsufficientGpu);
  EXPECT_EQ(check(SnapshotBuilder().node("a", 8, 7), request(1)).reason, Reason::kNone);
}

TEST(CheckNode, WhereNobodyKnowsWhichAreFreeCountsHold) {
  const SnapshotBuilder cluster = SnapshotBuilder().node("a", 8, 5, "unheard-of");
  const BindVerdict verdict = check(cluster, request(3));
  EXPECT_EQ(verdict.reason, Reason::kNone);
  EXPECT_TRUE(verdict.placement.empty());
  EXPECT_EQ(check(cluster, request(3), {Promise{1}}).reason, Reason::kReserved);
}

TEST(CheckNode, ItsOwnNominationHoldsNothingAgainstIt) {
  const SnapshotBuilder own = SnapshotBuilder().node("a", 8).promised("uid-train", 8, model::EntryKind::kFirm);
  EXPECT_EQ(check(own, request(8)).reason, Reason::kNone);
  const SnapshotBuilder other = SnapshotBuilder().node("a", 8).promised("uid-other", 1, model::EntryKind::kFirm);
  EXPECT_EQ(check(other, request(8)).reason, Reason::kReserved);
  EXPECT_EQ(check(SnapshotBuilder().node("a", 8).promised("x", 8, model::EntryKind::kSoft), request(8)).reason,
            Reason::kNone);
}

TEST(CheckNode, HardRulesHoldOnceMore) {
  EXPECT_EQ(check(SnapshotBuilder().node("a", 8, 0, tests::kV100).free(mask({0, 5})),
                  request(2, {{"topology-policy", "restricted"}}))
                .reason,
            Reason::kTopologyRestricted);
  EXPECT_EQ(
      check(SnapshotBuilder().node("a", 8, 0, tests::kV100, 32'768), request(1, {{"min-gpu-memory", "80"}})).reason,
      Reason::kGpuMemoryTooSmall);
  const auto needs = request(1, {{"datasets", "data"}, {"dataset-policy", "required"}});
  EXPECT_EQ(check(SnapshotBuilder().node("a").node("b").holds("team", "data"), needs).reason,
            Reason::kDatasetNotCached);
  EXPECT_EQ(check(SnapshotBuilder().node("a").holds("team", "data"), needs).reason, Reason::kNone);
  EXPECT_EQ(check(SnapshotBuilder().node("a"), needs).reason, Reason::kDatasetUnknown);
  EXPECT_EQ(check(SnapshotBuilder().node("a"), request(1, {{"topology-policy", "some"}})).reason,
            Reason::kInvalidPolicy);
}

TEST(CheckNode, SharesNeverAddUpToMoreThanAGpu) {
  const auto share = [](std::int32_t milli) {
    model::PodRequest pod = request(0);
    pod.parts.gpus = 1;
    pod.parts.milli = milli;
    return pod;
  };
  const SnapshotBuilder cluster = SnapshotBuilder().node("a", 8, 7);  // GPUs 0 to 6 are held whole
  const std::vector<Promise> others = {{0, share(600).parts, {mask({7}), {}}}};
  EXPECT_EQ(check(cluster, share(600)).placement.gpus, mask({7}));
  EXPECT_EQ(check(cluster, share(400), others).placement.gpus, mask({7}));
  EXPECT_EQ(check(cluster, share(500), others).reason, Reason::kGpuShareExhausted);
  EXPECT_EQ(check(cluster, request(1), others).reason, Reason::kReserved);  // no GPU is left whole
}

// Partitions go to the GPU that is used most, but not to one that the pod refuses.
TEST(CheckNode, PartitionsAreOfAProductThatThePodTakes) {
  model::Machine machine;
  std::vector<model::GpuUse> uses;
  for (const char* product : {"NVIDIA-A100-SXM4-80GB", tests::kH100}) {
    model::Gpu& gpu = machine.gpus.emplace_back();
    gpu.product = product;
    gpu.memory_mib = 81'559;
    gpu.mig = true;
    uses.push_back({.memory_mib = 81'559, .mig = true});
  }
  uses[0].used_slices = 1;
  SnapshotBuilder cluster = SnapshotBuilder().node("a", 0).machine(machine).partitions({{"1g.10gb", 14}}).uses(uses);
  model::PodRequest pod = request(0);
  pod.parts.mig = {{"1g.10gb", 1}};
  ASSERT_EQ(check(cluster, pod).placement.slots.size(), 1U);
  EXPECT_EQ(check(cluster, pod).placement.slots[0].gpu, 0);
  pod.gpu_products = {tests::kH100};
  ASSERT_EQ(check(cluster, pod).placement.slots.size(), 1U);
  EXPECT_EQ(check(cluster, pod).placement.slots[0].gpu, 1);
}

TEST(CheckNode, NominatedPodThatGotItsGpusCountsOnce) {
  const SnapshotBuilder cluster = SnapshotBuilder().node("a", 4).promised("uid-other", 2, model::EntryKind::kFirm);
  const BindVerdict verdict = check(cluster, request(2), {{2, {}, {mask({0, 1}), {}}, 2}});
  EXPECT_EQ(verdict.reason, Reason::kNone);
  EXPECT_EQ(verdict.placement.gpus, mask({2, 3}));
}

TEST(CheckNode, UnknownNodeTakesOnlyPodsWithoutGpusAndRules) {
  EXPECT_EQ(check(SnapshotBuilder().node("b"), request(1)).reason, Reason::kNodeUnknown);
  EXPECT_EQ(check(SnapshotBuilder().node("b"), request(0)).reason, Reason::kNone);
}

}  // namespace
}  // namespace berth::policy
