// What the expected loading time does to the choice of a node.
#include "berth/policy/scores.h"
#include "policy_fixture.h"

namespace berth::policy {
namespace {

const auto kWantsCached = request(1, {{"datasets", "a"}});

struct LocalityCase {
  const char* name;
  double load;
  double saved;
  double want;
};
class ScoreLocality : public testing::TestWithParam<LocalityCase> {};

// The best node loads in 50 s, a complete copy in 25; less than 5 s matter to nobody; from remote storage it takes 400.
INSTANTIATE_TEST_SUITE_P(Table, ScoreLocality,
                         testing::Values(LocalityCase{"the best", 50, 350, 1},
                                         LocalityCase{"not slower by as much as matters", 54.9, 345.1, 1},
                                         LocalityCase{"one step behind: 25/30", 55, 345, 25.0 / 30},
                                         LocalityCase{"between steps", 59.9, 340.1, 25.0 / 30},
                                         LocalityCase{"loses as much as a copy takes", 75, 325, 0.5},
                                         LocalityCase{"loses three times that", 125, 275, 0.25},
                                         LocalityCase{"saves hardly anything", 396, 4, 0},
                                         LocalityCase{"saves nothing", 400, 0, 0},
                                         LocalityCase{"faster than the best that fits: itself full", 25, 375, 1}));

TEST_P(ScoreLocality, IsTheHandWorkedOne) {
  const BestLoading best{50, 25, 5};
  EXPECT_DOUBLE_EQ(score_locality(steps_behind(GetParam().load, best), GetParam().saved, best), GetParam().want)
      << GetParam().name;
}

TEST(Locality, OneCopyOnTwoNodesWinsWhateverPackingAndTopologySay) {
  SnapshotBuilder cluster;
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back(name_of(i));
  for (int i = 0; i < 300; ++i) {
    // The two with the copy are empty, all others would be full with this pod.
    const bool copy = i == 150 || i == 250;
    cluster.node(names[static_cast<std::size_t>(i)], 8, copy ? 0 : 7);
    if (copy) cluster.holds("team", "a");
  }
  const auto filtered = filter(cluster, kWantsCached, {names.begin(), names.end()});
  EXPECT_EQ(filtered.kept[0], "n150");
  EXPECT_EQ(filtered.kept[1], "n250");
  EXPECT_DOUBLE_EQ(candidate(filtered, "n150").parts.locality, 1);
  EXPECT_DOUBLE_EQ(candidate(filtered, "n000").parts.locality, 0.25);  // 25 s and 75 more, in one zone
}

TEST(Locality, RackBeatsZoneBeatsRemote) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .node("full", 8, 8)
                           .stands(0, 0)
                           .holds("team", "a")
                           .node("far", 8, 7)
                           .stands(1, 0)
                           .node("rack", 8, 0)
                           .stands(0, 0)
                           .node("zone", 8, 7)
                           .stands(0, 1);
  const auto filtered = filter(cluster, kWantsCached, {"far", "full", "rack", "zone"});
  EXPECT_THAT(filtered.kept, ElementsAre("rack", "zone", "far", "full"));
  // Best that fits: the rack, 50 s. The zone loses 50 s: 25/75.
  EXPECT_DOUBLE_EQ(candidate(filtered, "rack").parts.locality, 1);
  EXPECT_DOUBLE_EQ(candidate(filtered, "zone").parts.locality, 25.0 / 75);
  EXPECT_DOUBLE_EQ(candidate(filtered, "far").parts.locality, 0);
}

// One copy of 1,000 GiB over 100 workers in five racks, which hold 1 % each.
TEST(Locality, ADatasetShardedOverManyWorkersDrawsToTheirRacks) {
  SnapshotBuilder cluster;
  cluster.sized("team", "a", 1000 * kGiB);
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(name_of(i));
  for (int i = 0; i < 100; ++i) {
    cluster.node(names[static_cast<std::size_t>(i)], 8, 6).stands(0, i / 20).holds("team", "a", 0.01F);
  }
  for (const auto& [name, zone, rack] : {std::tuple{"in-rack", 0U, 0}, {"in-zone", 0U, 9}, {"elsewhere", 1U, 0}}) {
    cluster.node(name, 8, 0).stands(zone, rack);
    names.emplace_back(name);
  }
  Settings settings;
  settings.coarse = Coarse::kOff;
  Filtered filtered = filter(cluster, kWantsCached, {names.begin(), names.begin() + 50}, settings);
  for (int i = 0; i < 50; ++i)
    EXPECT_DOUBLE_EQ(candidate(filtered, names[static_cast<std::size_t>(i)]).parts.locality, 1);

  filtered = filter(cluster, kWantsCached, {"n000", "in-rack", "in-zone", "elsewhere"}, settings);
  // 10 GiB here, 190 in the rack, 800 in the zone: 2.5 + 95 + 800. 200 and 800: 900. 1000 in the zone; remote 4000.
  EXPECT_NEAR(candidate(filtered, "n000").load_seconds, 897.5, 1e-3);
  EXPECT_NEAR(candidate(filtered, "in-rack").load_seconds, 900, 1e-3);
  EXPECT_NEAR(candidate(filtered, "in-zone").load_seconds, 1000, 1e-3);
  EXPECT_NEAR(candidate(filtered, "elsewhere").load_seconds, 4000, 1e-3);
  // 2.5 s don't matter; a copy on the node would take 250 s: 102.5 s behind, 20 steps of 5, are 250/350.
  EXPECT_DOUBLE_EQ(candidate(filtered, "n000").parts.locality, 1);
  EXPECT_DOUBLE_EQ(candidate(filtered, "in-rack").parts.locality, 1);
  EXPECT_DOUBLE_EQ(candidate(filtered, "in-zone").parts.locality, 250.0 / 350);
  EXPECT_DOUBLE_EQ(candidate(filtered, "elsewhere").parts.locality, 0);
  EXPECT_THAT(filtered.kept, ElementsAre("n000", "in-rack", "in-zone", "elsewhere"));
}

// Reports of a load over six equal workers: 24 GB on most, 298 MB on one.
TEST(Locality, BytesDecideWhereWorkersHoldUnevenParts) {
  SnapshotBuilder cluster;
  cluster.sized("team", "a", 143 * kGiB);
  for (const auto& [name, gib] : {std::pair{"a-empty", 0.3F}, {"b-most", 40.0F}, {"c-some", 24.0F}}) {
    cluster.node(name).stands(0).holds("team", "a", gib / 143);
  }
  EXPECT_THAT(filter(cluster, kWantsCached, {"a-empty", "b-most", "c-some"}).kept,
              ElementsAre("b-most", "c-some", "a-empty"));
}

TEST(Locality, ADatasetTooSmallToMatterDecidesNothing) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 10 << 20U)
                           .node("holder", 8, 0)
                           .stands(0)
                           .holds("team", "a")
                           .node("packed", 8, 7)
                           .stands(1);
  const auto filtered = filter(cluster, kWantsCached, {"holder", "packed"});
  EXPECT_THAT(filtered.kept, ElementsAre("packed", "holder"));
  EXPECT_DOUBLE_EQ(candidate(filtered, "holder").parts.locality, 0);
}

