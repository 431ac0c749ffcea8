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

TEST(ScorePacking, IsTheShareTakenAfterwards) {
  EXPECT_DOUBLE_EQ(parts(SnapshotBuilder().node("n", 8, 4), request(2)).packing, 0.75);
  EXPECT_DOUBLE_EQ(parts(SnapshotBuilder().node("n", 8, 0), request(8)).packing, 1.0);
  // Promised GPUs count as taken.
  EXPECT_DOUBLE_EQ(
      parts(SnapshotBuilder().node("n", 8, 0).promised("other", 4, model::EntryKind::kSoft), request(2)).packing, 0.75);
}

TEST(ScorePacking, APodWithoutGpusKeepsAwayFromFreeOnes) {
  const auto pod = request(0, {{"datasets", "a"}});
  EXPECT_DOUBLE_EQ(parts(SnapshotBuilder().node("n", 0, 0, ""), pod).packing, 1.0);
  EXPECT_DOUBLE_EQ(parts(SnapshotBuilder().node("n", 8, 2), pod).packing, 0.25);
}

TEST(Weigh, IsTheWeightedMean) {
  EXPECT_DOUBLE_EQ(weigh({1, 0.5, 0.25, 0}, {4, 2, 1}).total, (4 + 1 + 0.25) / 7);
  EXPECT_DOUBLE_EQ(weigh({1, 1, 1, 0}, {0, 0, 5}).total, 1);
}

}  // namespace
}  // namespace berth::policy
