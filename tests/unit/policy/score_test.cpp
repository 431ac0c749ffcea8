#include "berth/policy/scores.h"
#include "policy_fixture.h"

namespace berth::policy {
namespace {

using model::mask;

// The parts of the only candidate.
model::ScoreParts parts(const SnapshotBuilder& cluster, const model::PodRequest& pod) {
  const auto decision = filter(cluster, pod, {"n"}).decision;
  return decision.candidates.empty() ? model::ScoreParts{-1, -1, -1, -1} : decision.candidates[0].parts;
}

struct TopologyCase {
  const char* name;
  const char* product;
  model::GpuMask free;
  std::int64_t gpus;
  double want;
};

class ScoreTopology : public testing::TestWithParam<TopologyCase> {};

// 0.8 · bottleneck / best bottleneck of the empty machine + 0.2 · fewest NUMA nodes / NUMA nodes touched.
INSTANTIATE_TEST_SUITE_P(
    Table, ScoreTopology,
    testing::Values(TopologyCase{"the best pair", tests::kV100, mask({0, 3}), 2, 1.0},
                    TopologyCase{"a single link, one socket: 25/50", tests::kV100, mask({0, 1}), 2, 0.8 * 0.5 + 0.2},
                    TopologyCase{"a double link across the sockets", tests::kV100, mask({0, 4}), 2, 0.8 + 0.2 * 0.5},
                    TopologyCase{"SYS across the sockets: 8/50", tests::kV100, mask({0, 5}), 2, 0.8 * 0.16 + 0.2 * 0.5},
                    TopologyCase{"one GPU is always well placed", tests::kV100, mask({6}), 1, 1.0},
                    TopologyCase{"NVSwitch across the sockets", tests::kH100, mask({0, 4}), 2, 0.8 + 0.2 * 0.5},
                    TopologyCase{"all eight can do no better", tests::kH100, model::mask_all(8), 8, 1.0}));

TEST_P(ScoreTopology, IsTheHandWorkedOne) {
  const TopologyCase& c = GetParam();
  const auto cluster = SnapshotBuilder().node("n", 8, 0, c.product).free(c.free);
  EXPECT_DOUBLE_EQ(parts(cluster, request(c.gpus)).topology, c.want) << c.name;
}

TEST(ScoreTopologyUnknown, IsNeutralUsedOrEmpty) {
  EXPECT_DOUBLE_EQ(parts(SnapshotBuilder().node("n", 8, 1, "New-Card"), request(2)).topology, 0.5);
  EXPECT_DOUBLE_EQ(parts(SnapshotBuilder().node("n", 8, 0, "New-Card"), request(2)).topology, 0.5);
  EXPECT_DOUBLE_EQ(parts(SnapshotBuilder().node("n", 8, 0, "New-Card"), request(1)).topology, 1.0);
}

TEST(ScoreTopologyPolicy, NoneSwitchesThePartOff) {
  EXPECT_DOUBLE_EQ(parts(SnapshotBuilder().node("n"), request(2, {{"topology-policy", "none"}})).topology, 0);
}

// Half of the pods want one GPU, half of them eight. With weights 0.5 and, as they are large, 2 · 0.5.
const model::RequestMix kOnesAndEights{1, {{{.gpus = 1, .milli = 1'000}, 0.5}, {{.gpus = 8, .milli = 1'000}, 0.5}}};

// A job of eight loses exactly the node that it takes.
TEST(ScorePacking, IsOneHalfWhereNobodyLosesMoreThanIsTaken) {
  EXPECT_FLOAT_EQ(static_cast<float>(parts(SnapshotBuilder().node("n").mix(kOnesAndEights), request(8)).packing), 0.5F);
}

// Two GPUs of an empty node: of 8,000 those who want one lose 2,000; of as many those who want eight all but 6,000 ·
// (6/8)⁴ = 1,898.4. Costs 0.125 and 0.7627, where 2,000 of each would be 0.125 and 0.25.
TEST(ScorePacking, IsLowWhereLargeJobsLoseANode) {
  const double cost = 0.5 * 2'000 / 8'000 + (8'000 - 6'000 * 0.31640625) / 8'000;
  EXPECT_NEAR(parts(SnapshotBuilder().node("n").mix(kOnesAndEights), request(2)).packing,
              0.375 * 0.375 / (0.375 * 0.375 + cost * cost), 1e-6);
}

// Two of the four that are free: those who want one lose 2,000 of 4,000; those who want eight 2,000 · (2/8)⁴ less than
// 4,000 · (4/8)⁴ = 250, of a capacity of 250.
TEST(ScorePacking, IsHighWhereLargeJobsHaveNothingToLose) {
  const double cost = 0.5 * 2'000 / 4'000 + (250 - 7.8125) / 250;
  const double clean = (0.5 / 4'000 + 1.0 / 250) * 2'000;
  const auto cluster = SnapshotBuilder().node("n", 8, 4).mix(kOnesAndEights);
  const double want = clean * clean / (clean * clean + cost * cost);
  EXPECT_NEAR(parts(cluster, request(2)).packing, want, 1e-6);
  // Promised GPUs count as taken.
  const auto promised =
      SnapshotBuilder().node("n", 8, 0).mix(kOnesAndEights).promised("other", 4, model::EntryKind::kSoft);
  EXPECT_NEAR(parts(promised, request(2)).packing, want, 1e-6);
}

// What others were promised counts for them, not for the pod that was promised it.
TEST(ScorePacking, APodsOwnPromiseIsNoLoss) {
  const auto cluster =
      SnapshotBuilder().node("n").mix(kOnesAndEights).promised("uid-train", 8, model::EntryKind::kSoft);
  // For all others the node is taken. For this one it is free, and each class would lose the 8,000 that it takes.
  EXPECT_NEAR(parts(cluster, request(8)).packing, 0.5, 1e-6);
}

TEST(ScorePacking, KeepsTheCpuThatGpusNeed) {
  const model::RequestMix mix{1, {{{.cpu_milli = 80'000, .gpus = 8, .milli = 1'000}, 1}}};
  auto pod = request(0, {{"datasets", "a"}});
  pod.requests.basic.cpu_milli = 10'000;
  EXPECT_EQ(parts(SnapshotBuilder().node("n").cpu(100'000, 90'000).mix(mix), pod).packing, 1);
  EXPECT_EQ(parts(SnapshotBuilder().node("n").cpu(100'000, 89'999).mix(mix), pod).packing, 0);
  EXPECT_EQ(parts(SnapshotBuilder().node("n", 0, 0, "").cpu(100'000, 10'000).mix(mix), pod).packing, 1);
}

// The second pod of a kind is told what was worked out for the first; where something else holds for it, it is not.
TEST(ScorePacking, DoesNotMixUpPodsOfAKind) {
  SnapshotBuilder cluster;
  cluster.node("n").mix(kOnesAndEights).promised("uid-train", 4, model::EntryKind::kFirm, 5);
  const auto snapshot = cluster.stamped().build();
  const std::vector<std::string_view> names = {"n"};
  const auto packing = [&](const model::PodRequest& pod) {
    return decide_filter({*snapshot, pod, names}, {}).decision.candidates.at(0).parts.packing;
  };
  auto other = request(2);
  other.uid = "uid-other";
  auto urgent = other;
  urgent.priority = 6;
  const double of_other = packing(other);
  const double of_owner = packing(request(2));
  EXPECT_GT(of_other, of_owner) << "for others four GPUs are taken, so that large jobs have little to lose";
  EXPECT_EQ(packing(other), of_other);
  EXPECT_EQ(packing(urgent), of_owner) << "it need not respect the promise";
  EXPECT_EQ(packing(other), of_other);
}

// What a node is worth is remembered beside the costs, and a pod that takes nothing is like one that asks for nothing.
TEST(ScorePacking, APodWithoutAnyRequestDoesNotSpoilWhatIsRemembered) {
  SnapshotBuilder cluster;
  cluster.node("n").mix(kOnesAndEights);
  const auto fresh = cluster.stamped().build();
  const auto asked = cluster.stamped().build();
  const std::vector<std::string_view> names = {"n"};
  const auto packing = [&](const model::Snapshot& snapshot, const model::PodRequest& pod) {
    return decide_filter({snapshot, pod, names}, {}).decision.candidates.at(0).parts.packing;
  };
  EXPECT_EQ(packing(*asked, request(0, {{"datasets", "a"}})), 1);
  EXPECT_EQ(packing(*asked, request(8)), packing(*fresh, request(8)));
  EXPECT_EQ(packing(*asked, request(2)), packing(*fresh, request(2)));
  EXPECT_EQ(packing(*asked, request(0, {{"datasets", "a"}})), 1);
}

// The node would be as good as full if the CPU that it was promised itself counted.
TEST(ScorePacking, APodsOwnCpuIsGivenBack) {
  const model::RequestMix mix{1, {{{.cpu_milli = 90'000, .gpus = 8, .milli = 1'000}, 1}}};
  auto pod = request(8);
  pod.requests.basic.cpu_milli = 90'000;
  SnapshotBuilder own;
  own.node("n").cpu(96'000, 96'000).mix(mix).promised("uid-train", 8, model::EntryKind::kSoft).promised_cpu(90'000);
  EXPECT_NEAR(parts(own, pod).packing, 0.5, 1e-6);
}

TEST(Weigh, IsTheWeightedMean) {
  EXPECT_DOUBLE_EQ(weigh({1, 0.5, 0.25, 0}, {4, 2, 1}).total, (4 + 1 + 0.25) / 7);
  EXPECT_DOUBLE_EQ(weigh({1, 1, 1, 0}, {0, 0, 5}).total, 1);
}

}  // namespace
}  // namespace berth::policy
