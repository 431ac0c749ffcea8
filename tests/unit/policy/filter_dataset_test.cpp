#include "policy_fixture.h"

namespace berth::policy {
namespace {

using namespace std::chrono_literals;

model::PodRequest requires_a(std::vector<std::pair<std::string, std::string>> keys = {}) {
  keys.insert(keys.end(), {{"datasets", "a"}, {"dataset-policy", "required"}});
  return request(1, std::move(keys));
}

TEST(FilterDataset, RequiredRejectsNodeThatHoldsOnlyOneOfTwo) {
  const auto cluster =
      SnapshotBuilder().node("both").holds("team", "a").holds("team", "b").node("one").holds("team", "a").node("none");
  const auto pod = request(1, {{"datasets", "a,b"}, {"dataset-policy", "required"}});
  const auto filtered = filter(cluster, pod, {"both", "one", "none"});
  EXPECT_THAT(filtered.kept, ElementsAre("both"));
  EXPECT_THAT(filtered.rejected, ElementsAre(Pair("none", "DATASET_NOT_CACHED"), Pair("one", "DATASET_NOT_CACHED")));
}

TEST(FilterDataset, MinimumCoverageSaysWhatHoldMeans) {
  const auto cluster = SnapshotBuilder().node("most").holds("team", "a", 0.8F).node("some").holds("team", "a", 0.5F);
  auto pod = request(1, {{"datasets", "a"}, {"dataset-policy", "required"}, {"min-coverage", "75"}});
  EXPECT_THAT(filter(cluster, pod, {"most", "some"}).kept, ElementsAre("most"));
  pod = request(1, {{"datasets", "a"}, {"dataset-policy", "required"}});
  EXPECT_THAT(filter(cluster, pod, {"most", "some"}).kept, ElementsAre("most", "some"));
}

TEST(FilterDataset, RequiredEndsWithItsWait) {
  const auto cluster = SnapshotBuilder().sized("team", "a", kGiB).node("cold");
  auto pod = request(1, {{"datasets", "a"}, {"dataset-policy", "required"}, {"dataset-wait", "5m"}});
  pod.created = core::WallTime(1h);
  EXPECT_THAT(filter(cluster, pod, {"cold"}, {}, 1, core::WallTime(1h + 4min)).kept, IsEmpty());
  EXPECT_THAT(filter(cluster, pod, {"cold"}, {}, 1, core::WallTime(1h + 5min)).kept, ElementsAre("cold"));
  pod.created = {};  // a manifest that was never created
  EXPECT_THAT(filter(cluster, pod, {"cold"}, {}, 1, core::WallTime(100h)).kept, IsEmpty());
}

TEST(FilterDataset, PreferredNeverLeavesAPodPending) {
  EXPECT_THAT(filter(SnapshotBuilder().node("cold"), request(1, {{"datasets", "a"}}), {"cold"}).kept,
              ElementsAre("cold"));
}

// Fluid's own label asks for one dataset, and two such labels for both of them.
TEST(FilterDataset, EachRequiredDatasetCountsForItself) {
  const auto cluster = SnapshotBuilder()
                           .node("a")
                           .holds("team", "a")
                           .node("b")
                           .holds("team", "b")
                           .node("both")
                           .holds("team", "a")
                           .holds("team", "b");
  auto pod = request(1, {{"datasets", "a,b"}});
  pod.datasets[0].required = true;
  EXPECT_THAT(filter(cluster, pod, {"a", "b", "both"}).rejected, ElementsAre(Pair("b", "DATASET_NOT_CACHED")));
  pod.datasets[1].required = true;
  EXPECT_THAT(filter(cluster, pod, {"a", "b", "both"}).kept, ElementsAre("both"));
}

TEST(FilterDataset, MinimumIsMetByExactlyAsMuch) {
  const auto cluster = SnapshotBuilder().node("n").holds("team", "a", 0.7F);
  EXPECT_THAT(filter(cluster, requires_a({{"min-coverage", "70"}}), {"n"}).kept, ElementsAre("n"));
}

TEST(FilterDataset, AWorkerThatIsNotReadyDoesNotHold) {
  const auto cluster = SnapshotBuilder().node("starting").hints("team", "a", 0.5F);
  EXPECT_THAT(filter(cluster, requires_a(), {"starting"}).rejected,
              ElementsAre(Pair("starting", "DATASET_NOT_CACHED")));
  EXPECT_THAT(filter(cluster, requires_a({{"min-coverage", "10"}}), {"starting"}).kept, IsEmpty());
}

TEST(FilterDataset, AWorkerHoldsUntilItIsMeasuredToBeEmpty) {
  const auto cluster = SnapshotBuilder()
                           .node("new")
                           .holds("team", "a", 0, model::CoverageSource::kNewWorker)
                           .node("empty")
                           .holds("team", "a", 0, model::CoverageSource::kMeasured);
  EXPECT_THAT(filter(cluster, requires_a(), {"new", "empty"}).kept, ElementsAre("new"));
  EXPECT_THAT(filter(cluster, requires_a({{"min-coverage", "1"}}), {"new", "empty"}).kept, IsEmpty());
}

TEST(FilterDataset, OneThatExistsNowhereIsUnknownOnAllNodes) {
  const auto cluster = SnapshotBuilder().node("holder").holds("team", "b").node("full", 8, 8);
  Settings settings;
  settings.gpu_count = GpuCountMode::kEnforce;
  EXPECT_THAT(
      filter(cluster, requires_a(), {"holder", "full", "new"}, settings).rejected,
      ElementsAre(Pair("full", "DATASET_UNKNOWN"), Pair("holder", "DATASET_UNKNOWN"), Pair("new", "DATASET_UNKNOWN")));
}

TEST(FilterDataset, OneThatExistsNowhereButIsOnlyPreferredIsAsIfNotWanted) {
  const auto cluster = SnapshotBuilder().node("cold", 8, 4).node("holder").holds("team", "b");
  const auto filtered = filter(cluster, request(1, {{"datasets", "a"}}), {"cold", "holder"});
  EXPECT_THAT(filtered.kept, ElementsAre("cold", "holder"));
  EXPECT_THAT(filtered.decision.unknown_datasets, ElementsAre("team/a"));
  // Of two datasets the known one is still required.
  auto pod = request(1, {{"datasets", "a,b"}});
  pod.datasets[1].required = true;
  EXPECT_THAT(filter(cluster, pod, {"cold", "holder"}).rejected, ElementsAre(Pair("cold", "DATASET_NOT_CACHED")));
}

TEST(FilterDataset, AfterTheWaitAnUnknownOneHoldsNobodyUp) {
  auto pod = requires_a({{"dataset-wait", "5m"}});
  pod.created = core::WallTime(1h);
  EXPECT_THAT(filter(SnapshotBuilder().node("n"), pod, {"n"}, {}, 1, core::WallTime(1h + 4min)).rejected,
              ElementsAre(Pair("n", "DATASET_UNKNOWN")));
  EXPECT_THAT(filter(SnapshotBuilder().node("n"), pod, {"n"}, {}, 1, core::WallTime(1h + 5min)).kept, ElementsAre("n"));
}

TEST(FilterDataset, TellsMoreThanTheGpusThatAreLeft) {
  const auto cluster =
      SnapshotBuilder().node("n", 8, 0, tests::kV100).free(model::mask({0, 5})).node("holder").holds("team", "a");
  auto pod = requires_a({{"topology-policy", "restricted"}});
  pod.gpus = 2;
  EXPECT_THAT(filter(cluster, pod, {"n"}).rejected, ElementsAre(Pair("n", "DATASET_NOT_CACHED")));
}

}  // namespace
}  // namespace berth::policy
