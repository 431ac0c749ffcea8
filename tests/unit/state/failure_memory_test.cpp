#include "../src/state/failure_memory.h"

#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using std::chrono::seconds;

model::Pod refused(std::string name, const std::string& on, std::string reason = "UnexpectedAdmissionError") {
  model::Pod made = ended(bound(pod(std::move(name), 1), on), model::PodPhase::kFailed);
  made.owner = "job";
  made.failed_reason = std::move(reason);
  return made;
}

float failures(const Cluster& cluster, std::string_view node) {
  const auto snapshot = cluster.snapshot();
  return snapshot->at(snapshot->find(node)).failures;
}

float failures_of(const Cluster& cluster, std::string_view owner, std::string_view node) {
  const auto snapshot = cluster.snapshot();
  const auto found = snapshot->failures->find(owner);
  if (found == snapshot->failures->end()) return 0;
  for (const auto& [slot, count] : found->second) {
    if (slot == snapshot->find(node)) return count;
  }
  return 0;
}

// The reasons are those of kubelet's sources; Evicted is an end while running, no refusal.
TEST(FailureMemory, KnowsKubeletsRefusals) {
  EXPECT_EQ(refusal_cause("UnexpectedAdmissionError"), FailureCause::kAdmission);
  EXPECT_EQ(refusal_cause("TopologyAffinityError"), FailureCause::kTopology);
  EXPECT_EQ(refusal_cause("OutOfcpu"), FailureCause::kResources);
  EXPECT_EQ(refusal_cause("OutOfnvidia.com/gpu"), FailureCause::kResources);
  EXPECT_EQ(refusal_cause("NodeAffinity"), FailureCause::kOther);
  EXPECT_EQ(refusal_cause("Evicted"), std::nullopt);
  EXPECT_EQ(refusal_cause("DeadlineExceeded"), std::nullopt);
  EXPECT_EQ(refusal_cause(""), std::nullopt);
}

TEST(FailureMemory, CountsARefusedPodOnceForItsNodeAndItsOwner) {
  Cluster cluster;
  cluster.set_nodes(node("a"), node("b"));
  cluster.set_pods(bound(pod("p", 1), "a"));
  cluster.set_pods(refused("p", "a"));
  cluster.set_pods(refused("p", "a"));
  EXPECT_EQ(failures(cluster, "a"), 1);
  EXPECT_EQ(failures(cluster, "b"), 0);
  EXPECT_EQ(failures_of(cluster, "job", "a"), 1);
  EXPECT_EQ(cluster.state.counters().placement_failures[static_cast<std::size_t>(FailureCause::kAdmission)], 1U);
}

TEST(FailureMemory, CountsWhatTheApiServerRefused) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.tell(model::PlacementFailed{"a", ""}, model::PlacementFailed{"a", "set"});
  EXPECT_EQ(failures(cluster, "a"), 2);
  EXPECT_EQ(failures_of(cluster, "set", "a"), 1);
  EXPECT_EQ(cluster.state.counters().placement_failures[static_cast<std::size_t>(FailureCause::kBinding)], 2U);
}

// 20 steps of 30 s.
TEST(FailureMemory, FadesInStepsOverTenMinutes) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.tell(model::PlacementFailed{"a", "job"});
  cluster.clock.advance(seconds(29));
  cluster.state.step();
  const auto before = cluster.snapshot();
  EXPECT_EQ(failures(cluster, "a"), 1);
  cluster.clock.advance(seconds(1));
  cluster.state.step();
  EXPECT_FLOAT_EQ(failures(cluster, "a"), 0.95F);
  EXPECT_FLOAT_EQ(failures_of(cluster, "job", "a"), 0.95F);
  EXPECT_EQ(cluster.snapshot()->version, before->version + 1);
  cluster.clock.advance(seconds(270));
  cluster.state.step();
  EXPECT_FLOAT_EQ(failures(cluster, "a"), 0.5F);
  cluster.clock.advance(seconds(300));
  cluster.state.step();
  EXPECT_EQ(failures(cluster, "a"), 0);
  EXPECT_TRUE(cluster.snapshot()->failures->empty());
}

// Memory of failures alone makes no snapshot but every 30 seconds.
TEST(FailureMemory, MakesNoSnapshotBetweenSteps) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  cluster.tell(model::PlacementFailed{"a", "job"});
  const auto version = cluster.snapshot()->version;
  for (int i = 0; i < 29; ++i) {
    cluster.clock.advance(seconds(1));
    cluster.state.step();
  }
  EXPECT_EQ(cluster.snapshot()->version, version);
}

// A restart sees pods that failed long ago and have not been deleted.
TEST(FailureMemory, AfterARestartCountsOnlyWhatIsFresh) {
  Cluster cluster;
  cluster.set_nodes(node("a"), node("b"));
  cluster.clock.advance(seconds(7'200));
  model::Pod old = refused("old", "a");
  old.started = cluster.clock.wall() - seconds(601);
  model::Pod fresh = refused("fresh", "b");
  fresh.started = cluster.clock.wall() - seconds(300);
  cluster.tell(model::AllPods{{old, fresh}});
  EXPECT_EQ(failures(cluster, "a"), 0);
  EXPECT_FLOAT_EQ(failures(cluster, "b"), 0.5F);
}

TEST(FailureMemory, StaysWithANodeThatGoesAndComesBack) {
  Cluster cluster;
  cluster.set_nodes(node("a"), node("b"));
  cluster.tell(model::PlacementFailed{"b", "job"});
  cluster.tell(model::NodeGone{"b"});
  EXPECT_TRUE(cluster.snapshot()->failures->empty());
  cluster.set_nodes(node("b"));
  EXPECT_EQ(failures(cluster, "b"), 1);
  EXPECT_EQ(failures_of(cluster, "job", "b"), 1);
}

}  // namespace
}  // namespace berth::state
