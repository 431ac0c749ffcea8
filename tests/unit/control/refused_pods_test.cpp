// A node that looks best and can't run the pod, from kubelet's refusal to the next answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/policy/what_if.h"
#include "unit/state/cluster.h"

namespace berth::control {
namespace {

using state::bound;
using state::Cluster;
using state::ended;
using state::node;
using state::pod;

class RefusedPods : public ::testing::Test {
 protected:
  // What kube-scheduler is told to take for the next pod of the job.
  std::string winner() {
    model::Pod next = of_job("next");
    const model::PodRequest request = model::make_request(next, {});
    const auto snapshot = cluster_.snapshot();
    const auto names = policy::all_names(*snapshot);
    return policy::what_if({*snapshot, request, names, 1, cluster_.clock.wall()}, {}).prioritize->winner;
  }
  static model::Pod of_job(const std::string& name) {
    model::Pod made = pod(name, 2);
    made.owner = "job";
    return made;
  }
  void refuse(const std::string& name, const std::string& on) {
    cluster_.set_pods(bound(of_job(name), on));
    model::Pod failed = ended(bound(of_job(name), on), model::PodPhase::kFailed);
    failed.failed_reason = "UnexpectedAdmissionError";
    cluster_.set_pods(failed);
  }

  Cluster cluster_;
};

// KAI-Scheduler#1598, kubernetes#84869: kubelet refuses, the controller makes the pod anew, and the scheduler sends it
// to the same node for ever.
TEST_F(RefusedPods, NextPodOfTheJobGoesElsewhere) {
  cluster_.set_nodes(node("a"), node("b"));
  cluster_.set_pods(bound(pod("other", 4), "a"));
  EXPECT_EQ(winner(), "a");  // the fuller one
  refuse("first", "a");
  EXPECT_EQ(winner(), "b");
  cluster_.pass(std::chrono::minutes(10));
  EXPECT_EQ(winner(), "a");
}

TEST_F(RefusedPods, WhereEveryNodeRefusesTheBestIsTriedAgain) {
  cluster_.set_nodes(node("a"), node("b"));
  cluster_.set_pods(bound(pod("other", 4), "a"));
  refuse("first", "a");
  refuse("second", "b");
  EXPECT_EQ(winner(), "a");
}

}  // namespace
}  // namespace berth::control
