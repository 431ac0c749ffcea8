// How long a pod is expected to load its data on a node. By default a GiB takes 0.25 s from the node's own cache, 0.5 s
// from the rack, 1 s from the zone, 4 s from remote storage, and 8 s of an image from the registry.
#include "policy_fixture.h"

namespace berth::policy {
namespace {

const auto kWantsA = request(1, {{"datasets", "a"}});

// By node: seconds to load, and of these saved.
std::map<std::string, std::pair<double, double>> seconds_by_node(const SnapshotBuilder& cluster,
                                                                 const model::PodRequest& pod,
                                                                 const std::vector<std::string_view>& names,
                                                                 const Settings& settings = {}) {
  std::map<std::string, std::pair<double, double>> result;
  for (const auto& one : filter(cluster, pod, names, settings).decision.candidates) {
    result[one.node] = {one.load_seconds, one.saved_seconds};
  }
  return result;
}

TEST(LoadingTime, ComesFromNodeRackZoneOrRemoteStorage) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .node("holder")
                           .stands(0, 0)
                           .holds("team", "a")
                           .node("rack")
                           .stands(0, 0)
                           .node("zone")
                           .stands(0, 1)
                           .node("far")
                           .stands(1, 0);
  EXPECT_THAT(seconds_by_node(cluster, kWantsA, {"holder", "rack", "zone", "far"}),
              ElementsAre(Pair("far", Pair(400, 0)), Pair("holder", Pair(25, 375)), Pair("rack", Pair(50, 350)),
                          Pair("zone", Pair(100, 300))));
}

TEST(LoadingTime, NodesWithoutARackAreNobodysNeighboursButOfTheirZone) {
  const auto cluster = SnapshotBuilder().sized("team", "a", 100 * kGiB).node("holder").holds("team", "a").node("other");
  EXPECT_THAT(seconds_by_node(cluster, kWantsA, {"holder", "other"}),
              ElementsAre(Pair("holder", Pair(25, 375)), Pair("other", Pair(100, 300))));
}

TEST(LoadingTime, EveryByteIsReadOnceFromTheNearestPlace) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .node("half")
                           .stands(0, 0)
                           .holds("team", "a", 0.5F)
                           .node("quarter")
                           .stands(0, 0)
                           .holds("team", "a", 0.25F)
                           .node("next")
                           .stands(0, 0)
                           .node("zone")
                           .stands(0, 1)
                           .holds("team", "a", 0.5F)
                           .node("far")
                           .stands(1, 0)
                           .holds("team", "a", 0.125F);
  // half: 50 here, 25 in the rack, 25 in the zone: 12.5 + 12.5 + 25. quarter: 25, 50, 25: 6.25 + 25 + 25.
  // next: 75 in the rack, 25 in the zone: 37.5 + 25. zone: 50 here, 50 in the zone (75 are there): 12.5 + 50.
  // far: 12.5 here, the others are in another zone: 3.125 + 87.5 * 4.
  EXPECT_THAT(
      seconds_by_node(cluster, kWantsA, {"half", "quarter", "next", "zone", "far"}),
      ElementsAre(Pair("far", Pair(353.125, 46.875)), Pair("half", Pair(50, 350)), Pair("next", Pair(62.5, 337.5)),
                  Pair("quarter", Pair(56.25, 343.75)), Pair("zone", Pair(62.5, 337.5))));
}

TEST(LoadingTime, ACacheThatNobodySharesIsNobodysNeighbour) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .own_caches("team", "a")
                           .node("half")
                           .stands(0, 0)
                           .holds("team", "a", 0.5F)
                           .node("other")
                           .stands(0, 0)
                           .holds("team", "a", 0.25F)
                           .node("rack")
                           .stands(0, 0)
                           .node("zone");
  // half: 50 GiB here and 50 from afar. other: 25 and 75.
  EXPECT_THAT(seconds_by_node(cluster, kWantsA, {"half", "other", "rack", "zone"}),
              ElementsAre(Pair("half", Pair(212.5, 187.5)), Pair("other", Pair(306.25, 93.75)),
                          Pair("rack", Pair(400, 0)), Pair("zone", Pair(400, 0))));
}

