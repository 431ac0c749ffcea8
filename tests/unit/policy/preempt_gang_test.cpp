// A gang that must be together preempts where all of it can be, or nowhere.
#include "preempt_fixture.h"

namespace berth::policy {
namespace {

// KAI#1591: a gang of two nodes and two full cliques. In the first all pods may be evicted; in the second one node is
// held by a pod of higher priority, so that half of a gang would be stuck there. Which members evict whom is not known
// yet, but that there is room for all of them is.
TEST(PreemptGang, AFullCliqueIsClearedForAllMembersOrNone) {
  auto cluster = SnapshotBuilder();
  for (const char* name : {"one-a", "one-b", "two-a", "two-b"}) {
    const std::string node = name;
    cluster.node(node)
        .occupant(holder("on-" + node, {0, 1, 2, 3, 4, 5, 6, 7}, node == "two-b" ? 1000 : 0))
        .levels({node.substr(0, 3)});
  }
  model::PodRequest pod = preemptor(8);
  pod.gang.name = "team/gang";
  pod.gang.members = 2;
  pod.gang_topology = {"nvidia.com/gpu.clique", true, 0};
  const auto answered =
      preempt(cluster, pod, {offer("one-a", {"on-one-a"}), offer("one-b", {"on-one-b"}), offer("two-a", {"on-two-a"})});
  EXPECT_THAT(answered.victims,
              ElementsAre(Pair("one-a", ElementsAre("on-one-a")), Pair("one-b", ElementsAre("on-one-b"))));
  EXPECT_THAT(answered.rejected, ElementsAre(Pair("two-a", "GANG_TOPOLOGY")));
}

}  // namespace
}  // namespace berth::policy