TEST(Locality, TheSmallestSavingThatMattersIsConfigured) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 10 << 20U)
                           .node("holder", 8, 0)
                           .stands(0)
                           .holds("team", "a")
                           .node("packed", 8, 7)
                           .stands(1);
  Settings settings;
  settings.data.min_saving = std::chrono::milliseconds(0);
  EXPECT_THAT(filter(cluster, kWantsCached, {"holder", "packed"}, settings).kept, ElementsAre("holder", "packed"));
}

TEST(Locality, AnImageDecidesBetweenNodesThatAreEqualOtherwise) {
  auto pod = request(1);
  pod.images = {1};
  const auto winner = [&](std::int64_t bytes) {
    return filter(SnapshotBuilder().node("a").node("b").has_image(1, bytes), pod, {"a", "b"}).decision.winner;
  };
  EXPECT_EQ(winner(10'000'000'000), "b");
  EXPECT_EQ(winner(10'000'000), "a");  // 0.07 s: the lower name
}

TEST(Locality, ImagesAddToWhatDatasetsTake) {
  // The dataset saves 15 s over its zone, the image 80.
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 20 * kGiB)
                           .node("data")
                           .holds("team", "a")
                           .node("image")
                           .has_image(1, 10 * kGiB);
  auto pod = kWantsCached;
  pod.images = {1};
  EXPECT_EQ(filter(cluster, pod, {"data", "image"}).decision.winner, "image");
}

TEST(Locality, IsNothingOnNodesThatAreNotKnown) {
  const auto cluster = SnapshotBuilder().node("holder", 8, 0).holds("team", "a");
  const auto filtered = filter(cluster, kWantsCached, {"new", "holder"});
  EXPECT_THAT(filtered.kept, ElementsAre("holder", "new"));
  EXPECT_DOUBLE_EQ(candidate(filtered, "new").parts.locality, 0);
}

TEST(Locality, AWorkerThatIsNotReadyAttracts) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .node("cold")
                           .stands(1)
                           .node("starting")
                           .stands(0)
                           .hints("team", "a", 0.5F);
  EXPECT_THAT(filter(cluster, kWantsCached, {"cold", "starting"}).kept, ElementsAre("starting", "cold"));
}