// Alluxio under load caches blocks on several workers: reports of three times the dataset's size.
TEST(LoadingTime, MoreCopiesThanOneSaveNoMoreThanOne) {
  SnapshotBuilder cluster;
  cluster.sized("team", "a", 100 * kGiB);
  for (const char* name : {"x", "y", "z"}) cluster.node(name).stands(0, 0).holds("team", "a");
  cluster.node("next").stands(0, 0);
  EXPECT_THAT(seconds_by_node(cluster, kWantsA, {"x", "next"}),
              ElementsAre(Pair("next", Pair(50, 350)), Pair("x", Pair(25, 375))));
}

TEST(LoadingTime, DatasetsWeighByTheirBytes) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 300 * kGiB)
                           .sized("team", "b", 100 * kGiB)
                           .node("big")
                           .stands(0)
                           .holds("team", "a")
                           .node("small")
                           .stands(1)
                           .holds("team", "b");
  const auto filtered = filter(cluster, request(1, {{"datasets", "a,b"}}), {"small", "big"});
  EXPECT_THAT(filtered.kept, ElementsAre("big", "small"));
  const auto big = candidate(filtered, "big");
  EXPECT_DOUBLE_EQ(big.coverage, 0.75);
  EXPECT_DOUBLE_EQ(big.load_seconds, 75 + 400);
  EXPECT_DOUBLE_EQ(big.saved_seconds, 1125);
  const auto small = candidate(filtered, "small");
  EXPECT_DOUBLE_EQ(small.coverage, 0.25);
  EXPECT_DOUBLE_EQ(small.load_seconds, 1200 + 25);
}

TEST(LoadingTime, AnUnknownSizeIsTheConfiguredOne) {
  const auto cluster = SnapshotBuilder().node("n").holds("team", "a");
  EXPECT_THAT(seconds_by_node(cluster, kWantsA, {"n"}), ElementsAre(Pair("n", Pair(25, 375))));
  Settings settings;
  settings.data.unknown_bytes = std::size_t{8} << 30U;
  EXPECT_THAT(seconds_by_node(cluster, kWantsA, {"n"}, settings), ElementsAre(Pair("n", Pair(2, 30))));
}

TEST(LoadingTime, BandwidthsAreTheConfiguredOnes) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 120 * kGiB)
                           .node("holder")
                           .stands(0, 0)
                           .holds("team", "a")
                           .node("rack")
                           .stands(0, 0)
                           .node("zone")
                           .stands(0, 1)
                           .node("far")
                           .stands(1, 0)
                           .has_image(7, 10 * kGiB);
  Settings settings;
  settings.data.bandwidth = {std::size_t{12} << 30U, std::size_t{6} << 30U, std::size_t{3} << 30U,
                             std::size_t{1} << 30U, std::size_t{2} << 30U};
  auto pod = kWantsA;
  pod.images = {7};
  EXPECT_THAT(seconds_by_node(cluster, pod, {"holder", "rack", "zone", "far"}, settings),
              ElementsAre(Pair("far", Pair(120, 5)), Pair("holder", Pair(10 + 5, 110)), Pair("rack", Pair(20 + 5, 100)),
                          Pair("zone", Pair(40 + 5, 80))));
}

TEST(LoadingTime, CountsTheImagesThatANodeLacks) {
  const auto cluster = SnapshotBuilder()
                           .node("both")
                           .has_image(1, 10 * kGiB)
                           .has_image(257, 2 * kGiB)
                           .node("one")
                           .has_image(1, 10 * kGiB)
                           .node("none");
  auto pod = request(1);
  pod.images = {1, 257, 99};  // of 99 no node knows the size
  EXPECT_THAT(seconds_by_node(cluster, pod, {"both", "one", "none"}),
              ElementsAre(Pair("both", Pair(0, 96)), Pair("none", Pair(96, 0)), Pair("one", Pair(16, 80))));
}

TEST(LoadingTime, NothingIsToldOfAPodWithoutData) {
  const auto cluster = SnapshotBuilder().node("n").holds("team", "a").has_image(1, kGiB);
  EXPECT_THAT(seconds_by_node(cluster, request(1), {"n"}), ElementsAre(Pair("n", Pair(0, 0))));
}

