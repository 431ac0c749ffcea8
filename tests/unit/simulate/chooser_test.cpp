// Which node each policy takes, on clusters small enough to work the scores out by hand.
#include "berth/simulate/chooser.h"

#include <gtest/gtest.h>

#include "fixture.h"

namespace berth::simulate {
namespace {

using model::mask;

// A cluster in which the first tasks of the list are put where the test says, before the last one is placed.
class World {
 public:
  World(const std::string& nodes, const std::string& tasks, ChooserSettings settings)
      : workload_(workload(nodes, tasks)),
        cluster_(workload_, as_listed(workload_)),
        chooser_(settings, workload_, cluster_, workload_.mix(), 1) {}

  void put(std::size_t task, NodeNumber node, model::GpuMask gpus) {
    const Task& one = workload_.tasks[task];
    cluster_.place(node, workload_.kinds[one.kind], one.memory_mib, gpus);
    chooser_.changed(node);
  }
  std::optional<Choice> choose(std::size_t task) {
    return chooser_.choose(workload_.tasks[task].kind, workload_.tasks[task].memory_mib);
  }

 private:
  Workload workload_;
  Cluster cluster_;
  Chooser chooser_;
};

void expect_choice(const std::optional<Choice>& choice, NodeNumber node, model::GpuMask gpus) {
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->node, node);
  EXPECT_EQ(choice->gpus, gpus);
}

constexpr const char* kTwoNodes = "a,64000,100000,4,G\nb,64000,100000,4,G\n";

// a: 3 GPUs left, 32 CPU; b: 2 GPUs left, 60 CPU. One more GPU and 4 CPU leave a with 2 GPUs and 28 CPU:
// 1 - 0.5 · 28/128 - 0.5 · 2/8 = 0.766; b with 1 GPU and 56 CPU: 1 - 0.5 · 56/128 - 0.5 · 1/8 = 0.719.
TEST(BestFit, LeavesTheLeastOfCpuAndGpusTogether) {
  World world(kTwoNodes, "t0,32000,1,1,1000,,,\nt1,4000,1,2,1000,,,\nt2,4000,1,1,1000,,,\n", {PolicyName::kBestFit});
  world.put(0, 0, mask({0}));
  world.put(1, 1, mask({0, 1}));
  expect_choice(world.choose(2), 0, mask({1}));
}

// Nodes of one level tie, and the first is taken: 1 - 0.5 · 28.0/128 and 1 - 0.5 · 27.8/128 are both 89 of 100.
TEST(BestFit, CountsInWholeHundredths) {
  World world("a,28000,1,1,G\nb,27800,1,1,G\n", "t,0,1,1,1000,,,\n", {PolicyName::kBestFit});
  expect_choice(world.choose(0), 0, mask({0}));
}

// Large requests keep off what is large: free 4 GPUs and 64 CPU against 2 GPUs and 60 CPU.
TEST(DotProduct, KeepsOffNodesThatHaveMuchOfWhatIsAsked) {
  World world(kTwoNodes, "t0,4000,1,2,1000,,,\nt1,16000,1,2,1000,,,\n", {PolicyName::kDotProduct});
  world.put(0, 1, mask({0, 1}));
  expect_choice(world.choose(1), 1, mask({2, 3}));
}

TEST(Packing, TakesUsedGpusThenNodesInUseThenFreeNodes) {
  const std::string tasks = "t0,1000,1,1,500,,,\nt1,1000,1,1,300,,,\nt2,1000,1,1,1000,,,\nt3,1000,1,1,600,,,\n";
  World world("a,64000,100000,4,G\nb,64000,100000,4,G\nc,64000,100000,4,G\n", tasks, {PolicyName::kPacking});
  world.put(0, 1, mask({2}));
  expect_choice(world.choose(1), 1, mask({2}));  // 100 - 50 / 10 = 95; a free GPU of b 49; a free node 29
  expect_choice(world.choose(2), 1, mask({0}));
  // 500 left on b's GPU is too little: a free GPU of b.
  expect_choice(world.choose(3), 1, mask({0}));
}

TEST(Packing, PrefersTheFullerOfUsedGpus) {
  World world(kTwoNodes, "t0,1000,1,1,500,,,\nt1,1000,1,1,700,,,\nt2,1000,1,1,300,,,\n", {PolicyName::kPacking});
  world.put(0, 0, mask({0}));
  world.put(1, 1, mask({1}));
  expect_choice(world.choose(2), 1, mask({1}));  // 100 - 3 against 100 - 5
}

TEST(Clustering, KeepsTasksOfOneShapeTogether) {
  const std::string nodes = "a,64000,100000,4,G\nb,64000,100000,4,G\nc,64000,100000,4,G\n";
  const std::string tasks = "t0,1000,1,1,500,,,\nt1,1000,1,1,1000,,,\nt2,1000,1,1,300,,,\nt3,1000,1,2,1000,,,\n";
  World world(nodes, tasks, {PolicyName::kClustering});
  world.put(1, 0, mask({0}));
  world.put(0, 1, mask({3}));
  expect_choice(world.choose(2), 1, mask({3}));     // shares on b alone, and there the fullest GPU
  expect_choice(world.choose(1), 0, mask({1}));     // single GPUs on a alone
  expect_choice(world.choose(3), 2, mask({0, 1}));  // none has pairs: the free node
  // With both shapes a comes after b, which has shares alone.
  world.put(0, 0, mask({1}));
  expect_choice(world.choose(2), 1, mask({3}));
}

// Half of the tasks want half a GPU, half a whole one: packing.h's hand-worked 54 against 43.
TEST(Fgd, TakesTheNodeWhoseFragmentsGrowTheLeast) {
  World world("a,64000,1,1,G\nb,64000,1,1,G\n", "t0,1000,0,1,500,,,\nt1,1000,0,1,1000,,,\n", {PolicyName::kFgd});
  world.put(0, 1, mask({0}));
  expect_choice(world.choose(0), 1, mask({0}));
}

// The CPU of a feeds two more tasks of 12, that of b four; each has two free GPUs. A task without GPUs costs a nothing
// usable only where it leaves 24: 8 CPU fit beside on b.
TEST(Berth, KeepsTheCpuThatFreeGpusNeed) {
  World world("a,26000,100,2,G\nb,34000,100,2,G\n", "t0,12000,1,1,1000,,,\nt1,8000,1,0,0,,,\n", {PolicyName::kBerth});
  expect_choice(world.choose(1), 1, 0);
}

// Task t2 runs on T alone, of which there is one GPU; t1 on any. The scarce one is kept.
TEST(Berth, KeepsScarceProductsForThoseWhoNeedThem) {
  World world("a,64000,100,1,T\nb,64000,100,4,G\n", "t1,1000,1,1,1000,,,\nt2,1000,1,1,1000,T,,\n",
              {PolicyName::kBerth});
  expect_choice(world.choose(0), 1, mask({0}));
  expect_choice(world.choose(1), 0, mask({0}));
}

TEST(Any, TasksThatFitNowhereHaveNoNode) {
  const std::string tasks =
      "t0,1000,1,2,1000,,,\nt1,65000,1,1,1000,,,\nt2,1000,100001,1,1000,,,\nt3,1000,1,1,1000,T,,\n"
      "t4,1000,1,1,500,,,\n";
  for (int policy = 0; policy < kPolicies; ++policy) {
    World world("a,64000,100000,1,G\n", tasks, {static_cast<PolicyName>(policy)});
    for (const std::size_t task : {0U, 1U, 2U, 3U}) EXPECT_FALSE(world.choose(task)) << task;
    EXPECT_TRUE(world.choose(4));
  }
}

TEST(Any, RandomTiesReachEveryEqualNode) {
  std::array<int, 2> taken = {};
  World world(kTwoNodes, "t,1000,1,1,1000,,,\n", {.policy = PolicyName::kFgd, .random_ties = true});
  for (int i = 0; i < 100; ++i) ++taken[world.choose(0)->node];
  EXPECT_GT(taken[0], 25);
  EXPECT_GT(taken[1], 25);
}

TEST(PickWhole, PrefersTheFullestIslandThatHasRoom) {
  model::Room room = model::empty_room(0, 8, 0);
  take_gpus(room, {.gpus = 1, .milli = 1000}, mask({4, 5}));
  EXPECT_EQ(pick_whole(room, 2, true), mask({6, 7}));
  EXPECT_EQ(pick_whole(room, 1, true), mask({6}));
  EXPECT_EQ(pick_whole(room, 4, true), mask({0, 1, 2, 3}));
  EXPECT_EQ(pick_whole(room, 5, true), mask({0, 1, 2, 3, 6}));
  EXPECT_EQ(pick_whole(room, 2, false), mask({0, 1}));
  EXPECT_TRUE(in_one_island(room, mask({6, 7})));
  EXPECT_FALSE(in_one_island(room, mask({3, 6})));
}

}  // namespace
}  // namespace berth::simulate
