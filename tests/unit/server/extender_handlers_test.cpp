#include "berth/server/extender_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "support/cluster_json.h"

namespace berth::server {
namespace {

using ::testing::ElementsAre;

class DecidedTest : public ::testing::Test {
 protected:
  DecidedTest() {
    model::Node a;
    a.name = "a";
    a.gpus = 8;
    model::Node b = a;
    b.name = "b";
    state_.push(model::AllNodes{{a, b}});
    state_.push(model::AllPods{});
    state_.step();
    add_extender_routes(server_, context_);
    port_ = server_.start().value();
  }
  void post(const std::string& path, const std::string& pod, const std::vector<std::string>& nodes) const {
    httplib::Client client("127.0.0.1", port_);
    const auto answer = client.Post(path, tests::names_args(tests::pod_json(pod, 1), nodes), "application/json");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
  }
  std::vector<std::string> wait_told(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), [&] { return told_.size() >= count; }));
    return told_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
  core::SystemClock clock_;
  state::ClusterState state_{{}, clock_};
  DecisionLog decisions_{10, 1U << 20U};
  Metrics metrics_{"test"};
  ExtenderContext context_{state_, decisions_, metrics_, clock_, {}, {}, {}, [this](const auto& decision) {
                             const std::lock_guard lock(mutex_);
                             told_.push_back(std::string(model::to_string(decision->verb)) + " " + decision->pod.name);
                             changed_.notify_all();
                           }};
  HttpServer server_{{}};
  int port_ = 0;
};

TEST_F(DecidedTest, EveryDecisionIsToldButThoseAboutOneNode) {
  post("/filter", "nominated", {"a"});
  post("/filter", "p", {"a", "b"});
  wait_told(1);
  post("/prioritize", "p", {"a", "b"});
  EXPECT_THAT(wait_told(2), ElementsAre("filter p", "prioritize p"));
}

}  // namespace
}  // namespace berth::server
