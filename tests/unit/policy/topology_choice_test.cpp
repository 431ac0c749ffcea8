// Which node gets a pod by how the GPUs that are free there are linked: what went wrong elsewhere.
#include "policy_fixture.h"

namespace berth::policy {
namespace {

using model::Link;
using model::mask;
using model::nvlink;

// Eight PCIe cards with NVLink bridges 0-2, 1-3, 4-5 and 6-7, SYS else (k8s-device-plugin#546).
model::Machine bridged() {
  model::Machine machine;
  machine.gpus.resize(8);
  for (std::size_t i = 0; i < 8; ++i) machine.gpus[i].numa = static_cast<std::int8_t>(i / 4);
  machine.links = model::LinkMatrix::uniform(8, Link::kSys);
  for (const auto& [a, b] : {std::pair{0, 2}, {1, 3}, {4, 5}, {6, 7}}) machine.links->set(a, b, nvlink(12));
  return machine;
}

// HAMi#1168, koordinator#1116, scheduler-plugins#690: nodes were chosen without looking at their links, and cards only
// then. Two GPUs are free on both; those of one node are bridged.
TEST(ChooseNode, FreeBridgedPairBeatsTwoLoneGpus) {
  const auto cluster = SnapshotBuilder()
                           .node("lone", 8, 0, "")
                           .told(bridged())
                           .free(mask({0, 1}))
                           .node("pair", 8, 0, "")
                           .told(bridged())
                           .free(mask({0, 2}));
  const auto filtered = filter(cluster, request(2), {"lone", "pair"});
  EXPECT_THAT(filtered.kept, ElementsAre("pair", "lone"));
  // 0.8 · 8/300 + 0.2, both GPUs being on one NUMA node.
  EXPECT_DOUBLE_EQ(candidate(filtered, "lone").parts.topology, 0.8 * 8 / 300 + 0.2);
  EXPECT_DOUBLE_EQ(candidate(filtered, "pair").parts.topology, 1);
  EXPECT_EQ(candidate(filtered, "pair").gpu_set, mask({0, 2}));
}

// volcano#4998: four GPUs are wanted; GPUs 0, 1, 2 and 7 are free on one node, 0 to 5 on the other. The first would be
// full then, but its four straddle the sockets: 8 of 20 GB/s.
TEST(ChooseNode, FourOfOneSocketBeatFourOfTwo) {
  const auto cluster = SnapshotBuilder()
                           .node("straddling", 8, 0, "NVIDIA-L40S")
                           .free(mask({0, 1, 2, 7}))
                           .node("whole", 8, 0, "NVIDIA-L40S")
                           .free(mask({0, 1, 2, 3, 4, 5}));
  const auto filtered = filter(cluster, request(4), {"straddling", "whole"});
  EXPECT_THAT(filtered.kept, ElementsAre("whole", "straddling"));
  EXPECT_EQ(candidate(filtered, "whole").gpu_set, mask({0, 1, 2, 3}));
}

// HAMi#1006, HAMi#1806: sorting by NUMA node overrode what the score said. Over NVSwitch all pairs are as wide: the
// node that is full then wins although its four straddle the sockets (2 · 0.9 + 0.894 against 2 · 1 + 0.688). Where
// links and packing are equal, NUMA nodes decide.
TEST(ChooseNode, NumaNodesBreakTiesAndNoMore) {
  const auto packing = SnapshotBuilder()
                           .node("roomy", 8, 0)
                           .free(mask({0, 1, 2, 3, 4, 5}))
                           .node("straddling", 8, 0)
                           .free(mask({0, 1, 2, 7}));
  EXPECT_THAT(filter(packing, request(4), {"roomy", "straddling"}).kept, ElementsAre("straddling", "roomy"));
  const auto tie = SnapshotBuilder()
                       .node("straddling", 8, 0)
                       .free(mask({0, 1, 2, 7}))
                       .node("together", 8, 0)
                       .free(mask({4, 5, 6, 7}));
  EXPECT_THAT(filter(tie, request(4), {"straddling", "together"}).kept, ElementsAre("together", "straddling"));
}

// Of the GPUs of one node: the double link across the sockets before the single one on one socket.
TEST(ChooseNode, LinksComeBeforeNumaNodesWithinANodeToo) {
  const auto cluster = SnapshotBuilder().node("n", 8, 0, tests::kV100).free(mask({0, 1, 4}));
  EXPECT_EQ(candidate(filter(cluster, request(2), {"n"}), "n").gpu_set, mask({0, 4}));
}

// KAI#1598, kubernetes#84869: kubelet's topology manager rejects the pod after it was bound, and its controller makes
// new ones without end. With `restricted` such a node is no candidate.
TEST(ChooseNode, RestrictedNeverBindsWhereThePodWouldStraddle) {
  const auto cluster = SnapshotBuilder()
                           .node("straddling", 8, 0, "NVIDIA-L40S")
                           .free(mask({2, 3, 4, 5}))
                           .node("bridges", 8, 0, "")
                           .told(bridged())
                           .free(mask({0, 1, 2, 3}))
                           .node("whole", 8, 0, "NVIDIA-L40S")
                           .free(mask({0, 4, 5, 6, 7}));
  const auto filtered =
      filter(cluster, request(4, {{"topology-policy", "restricted"}}), {"straddling", "bridges", "whole"});
  EXPECT_THAT(filtered.kept, ElementsAre("whole"));
  EXPECT_THAT(filtered.rejected,
              ElementsAre(Pair("bridges", "TOPOLOGY_RESTRICTED"), Pair("straddling", "TOPOLOGY_RESTRICTED")));
  EXPECT_EQ(candidate(filtered, "whole").gpu_set, mask({4, 5, 6, 7}));
}

}  // namespace
}  // namespace berth::policy