TEST(LoadingTime, ANodeThatIsNotKnownHasEverythingToLoad) {
  const auto cluster = SnapshotBuilder().sized("team", "a", 100 * kGiB).node("n").holds("team", "a");
  EXPECT_THAT(seconds_by_node(cluster, kWantsA, {"n", "new"}),
              ElementsAre(Pair("n", Pair(25, 375)), Pair("new", Pair(400, 0))));
}

TEST(Heat, ReadersBeyondFullSpeedShareWhatTheyGet) {
  const auto load = [](int readers) {
    const auto cluster =
        SnapshotBuilder().sized("team", "a", 100 * kGiB).node("n").holds("team", "a").reads("team", "a", readers);
    return candidate(filter(cluster, kWantsA, {"n"}), "n").load_seconds;
  };
  EXPECT_DOUBLE_EQ(load(1), 25);
  EXPECT_DOUBLE_EQ(load(7), 25);  // with the pod itself, eight
  EXPECT_DOUBLE_EQ(load(8), 25 * 9 / 8.0);
  EXPECT_DOUBLE_EQ(load(15), 50);
}

TEST(Heat, CountsOnNodesThatHoldNothingToo) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .node("before")
                           .reads("team", "a", 15)
                           .node("holder")
                           .holds("team", "a")
                           .node("after")
                           .reads("team", "a", 31);
  EXPECT_THAT(seconds_by_node(cluster, kWantsA, {"before", "holder", "after"}),
              ElementsAre(Pair("after", Pair(400, 0)), Pair("before", Pair(200, 200)), Pair("holder", Pair(25, 375))));
}

TEST(Heat, ThePodItselfIsNoReader) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .node("promised")
                           .holds("team", "a")
                           .reads("team", "a", 8)
                           .promised("uid-train", 1, model::EntryKind::kSoft)
                           .node("other")
                           .holds("team", "a")
                           .reads("team", "a", 8);
  EXPECT_THAT(seconds_by_node(cluster, kWantsA, {"promised", "other"}),
              ElementsAre(Pair("other", Pair(28.125, 371.875)), Pair("promised", Pair(25, 375))));
}

TEST(Heat, IsOfOneDataset) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .sized("team", "b", 40 * kGiB)
                           .node("n")
                           .holds("team", "a")
                           .reads("team", "a", 15)
                           .holds("team", "b")
                           .reads("team", "b", 3);
  EXPECT_THAT(seconds_by_node(cluster, request(1, {{"datasets", "a,b"}}), {"n"}),
              ElementsAre(Pair("n", Pair(60, 500))));
}

// Pods without GPUs that read one dataset come one after the other. One node holds it, its neighbour in the rack is
// idle.
TEST(Heat, FiftyReadersDoNotAllPileOnTheNodeWithTheCopy) {
  const auto pod = request(0, {{"datasets", "a"}});
  int hot = 0;
  int idle = 0;
  for (int i = 0; i < 50; ++i) {
    SnapshotBuilder cluster;
    cluster.sized("team", "a", 100 * kGiB);
    cluster.node("hot").stands(0, 0).holds("team", "a");
    if (hot > 0) cluster.reads("team", "a", hot);
    cluster.node("idle").stands(0, 0);
    if (idle > 0) cluster.reads("team", "a", idle);
    cluster.node("far").stands(1, 0);
    const auto winner = filter(cluster, pod, {"hot", "idle", "far"}).decision.winner;
    ASSERT_NE(winner, "far") << "a heated copy is still faster than remote storage";
    (winner == "hot" ? hot : idle) += 1;
    ASSERT_TRUE(winner == "hot" || i >= 8) << i;
  }
  // The neighbour reads at half the speed: about twice as many fit on the node with the copy.
  EXPECT_GE(hot, 30);
  EXPECT_LE(hot, 36);
}

TEST(Heat, DoesNotDriveAPodToRemoteStorage) {
  // 51 readers: 25 s become 159; from afar it is 400.
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .node("hot")
                           .stands(0)
                           .holds("team", "a")
                           .reads("team", "a", 50)
                           .node("far")
                           .stands(1);
  EXPECT_EQ(filter(cluster, kWantsA, {"far", "hot"}).decision.winner, "hot");
}

}  // namespace
}  // namespace berth::policy