// A worker that came after the last measurement has nothing yet.
TEST(Locality, ANewWorkerDrawsNobody) {
  const auto cluster = SnapshotBuilder()
                           .sized("team", "a", 100 * kGiB)
                           .node("new")
                           .holds("team", "a", 0, model::CoverageSource::kNewWorker)
                           .node("none")
                           .node("old")
                           .holds("team", "a");
  const auto filtered = filter(cluster, kWantsCached, {"new", "none", "old"});
  EXPECT_EQ(filtered.kept[0], "old");
  EXPECT_DOUBLE_EQ(candidate(filtered, "new").parts.locality, candidate(filtered, "none").parts.locality);
}

TEST(Locality, NoDataBeatsRoomForThePod) {
  const auto cluster = SnapshotBuilder().node("data", 8, 8).holds("team", "a").node("free").stands(1);
  const auto filtered = filter(cluster, kWantsCached, {"data", "free"});
  EXPECT_THAT(filtered.kept, ElementsAre("free", "data"));
}

TEST(Shares, TellOfEachDatasetWhatTheNodeHoldsAndHowThatIsKnown) {
  const core::WallTime then(std::chrono::hours(5));
  const auto cluster = SnapshotBuilder()
                           .node("n")
                           .holds("team", "a", 0.5F, model::CoverageSource::kUniform, then)
                           .node("m")
                           .holds("team", "b");
  const auto filtered = filter(cluster, request(1, {{"datasets", "b,typo,a"}}), {"n", "m"});
  EXPECT_THAT(filtered.decision.unknown_datasets, ElementsAre("team/typo"));
  const auto n = candidate(filtered, "n");
  ASSERT_EQ(n.shares.size(), 3U);
  EXPECT_EQ(n.shares[0].coverage, 0);
  EXPECT_EQ(n.shares[0].observed, core::WallTime{});
  EXPECT_EQ(n.shares[1].coverage, 0);
  EXPECT_EQ(n.shares[2].coverage, 0.5F);
  EXPECT_EQ(n.shares[2].source, model::CoverageSource::kUniform);
  EXPECT_EQ(n.shares[2].observed, then);
  // The dataset that exists nowhere is left out: half of one of two equal ones.
  EXPECT_DOUBLE_EQ(n.coverage, 0.25);
}

}  // namespace
}  // namespace berth::policy
