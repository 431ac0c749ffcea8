#include "berth/server/preempt_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include "support/cluster_json.h"
#include "support/preemption_json.h"

namespace berth::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using tests::answered_victims;
using tests::preemption_args;

class PreemptTest : public ::testing::Test {
 protected:
  PreemptTest() {
    add_extender_routes(server_, context_);
    add_preempt_route(server_, context_);
    port_ = server_.start().value();
  }
  // Node h100 with two pods of four GPUs each, node small whose GPUs have 32 GiB.
  void fill() {
    model::Node h100;
    h100.name = "h100";
    h100.gpus = 8;
    h100.gpu_memory_mib = 81559;
    model::Node small = h100;
    small.name = "small";
    small.gpu_memory_mib = 32768;
    state_.push(model::AllNodes{{h100, small}});
    model::AllPods pods;
    for (const auto& [name, node] : {std::pair("a", "h100"), std::pair("b", "h100"), std::pair("c", "small")}) {
      model::Pod pod;
      pod.ns = "team";
      pod.name = name;
      pod.uid = std::string("pod-") + name;
      pod.node = node;
      pod.phase = model::PodPhase::kRunning;
      pod.gpus = 4;
      pods.pods.push_back(pod);
    }
    state_.push(pods);
    state_.step();
  }
  static nlohmann::json preemptor(int gpus, const nlohmann::json& annotations = nlohmann::json::object()) {
    nlohmann::json pod = tests::pod_json("train", gpus, "", annotations);
    pod["spec"]["priority"] = 1000;
    return pod;
  }
  httplib::Result post(const std::string& body) const {
    return httplib::Client("127.0.0.1", port_).Post("/preempt", body, "application/json");
  }

  core::SystemClock clock_;
  state::ClusterState state_{{}, clock_};
  DecisionLog decisions_{10, 1U << 20U};
  Metrics metrics_{"test"};
  ExtenderContext context_{state_, decisions_, metrics_, clock_, {}, {}, {}};
  HttpServer server_{{}};
  int port_ = 0;
};

TEST_F(PreemptTest, DropsNodesThatOurRulesReject) {
  fill();
  const auto answer = post(preemption_args(preemptor(4, {{"berth.io/min-gpu-memory", "40Gi"}}),
                                           {{"h100", {"pod-a"}}, {"small", {"pod-c"}}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->get_header_value("Content-Type"), "application/json; charset=utf-8");
  EXPECT_THAT(answered_victims(answer->body), ElementsAre(Pair("h100", ElementsAre("pod-a"))));
  const std::string metrics = metrics_.render();
  EXPECT_THAT(metrics, HasSubstr("berth_preempt_requests_total{code=\"200\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("berth_preempt_candidates_total{result=\"answered\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("berth_preempt_candidates_total{result=\"rejected\"} 1"));
}

TEST_F(PreemptTest, APodThatIsNoneOfOursGetsBackWhatWasOffered) {
  const tests::UidsByNode offered = {{"h100", {"pod-a", "x"}}, {"unknown", {"y"}}};
  const auto answer = post(preemption_args(preemptor(0), offered));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answered_victims(answer->body), offered);
}

TEST_F(PreemptTest, NobodyIsEvictedWhileNotReady) {
  const auto answer = post(preemption_args(preemptor(4), {{"h100", {"pod-a"}}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(answered_victims(answer->body), IsEmpty());
  EXPECT_THAT(metrics_.render(), HasSubstr("berth_not_ready_requests_total 1"));
}

TEST_F(PreemptTest, WhatCantBeReadIsRefused) {
  const auto answer = post(R"({"NodeNameToMetaVictims":{}})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(answer->body, R"({"error":"Pod: is missing or null"})");
  EXPECT_THAT(metrics_.render(), HasSubstr("berth_preempt_requests_total{code=\"400\"} 1"));
}

}  // namespace
}  // namespace berth::server
