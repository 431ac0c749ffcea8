// Pods that wait for a policy, or for room for the whole of their gang.
#include "wake_fixture.h"

namespace berth::control {
namespace {

TEST_F(WakePlanTest, APolicyThatComesWakesThePodsThatNameIt) {
  SnapshotBuilder cluster;
  cluster.node("a");
  const auto before = cluster.build();
  const auto names_it = pod("fast", 1, {{"scheduling-policy", "fast"}});
  const auto names_another = pod("slow", 1, {{"scheduling-policy", "slow"}});
  reject(names_it, before);
  reject(names_another, before);
  EXPECT_THAT(woken(before), IsEmpty());
  cluster.policy({"team", "fast", {}, {}});
  EXPECT_THAT(woken(cluster.build()), ElementsAre("fast"));
}

TEST_F(WakePlanTest, APolicyThatIsMendedWakesThePodsOfItsNamespace) {
  SnapshotBuilder cluster;
  cluster.node("a");
  cluster.policy({"team", "default", {}, core::Error{core::ErrorCode::kInvalid, "no", "spec.topologyPolicy"}});
  const auto waits = pod("train", 1, {});
  const auto before = cluster.build();
  reject(waits, before);
  EXPECT_THAT(woken(before), IsEmpty());
  cluster.policy({"team", "default", {}, {}});
  EXPECT_THAT(woken(cluster.build()), ElementsAre("train"));
}

// KAI-Scheduler#1591: the node itself had room all the time.
TEST_F(WakePlanTest, RoomForTheRestOfTheGangWakesAMember) {
  const auto cluster = [](int taken) {
    SnapshotBuilder made;
    made.node("a1").levels({"c1"});
    made.node("a2", 8, taken).levels({"c1"});
    return made.build();
  };
  model::Pod member = *pod("member", 8, {{"gang-topology", "required=nvidia.com/gpu.clique"}});
  member.gang = {"team/train job", 2};
  const auto before = cluster(8);
  reject(std::make_shared<const model::Pod>(member), before, {"a1"});
  EXPECT_THAT(woken(before), IsEmpty());
  EXPECT_THAT(woken(cluster(0)), ElementsAre("member"));
}

}  // namespace
}  // namespace berth::control
