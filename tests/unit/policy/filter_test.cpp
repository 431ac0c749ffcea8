#include "policy_fixture.h"

namespace berth::policy {
namespace {

using namespace std::chrono_literals;
using model::EntryKind;
using model::mask;

TEST(FilterGpuCount, TrustRanksAFullNodeLastAndEnforceRejectsIt) {
  const auto cluster = SnapshotBuilder().node("full", 8, 8).node("free", 8, 0);
  Settings settings;
  EXPECT_THAT(filter(cluster, request(2), {"full", "free"}, settings).kept, ElementsAre("free", "full"));
  settings.gpu_count = GpuCountMode::kEnforce;
  const auto enforced = filter(cluster, request(2), {"full", "free"}, settings);
  EXPECT_THAT(enforced.kept, ElementsAre("free"));
  EXPECT_THAT(enforced.rejected, ElementsAre(Pair("full", "INSUFFICIENT_GPU")));
}

TEST(FilterGpuCount, ADemandBeyondAllReasonFitsNowhereAndBreaksNothing) {
  Settings settings;
  settings.gpu_count = GpuCountMode::kEnforce;
  const auto cluster = SnapshotBuilder().node("a").node("full", 8, 8);
  const auto pod = request(std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(filter(cluster, pod, {"a", "full"}, settings).rejected,
              ElementsAre(Pair("a", "INSUFFICIENT_GPU"), Pair("full", "INSUFFICIENT_GPU")));
  EXPECT_EQ(prioritize(cluster, pod, {"a", "full"}).size(), 2U);
}

TEST(FilterGpuCount, FirmEntryOfAnotherPodReserves) {
  const auto cluster = SnapshotBuilder().node("a", 8, 4).promised("other", 3, EntryKind::kFirm);
  EXPECT_THAT(filter(cluster, request(2), {"a"}).rejected, ElementsAre(Pair("a", "RESERVED")));
  EXPECT_THAT(filter(cluster, request(1), {"a"}).kept, ElementsAre("a"));
}

TEST(FilterGpuCount, OwnFirmEntryDoesNotStandInTheWay) {
  const auto cluster = SnapshotBuilder().node("a", 8, 4).promised("uid-train", 4, EntryKind::kFirm);
  EXPECT_THAT(filter(cluster, request(4), {"a"}).kept, ElementsAre("a"));
}

TEST(FilterGpuCount, FirmEntryOfALowerPriorityYields) {
  auto pod = request(4);
  pod.priority = 100;
  EXPECT_THAT(filter(SnapshotBuilder().node("a", 8, 4).promised("low", 4, EntryKind::kFirm, 99), pod, {"a"}).kept,
              ElementsAre("a"));
  EXPECT_THAT(filter(SnapshotBuilder().node("a", 8, 4).promised("same", 4, EntryKind::kFirm, 100), pod, {"a"}).rejected,
              ElementsAre(Pair("a", "RESERVED")));
}

TEST(FilterGpuCount, SoftEntriesRejectNothing) {
  const auto cluster = SnapshotBuilder().node("a", 8, 0).promised("other", 8, EntryKind::kSoft).node("b", 8, 0);
  Settings settings;
  settings.gpu_count = GpuCountMode::kEnforce;
  EXPECT_THAT(filter(cluster, request(8), {"a", "b"}, settings).kept, ElementsAre("b", "a"));
}

TEST(FilterGpuProduct, RejectsOtherAndUnknownProducts) {
  model::PodDefaults defaults;
  defaults.gpu_products = {tests::kH100};
  const auto cluster = SnapshotBuilder().node("h100").node("v100", 8, 0, tests::kV100).node("plain", 8, 0, "");
  const auto filtered = filter(cluster, request(1, {}, defaults), {"h100", "v100", "plain"});
  EXPECT_THAT(filtered.kept, ElementsAre("h100"));
  EXPECT_THAT(filtered.rejected,
              ElementsAre(Pair("plain", "GPU_PRODUCT_MISMATCH"), Pair("v100", "GPU_PRODUCT_MISMATCH")));
}

// GPU-feature-discovery reports 81559 MiB for an H100 of 80 GB and 32768 for a V100 of 32 GB.
TEST(FilterGpuMemory, ComparesWithTheLabelAndRejectsTheUnknown) {
  const auto cluster =
      SnapshotBuilder().node("h100").node("v100", 8, 0, tests::kV100, 32768).node("plain", 8, 0, tests::kH100, 0);
  const auto filtered = filter(cluster, request(1, {{"min-gpu-memory", "40Gi"}}), {"h100", "v100", "plain"});
  EXPECT_THAT(filtered.kept, ElementsAre("h100"));
  EXPECT_THAT(filtered.rejected,
              ElementsAre(Pair("plain", "GPU_MEMORY_TOO_SMALL"), Pair("v100", "GPU_MEMORY_TOO_SMALL")));
}

TEST(FilterTopology, RestrictedNeedsOneIsland) {
  const auto cluster = SnapshotBuilder()
                           .node("pieces", 8, 0, tests::kV100)
                           .free(mask({0, 5}))
                           .node("linked", 8, 0, tests::kV100)
                           .free(mask({0, 3}));
  const auto filtered = filter(cluster, request(2, {{"topology-policy", "restricted"}}), {"pieces", "linked"});
  EXPECT_THAT(filtered.kept, ElementsAre("linked"));
  EXPECT_THAT(filtered.rejected, ElementsAre(Pair("pieces", "TOPOLOGY_RESTRICTED")));
  // Without the policy the same node only scores lower.
  EXPECT_THAT(filter(cluster, request(2), {"pieces", "linked"}).kept, ElementsAre("linked", "pieces"));
}

TEST(FilterTopology, RestrictedOnUnknownGpusPassesOnlyAWholeFreeNode) {
  const auto cluster =
      SnapshotBuilder().node("used", 8, 1, "New-Card").node("empty", 8, 0, "New-Card").node("small", 2, 0, "New-Card");
  const auto filtered = filter(cluster, request(4, {{"topology-policy", "restricted"}}), {"used", "empty", "small"});
  EXPECT_THAT(filtered.kept, ElementsAre("empty"));
  EXPECT_THAT(filtered.rejected,
              ElementsAre(Pair("small", "TOPOLOGY_RESTRICTED"), Pair("used", "TOPOLOGY_RESTRICTED")));
}

TEST(FilterInvalidPolicy, RejectsEveryNode) {
  const auto filtered = filter(SnapshotBuilder().node("a"), request(1, {{"topology-policy", "strict"}}), {"a", "b"});
  EXPECT_THAT(filtered.rejected, ElementsAre(Pair("a", "INVALID_POLICY"), Pair("b", "INVALID_POLICY")));
}

TEST(FilterTopology, FirmEntriesTakeTheirGpusWhateverSoftOnesPromise) {
  // Free 0,3 (linked) and 5: a firm entry for two takes the linked pair, and what is left is no island.
  const auto cluster = SnapshotBuilder()
                           .node("n", 8, 0, tests::kV100)
                           .free(mask({0, 3, 5, 2}))
                           .promised("firm", 2, EntryKind::kFirm)
                           .promised("soft", 2, EntryKind::kSoft);
  // Left of 0,2,3,5 after the best pair {0,3}: 2 and 5, linked by nothing.
  EXPECT_THAT(filter(cluster, request(2, {{"topology-policy", "restricted"}}), {"n"}).rejected,
              ElementsAre(Pair("n", "TOPOLOGY_RESTRICTED")));
}

TEST(FilterUnknownNode, StaysACandidateUnlessARuleOfOursIsHard) {
  const auto cluster = SnapshotBuilder().node("known", 8, 4);
  EXPECT_THAT(filter(cluster, request(1), {"new", "known"}).kept, UnorderedElementsAre("known", "new"));
  EXPECT_THAT(filter(cluster, request(1, {{"topology-policy", "restricted"}}), {"new", "known"}).rejected,
              ElementsAre(Pair("new", "NODE_UNKNOWN")));
}

TEST(FilterNames, RepeatsAreAnsweredOnce) {
  const auto cluster = SnapshotBuilder().node("a").node("b");
  EXPECT_THAT(filter(cluster, request(1), {"a", "b", "a", "new", "new"}).kept, UnorderedElementsAre("a", "b", "new"));
}

TEST(FilterDecision, RecordsWhatWasAskedAndAnswered) {
  const auto cluster = SnapshotBuilder().node("a").holds("team", "d").node("b", 8, 8);
  Settings settings;
  settings.gpu_count = GpuCountMode::kEnforce;
  const auto decision = filter(cluster, request(2, {{"datasets", "d"}}), {"b", "a"}, settings, 3).decision;
  EXPECT_EQ(decision.winner, "a");
  EXPECT_EQ(decision.asked, 2U);
  EXPECT_EQ(decision.attempt, 3U);
  EXPECT_EQ(decision.snapshot_version, 7U);
  EXPECT_EQ(decision.candidate_count, 1U);
  ASSERT_EQ(decision.candidates.size(), 1U);
  EXPECT_EQ(decision.candidates[0].gpu_set, mask({0, 1}));
  EXPECT_EQ(decision.candidates[0].gpus_free, 8);
  EXPECT_DOUBLE_EQ(decision.candidates[0].coverage, 1);
  ASSERT_EQ(decision.rejected.size(), 1U);
  EXPECT_EQ(decision.index->name(decision.rejected[0].slot), "b");
}

}  // namespace
}  // namespace berth::policy
