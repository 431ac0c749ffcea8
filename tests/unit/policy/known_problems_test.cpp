// What users of other schedulers reported, replayed. docs/known-problems.md has the list; most of its tests are beside
// what they test.
#include "unit/policy/policy_fixture.h"

namespace berth::policy {
namespace {

constexpr const char* kA10 = "NVIDIA-A10";

std::string winner(const std::map<std::string, int>& scores) {
  for (const auto& [node, score] : scores) {
    if (score == 10) return node;
  }
  return {};
}

// volcano#3948: one, two and one GPUs are free on three nodes of four, and a job for four has no place.
TEST(KnownProblems, SmallJobsLeaveANodeWhole) {
  std::map<std::string, int> taken{{"a", 0}, {"b", 0}, {"c", 0}};
  const auto place = [&](int gpus) {
    SnapshotBuilder cluster;
    std::vector<std::string_view> fitting;
    for (const auto& [name, used] : taken) {
      cluster.node(name, 4, used, kA10);
      if (4 - used >= gpus) fitting.push_back(name);
    }
    const std::string node = winner(prioritize(cluster, request(gpus), fitting));
    taken[node] += gpus;
    return node;
  };
  for (const int gpus : {1, 2, 1, 1, 2, 1}) place(gpus);  // eight GPUs: two nodes full
  const std::string node = place(4);
  EXPECT_EQ(taken[node], 4);
}

// kubernetes#68036: nodes of four, four and two GPUs; a job for two on a node of four strands one of the jobs for four.
TEST(KnownProblems, ASmallJobGoesToTheSmallNode) {
  const auto cluster = SnapshotBuilder().node("four-a", 4, 0, kA10).node("four-b", 4, 0, kA10).node("two", 2, 0, kA10);
  EXPECT_EQ(winner(prioritize(cluster, request(2), {"four-a", "four-b", "two"})), "two");
}

}  // namespace
}  // namespace berth::policy
