// Whom to evict where there are thousands of ways to clear a node.
#include <array>

#include "preempt_fixture.h"

namespace berth::policy {
namespace {

// Sixteen GPUs on four boards in a row, 0 to 3, 4 to 7 and so on: each has links to those of its board and to its like
// on the next boards, so that GPU 5 has them to 4, 6, 7 and to 1 and 9.
model::Machine four_boards() {
  model::Machine machine;
  machine.gpus.resize(16);
  machine.links = model::LinkMatrix::uniform(16, model::Link::kSys);
  for (int a = 0; a < 16; ++a) {
    for (int b = a + 1; b < 16; ++b) {
      if (a / 4 == b / 4 || b == a + 4) machine.links->set(a, b, model::nvlink(1));
    }
  }
  return machine;
}

// "g00" to "g15", one on each GPU, for so many minutes by board.
using Minutes = std::array<int, 4>;
std::vector<model::Occupant> one_on_each(const Minutes& minutes) {
  std::vector<model::Occupant> pods;
  for (int gpu = 0; gpu < 16; ++gpu) {
    const std::string number = std::to_string(gpu);
    pods.push_back(holder((gpu < 10 ? "g0" : "g") + number, {gpu}, 0, minutes[static_cast<std::size_t>(gpu / 4)]));
  }
  return pods;
}

SnapshotBuilder node_of(const std::vector<model::Occupant>& pods) {
  SnapshotBuilder cluster;
  cluster.node("n", 16).told(four_boards());
  for (const model::Occupant& pod : pods) cluster.occupant(pod);
  return cluster;
}

// The first and the third board, which no link joins.
const std::vector<model::PreemptionCandidate> kOffered = {
    offer("n", {"g00", "g01", "g02", "g03", "g08", "g09", "g10", "g11"})};

std::vector<std::string> victims(const SnapshotBuilder& cluster, const model::PodRequest& pod) {
  return preempt(cluster, pod, kOffered).victims["n"];
}

class PreemptManyWays : public testing::Test {
 protected:
  PreemptManyWays() {
    pods_[2].started = ago(600);
    pods_[6].started = ago(5);
    pods_[7].started = ago(10);
    for (std::size_t gpu = 12; gpu < 16; ++gpu) {
      pods_[gpu].priority = 10;
      pods_[gpu].started = ago(1);
    }
  }
  std::vector<model::Occupant> pods_ = one_on_each({60, 60, 60, 60});
};

// The last board has a higher priority, so one GPU of the second joins the two in place of any but its likes there.
// Without g02, which loses the most, it can't be g06, which loses the least.
TEST_F(PreemptManyWays, FewestUnlikeThenLeastWorkLost) {
  EXPECT_THAT(victims(node_of(pods_), restricted(8)),
              ElementsAre("g00", "g01", "g03", "g08", "g09", "g10", "g11", "g07"));
}

TEST_F(PreemptManyWays, LowestPrioritiesBeforeLeastWorkLost) {
  pods_[5].priority = -1;
  EXPECT_THAT(victims(node_of(pods_), restricted(8)),
              ElementsAre("g00", "g01", "g03", "g08", "g09", "g10", "g11", "g05"));
}

TEST_F(PreemptManyWays, BudgetsBeforeLowestPriorities) {
  pods_[5].priority = -1;
  pods_[5].labels = {{"app", "serving"}};
  model::DisruptionBudget budget;
  budget.ns = "team";
  budget.selector = {{"app", model::SelectorTerm::Operator::kIn, {"serving"}}};
  EXPECT_THAT(victims(node_of(pods_).budget(budget), restricted(8)),
              ElementsAre("g00", "g01", "g03", "g08", "g09", "g10", "g11", "g07"));
}

// Sixteen pods of one controller. Between the boards that lose ten minutes a pod there is no link; two likes on the
// boards in the middle join six of them, which loses 60 + 45 + 60. The first two boards would lose 40 + 180.
TEST_F(PreemptManyWays, OfAlikePodsAConnectedSetThatLosesTheLeastThenTheLowestUids) {
  auto pods = one_on_each({10, 45, 60, 10});
  for (model::Occupant& pod : pods) pod.owner = "job";
  EXPECT_THAT(victims(node_of(pods), preemptor(8)),
              ElementsAre("g00", "g01", "g02", "g03", "g08", "g04", "g12", "g13"));
}

}  // namespace
}  // namespace berth::policy
