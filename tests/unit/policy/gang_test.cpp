// Gangs: how near members are to each other, where a gang finds room, and where it must stay together.
#include "policy_fixture.h"

namespace berth::policy {
namespace {

constexpr const char* kGang = "team/train pod-group";
constexpr const char* kClique = "nvidia.com/gpu.clique";
constexpr const char* kRack = "topology.kubernetes.io/rack";

model::PodRequest member(std::int64_t gpus, std::int32_t members, const std::string& topology = "") {
  auto pod = topology.empty() ? request(gpus) : request(gpus, {{"gang-topology", topology}});
  pod.gang = {kGang, members};
  return pod;
}

using Named = std::map<std::string, double>;
Named proximities(const SnapshotBuilder& cluster, const model::PodRequest& pod, std::vector<std::string_view> names) {
  Named found;
  Settings settings;
  settings.coarse = Coarse::kOff;
  for (const auto& one : filter(cluster, pod, names, settings).decision.candidates) {
    found[one.node] = one.parts.proximity;
  }
  return found;
}

// Three levels and the node: 1, 0.8, 0.6, 0.4, and 0 for what has nothing in common.
TEST(ScoreProximity, FallsWithTheClosestCommonLevel) {
  SnapshotBuilder cluster;
  cluster.node("same").levels({"c1", "r1", "z1"}).member(kGang, "m1");
  cluster.node("clique").levels({"c1", "r1", "z1"});
  cluster.node("rack").levels({"c2", "r1", "z1"});
  cluster.node("zone").levels({"c3", "r2", "z1"});
  cluster.node("far").levels({"c4", "r3", "z2"});
  cluster.node("unlabelled");
  const auto found = proximities(cluster, member(1, 2), {"same", "clique", "rack", "zone", "far", "unlabelled"});
  EXPECT_NEAR(found.at("same"), 1, 1e-9);
  EXPECT_NEAR(found.at("clique"), 0.8, 1e-9);
  EXPECT_NEAR(found.at("rack"), 0.6, 1e-9);
  EXPECT_NEAR(found.at("zone"), 0.4, 1e-9);
  EXPECT_NEAR(found.at("far"), 0, 1e-9);
  EXPECT_NEAR(found.at("unlabelled"), 0, 1e-9);
}

TEST(ScoreProximity, IsTheMeanOverTheMembersThatHaveAPlace) {
  SnapshotBuilder cluster;
  cluster.node("a").levels({"c1", "r1", "z1"}).member(kGang, "m1");
  cluster.node("b").levels({"c2", "r1", "z1"});
  cluster.node("c").levels({"c3", "r2", "z1"}).member(kGang, "m2");
  const auto found = proximities(cluster, member(1, 3), {"a", "b", "c"});
  EXPECT_NEAR(found.at("a"), (1 + 0.4) / 2, 1e-9);
  EXPECT_NEAR(found.at("b"), (0.6 + 0.4) / 2, 1e-9);
  EXPECT_NEAR(found.at("c"), (1 + 0.4) / 2, 1e-9);
}

// NVIDIA-NeMo/RL#2924: nodes without a clique were taken for one clique.
TEST(ScoreProximity, NodesWithoutTheLabelAreNearNobody) {
  SnapshotBuilder cluster;
  cluster.node("a").levels({""}).member(kGang, "m1");
  cluster.node("b").levels({""});
  cluster.node("c").levels({"c1"});
  const auto found = proximities(cluster, member(1, 2), {"a", "b", "c"});
  EXPECT_NEAR(found.at("b"), 0, 1e-9);
  EXPECT_NEAR(found.at("c"), 0, 1e-9);
}

TEST(ScoreProximity, ThePodsOwnEntryIsNoNeighbour) {
  SnapshotBuilder cluster;
  cluster.node("a").levels({"c1"}).promised("uid-train", 8, model::EntryKind::kSoft).member(kGang, "uid-train");
  cluster.node("b").levels({"c2"}).member(kGang, "m2");
  const auto found = proximities(cluster, member(1, 2), {"a", "b"});
  EXPECT_NEAR(found.at("a"), 0, 1e-9);
  EXPECT_NEAR(found.at("b"), 1, 1e-9);
}

TEST(ScoreProximity, PreferredLabelAloneTellsWhatIsNear) {
  SnapshotBuilder cluster;
  cluster.node("a").levels({"c1", "r1"}).member(kGang, "m1");
  cluster.node("clique").levels({"c1", "r2"});
  cluster.node("rack").levels({"c2", "r1"});
  const auto found = proximities(cluster, member(1, 2, std::string("preferred=") + kRack), {"a", "clique", "rack"});
  EXPECT_NEAR(found.at("a"), 1, 1e-9);
  EXPECT_NEAR(found.at("rack"), 1, 1e-9);
  EXPECT_NEAR(found.at("clique"), 0, 1e-9);
}

// The totals of pods that are in no gang, or of which nothing is known, are as without gangs.
TEST(ScoreProximity, CountsForMembersOfAGangOnly) {
  SnapshotBuilder cluster;
  cluster.node("a").levels({"", "r1"}).member(kGang, "m1");
  cluster.node("b").levels({"", "r2"});
  const auto alone = filter(cluster, request(1), {"a", "b"});
  auto other = request(1);
  other.gang = {"team/other job", 0};
  const auto unknown = filter(cluster, other, {"a", "b"});
  // Topology of one GPU 1.
  const double packing = candidate(alone, "a").parts.packing;
  EXPECT_NEAR(candidate(alone, "a").parts.total, (2 * 1 + packing) / 7, 1e-9);
  EXPECT_NEAR(candidate(unknown, "a").parts.total, (2 * 1 + packing) / 7, 1e-9);
  // Beside a member.
  EXPECT_NEAR(candidate(filter(cluster, member(1, 2), {"a", "b"}), "a").parts.total, (2 * 1 + packing + 2 * 1) / 9,
              1e-9);
}

// Racks are the only level that any node tells: node 1, rack 2/3, nothing 1/3.
SnapshotBuilder racks(const std::vector<int>& free_nodes, std::vector<std::string>& names) {
  SnapshotBuilder cluster;
  for (std::size_t rack = 0; rack < free_nodes.size(); ++rack) {
    for (int i = 0; i < 8; ++i) {
      names.push_back("r" + std::to_string(rack) + "-" + std::to_string(i));
      cluster.node(names.back(), 8, i < free_nodes[rack] ? 0 : 8).levels({"", "r" + std::to_string(rack)});
    }
  }
  return cluster;
}

TEST(ScoreProximity, AGangBeginsWhereItFitsMostTightly) {
  std::vector<std::string> names;
  const SnapshotBuilder cluster = racks({3, 4, 8}, names);
  const auto found = proximities(cluster, member(8, 4), {names.begin(), names.end()});
  // A node takes a quarter of the gang: 1/3 + 1/3 × (4/4 + 1/4) / 2.
  EXPECT_NEAR(found.at("r1-0"), 1.0 / 3 + 1.25 / 6, 1e-9);
  EXPECT_NEAR(found.at("r2-0"), 1.0 / 3 + 0.75 / 6, 1e-9);
  // It does not fit: 1/3 × 3/4.
  EXPECT_NEAR(found.at("r0-0"), 0.25, 1e-9);
}

TEST(ScoreProximity, AGangThatFitsOnOneNodeGoesThere) {
  SnapshotBuilder cluster;
  cluster.node("half", 8, 4).levels({"", "r1"});
  cluster.node("empty").levels({"", "r1"});
  // Four times two GPUs: 2/3 + 1/3 × (4/4 + 1) / 2 = 1, and a rack with room for six: 1/3 + 1/3 × (4/6 + 2/4) / 2.
  const auto found = proximities(cluster, member(2, 4), {"half", "empty"});
  EXPECT_NEAR(found.at("empty"), 1, 1e-9);
  EXPECT_NEAR(found.at("half"), 1.0 / 3 + (4.0 / 6 + 0.5) / 6, 1e-9);
}

TEST(ScoreProximity, AGangLargerThanEveryRackBeginsInTheEmptiest) {
  std::vector<std::string> names;
  const SnapshotBuilder cluster = racks({4, 7, 5}, names);
  const auto filtered = filter(cluster, member(8, 12), {names.begin(), names.end()});
  EXPECT_EQ(filtered.decision.winner.substr(0, 2), "r1");
}

// Four whole nodes, placed one after the other among racks with 0 to 7 free nodes.
TEST(ScoreProximity, FourWholeNodesLandInOneRack) {
  std::vector<std::string> names;
  SnapshotBuilder cluster = racks({0, 3, 7, 2, 4, 6, 1, 5}, names);
  std::string placed;
  for (int i = 0; i < 4; ++i) {
    auto pod = member(8, 4);
    pod.uid = "m" + std::to_string(i);
    const std::string winner = filter(cluster, pod, {names.begin(), names.end()}).decision.winner;
    EXPECT_EQ(winner.substr(0, 2), "r4");
    cluster.take_whole(winner, kGang, pod.uid);
  }
}

// KAI-Scheduler#1591, nvcf#598: a gang was pinned to a clique without room for all of it.
TEST(FilterGang, RequiredTakesOnlyDomainsWithRoomForAll) {
  SnapshotBuilder cluster;
  cluster.node("a1").levels({"c1"});
  cluster.node("a2", 8, 4).levels({"c1"});
  cluster.node("b1").levels({"c2"});
  cluster.node("b2").levels({"c2"});
  cluster.node("bare");
  const auto filtered =
      filter(cluster, member(8, 2, std::string("required=") + kClique), {"a1", "a2", "b1", "b2", "bare"});
  EXPECT_THAT(filtered.kept, UnorderedElementsAre("b1", "b2"));
  EXPECT_EQ(filtered.rejected.at("a1"), "GANG_TOPOLOGY");
  EXPECT_EQ(filtered.rejected.at("bare"), "GANG_TOPOLOGY");
}

TEST(FilterGang, TheRestFollowsTheMembersThatHaveAPlace) {
  SnapshotBuilder cluster;
  cluster.node("a1", 8, 8).levels({"c1"}).member(kGang, "m1");
  cluster.node("a2").levels({"c1"});
  cluster.node("b1").levels({"c2"});
  cluster.node("b2").levels({"c2"});
  const auto pod = member(8, 2, std::string("required=") + kClique);
  const auto filtered = filter(cluster, pod, {"a2", "b1", "b2"});
  EXPECT_THAT(filtered.kept, ElementsAre("a2"));
  EXPECT_EQ(filtered.rejected.at("b1"), "GANG_TOPOLOGY");
  // Two are missing, and one finds room: none goes there, and none anywhere else.
  const auto none = filter(cluster, member(8, 3, std::string("required=") + kClique), {"a2", "b1", "b2"});
  EXPECT_THAT(none.kept, IsEmpty());
  EXPECT_EQ(none.rejected.at("a2"), "GANG_TOPOLOGY");
}

TEST(FilterGang, FirmPromisesOfOthersTakeRoomAndSoftOnesDoNot) {
  const auto kept = [](model::EntryKind kind) {
    SnapshotBuilder cluster;
    cluster.node("a1").levels({"c1"});
    cluster.node("a2").levels({"c1"}).promised("other", 8, kind);
    return filter(cluster, member(8, 2, std::string("required=") + kClique), {"a1", "a2"}).kept.size();
  };
  EXPECT_EQ(kept(model::EntryKind::kFirm), 0U);
  EXPECT_EQ(kept(model::EntryKind::kSoft), 2U);
}

// Two members within one second: the first is only expected, and the second goes to its clique all the same.
TEST(FilterGang, AnExpectedMemberPinsTheGangWhereTheRestFits) {
  SnapshotBuilder cluster;
  cluster.node("a1").levels({"c1"}).promised("m1", 8, model::EntryKind::kSoft).member(kGang, "m1");
  cluster.node("a2").levels({"c1"});
  cluster.node("b1").levels({"c2"});
  cluster.node("b2").levels({"c2"});
  cluster.node("b3").levels({"c2"});
  EXPECT_EQ(filter(cluster, member(8, 2, std::string("required=") + kClique), {"a2", "b1"}).kept,
            std::vector<std::string>{"a2"});
  // Three can't be there, and what is only expected rejects nothing.
  EXPECT_THAT(filter(cluster, member(8, 4, std::string("required=") + kClique), {"a2", "b1", "b2", "b3"}).kept,
              UnorderedElementsAre("b1", "b2", "b3"));
}

TEST(FilterGang, RequiredOnOneNode) {
  SnapshotBuilder cluster;
  cluster.node("small", 8, 6);
  cluster.node("large", 8, 2);
  const auto filtered = filter(cluster, member(2, 3, "required=kubernetes.io/hostname"), {"small", "large"});
  EXPECT_THAT(filtered.kept, ElementsAre("large"));
}

TEST(FilterGang, PreferredRejectsNothing) {
  SnapshotBuilder cluster;
  cluster.node("a", 8, 8).levels({"c1"}).member(kGang, "m1");
  cluster.node("b").levels({"c2"});
  EXPECT_THAT(filter(cluster, member(8, 2, std::string("preferred=") + kClique), {"b"}).kept, ElementsAre("b"));
}

TEST(FilterGang, ANodeThatIsNotKnownCanNotBeJudged) {
  SnapshotBuilder cluster;
  cluster.node("a").levels({"c1"});
  EXPECT_EQ(filter(cluster, member(8, 1, std::string("required=") + kClique), {"a", "new"}).rejected.at("new"),
            "NODE_UNKNOWN");
}

// 40 nodes for the gang, and two.
TEST(Coarse, HandsOnAsManyNodesAsTheGangTakes) {
  SnapshotBuilder cluster;
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(name_of(i));
  for (const auto& name : names) cluster.node(name);
  EXPECT_EQ(filter(cluster, member(8, 40), {names.begin(), names.end()}).kept.size(), 42U);
  EXPECT_EQ(filter(cluster, member(8, 4), {names.begin(), names.end()}).kept.size(), 32U);
  EXPECT_EQ(filter(cluster, member(4, 80), {names.begin(), names.end()}).kept.size(), 42U);
}

TEST(Coarse, AJobOfThousandsOfPodsDoesNotTurnTheNarrowingOff) {
  SnapshotBuilder cluster;
  std::vector<std::string> names;
  for (int i = 0; i < 600; ++i) names.push_back(name_of(i));
  for (const auto& name : names) cluster.node(name);
  EXPECT_EQ(filter(cluster, member(8, 50'000), {names.begin(), names.end()}).kept.size(), 512U);
}

// More nodes hold the data than are handed on, none of them beside the other members.
TEST(Coarse, DataDoesNotPushOutTheNodesBesideTheGang) {
  SnapshotBuilder cluster;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back(name_of(i));
  for (const auto& name : names) cluster.node(name).levels({"", "r2"}).holds("team", "a");
  cluster.node("first", 8, 8).levels({"", "r1"}).member(kGang, "m1");
  cluster.node("beside").levels({"", "r1"});
  names.emplace_back("beside");
  auto pod = request(8, {{"datasets", "a"}});
  pod.gang = {kGang, 2};
  pod.weights = {.locality = 1, .topology = 1, .packing = 1, .proximity = 10};
  EXPECT_EQ(filter(cluster, pod, {names.begin(), names.end()}).kept.front(), "beside");
}

// fluid#467, fluid#1729: the node with the cache has no free GPU, and the pod waits for it.
TEST(Locality, RoomForThePodComesBeforeItsData) {
  SnapshotBuilder cluster;
  cluster.node("cached", 8, 8).holds("team", "a");
  cluster.node("free");
  const auto filtered = filter(cluster, request(1, {{"datasets", "a"}}), {"cached", "free"});
  EXPECT_EQ(filtered.decision.winner, "free");
}

// kueue#4329, kueue#5243: eight GPUs are free, and a pod that wants eight is told that it may start.
TEST(WhatIf, EightScatteredGpusAreNoPlaceForAPodOfEight) {
  SnapshotBuilder cluster;
  for (const char* name : {"a", "b", "c", "d"}) cluster.node(name, 8, 6);
  Settings settings;
  settings.gpu_count = GpuCountMode::kEnforce;
  const auto filtered = filter(cluster, request(8), {"a", "b", "c", "d"}, settings);
  EXPECT_THAT(filtered.kept, IsEmpty());
  EXPECT_THAT(filtered.rejected, UnorderedElementsAre(Pair("a", "INSUFFICIENT_GPU"), Pair("b", "INSUFFICIENT_GPU"),
                                                      Pair("c", "INSUFFICIENT_GPU"), Pair("d", "INSUFFICIENT_GPU")));
}

}  // namespace
}  // namespace berth::policy
