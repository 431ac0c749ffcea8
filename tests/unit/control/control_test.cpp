#include "berth/control/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "berth/policy/decide.h"
#include "berth/policy/what_if.h"
#include "support/scripted_http_server.h"
#include "support/snapshot_builder.h"
#include "support/update_recorder.h"

namespace berth::control {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::SnapshotBuilder;
using SnapshotPtr = std::shared_ptr<const model::Snapshot>;

struct Received {
  std::string method;
  std::string path;
  std::string content_type;
  json body;
};

// An API server that takes what it is sent, or answers what the test says.
class Writes {
 public:
  [[nodiscard]] std::string url() const { return server_.url(); }
  void answer(int status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
  }
  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  std::vector<Received> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), [&] { return received_.size() >= count; }));
    return received_;
  }

 private:
  void take(testing::HttpExchange& exchange) {
    std::unique_lock lock(mutex_);
    received_.push_back({exchange.method, exchange.path, exchange.headers["content-type"], json::parse(exchange.body)});
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_; });
    const int status = status_;
    lock.unlock();
    exchange.respond(status, R"({"kind":"Status","apiVersion":"v1","message":"as the test says"})");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int status_ = 200;
  bool held_ = false;
  std::vector<Received> received_;
  testing::ScriptedHttpServer server_{[this](testing::HttpExchange& exchange) { take(exchange); }};
};

class ControlTest : public ::testing::Test {
 protected:
  void SetUp() override { make({}); }
  void TearDown() override { api_.hold(false); }
  void make(ControlOptions options) {
    control_.reset();
    control_ = std::make_unique<Control>(std::move(options), *client_, pods_, snapshots_, clock_);
  }
  static model::Pod pod(const std::string& name, bool required = true) {
    model::Pod made;
    made.ns = "team";
    made.name = name;
    made.uid = "uid-" + name;
    made.gpus = 1;
    made.created = core::WallTime(std::chrono::hours(1));
    made.annotations = {{"berth.io/datasets", "data"}};
    if (required) made.annotations.push_back({"berth.io/dataset-policy", "required"});
    return made;
  }
  // Asked about by the scheduler while no node held the dataset.
  void reject(const std::string& name) {
    decide(name);
    pods_.push(model::PodSet{pod(name)});
  }
  void decide(const std::string& name) {
    const auto request = model::make_request(pod(name), {});
    const auto names = policy::all_names(*cold_);
    auto outcome = policy::decide_filter({*cold_, request, names, 1, clock_.wall()}, {});
    control_->decided(std::make_shared<const model::Decision>(std::move(outcome.decision)));
  }
  void bind(const std::string& name) {
    pods_.push(model::PodSet{pod(name)});
    model::Pod bound = pod(name);
    bound.node = "a";
    pods_.push(model::PodSet{bound});
  }
  // Steps until the counters are as wanted.
  bool until(const std::function<bool(const ControlCounters&)>& reached) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!reached(control_->counters())) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
      control_->step();
    }
    return true;
  }

  core::ManualClock clock_;
  Writes api_;
  std::unique_ptr<kube::ApiClient> client_ = *kube::ApiClient::create({.server = api_.url()}, clock_);
  testing::UpdateRecorder next_;
  WaitingPods pods_{next_};
  const SnapshotPtr cold_ = SnapshotBuilder().node("a").holds("team", "data", 0).node("b").build();
  const SnapshotPtr warm_ = SnapshotBuilder().node("a").holds("team", "data").node("b").build();
  core::SnapshotCell<model::Snapshot> snapshots_{cold_};
  std::unique_ptr<Control> control_;
};

TEST_F(ControlTest, WakesAPodByAnAnnotationOnThePodOfThatUid) {
  reject("p");
  control_->step();
  snapshots_.publish(warm_);
  control_->step();
  const auto received = api_.wait(1);
  EXPECT_EQ(received[0].method, "PATCH");
  EXPECT_EQ(received[0].path, "/api/v1/namespaces/team/pods/p");
  EXPECT_EQ(received[0].content_type, "application/merge-patch+json");
  EXPECT_EQ(received[0].body,
            json::parse(R"({"metadata":{"uid":"uid-p","annotations":{"berth.io/wake":"1970-01-01T01:00:00.000Z"}}})"));
  EXPECT_TRUE(until([](const auto& counters) { return counters.pod_wakes == 1; }));
  EXPECT_EQ(control_->counters().waiting_pods, 1U);
}

TEST_F(ControlTest, PodThatWasSeenLongBeforeItWasRejectedIsWoken) {
  pods_.push(model::PodSet{pod("p")});
  control_->step();
  decide("p");
  control_->step();
  snapshots_.publish(warm_);
  control_->step();
  EXPECT_EQ(api_.wait(1)[0].path, "/api/v1/namespaces/team/pods/p");
}

TEST_F(ControlTest, ManyPodsAreWokenByOneNode) {
  for (int i = 0; i < 51; ++i) reject("p" + std::to_string(i));
  snapshots_.publish(warm_);
  control_->step();
  EXPECT_EQ(api_.wait(1)[0].path, "/api/v1/nodes/a");
  EXPECT_TRUE(until([](const auto& counters) { return counters.node_wakes == 1; }));
  EXPECT_THAT(api_.wait(1), SizeIs(1));
}

TEST_F(ControlTest, PodsRejectedBeforeARestartAreWokenToo) {
  model::Pod known = pod("p");
  known.rejected_by_us = true;
  pods_.push(model::AllPods{{known, pod("q")}});
  control_->step();
  snapshots_.publish(warm_);
  control_->step();
  EXPECT_EQ(api_.wait(1)[0].path, "/api/v1/namespaces/team/pods/p");
}

TEST_F(ControlTest, PodThatIsGoneIsNotTriedAgain) {
  for (const int status : {404, 409, 422}) {
    api_.answer(status);
    const std::size_t before = api_.wait(0).size();
    snapshots_.publish(cold_);
    reject("p" + std::to_string(status));
    control_->step();
    snapshots_.publish(warm_);
    control_->step();
    api_.wait(before + 1);
    clock_.advance(milliseconds(60'000));
    control_->step();
    EXPECT_THAT(api_.wait(before + 1), SizeIs(before + 1)) << status;
  }
  EXPECT_EQ(control_->counters().failed_wakes, 0U);
}

TEST_F(ControlTest, RefusalIsCountedAndTriedAgainLater) {
  api_.answer(403);
  reject("p");
  snapshots_.publish(warm_);
  control_->step();
  EXPECT_TRUE(until([](const auto& counters) { return counters.failed_wakes == 1; }));
  control_->step();  // which learns of it before time goes on
  api_.answer(200);
  clock_.advance(milliseconds(1'000));
  EXPECT_TRUE(until([](const auto& counters) { return counters.pod_wakes == 1; }));
}

TEST_F(ControlTest, SlowApiServerHoldsNobodyUp) {
  api_.hold(true);
  reject("p");
  snapshots_.publish(warm_);
  control_->step();
  api_.wait(1);
  // Neither who decides, nor who watches, nor the look itself waits for the answer.
  for (int i = 0; i < 300; ++i) bind("q" + std::to_string(i));
  reject("r");
  control_->step();
  EXPECT_TRUE(until([](const auto& counters) { return counters.events_dropped == 100; })) << "200 are a burst";
  control_->stop();
  EXPECT_EQ(control_->counters().events_sent, 0U);
}

TEST_F(ControlTest, WritesAnEventWhenAPodIsBound) {
  snapshots_.publish(warm_);
  bind("p");
  control_->step();
  const auto received = api_.wait(1);
  EXPECT_EQ(received[0].method, "POST");
  EXPECT_EQ(received[0].path, "/api/v1/namespaces/team/events");
  EXPECT_EQ(received[0].body["reason"], "DatasetLocality");
  EXPECT_EQ(received[0].body["involvedObject"]["uid"], "uid-p");
  EXPECT_THAT(received[0].body["message"].get<std::string>(), HasSubstr("node a has 100 % of team/data"));
  EXPECT_TRUE(until([](const auto& counters) { return counters.events_sent == 1; }));
  EXPECT_EQ(control_->counters().locality.full, 1U);
}

TEST_F(ControlTest, EventThatWasWrittenBeforeCountsAsSent) {
  api_.answer(409);
  snapshots_.publish(warm_);
  bind("p");
  control_->step();
  EXPECT_TRUE(until([](const auto& counters) { return counters.events_sent == 1; }));
}

TEST_F(ControlTest, AfterARefusalEventsRestForAWhile) {
  api_.answer(403);
  snapshots_.publish(warm_);
  bind("p");
  control_->step();
  EXPECT_TRUE(until([](const auto& counters) { return counters.events_failed == 1; }));
  bind("q");
  control_->step();
  EXPECT_EQ(control_->counters().events_dropped, 1U);
  clock_.advance(milliseconds(30'000));
  api_.answer(200);
  bind("r");
  EXPECT_TRUE(until([](const auto& counters) { return counters.events_sent == 1; }));
}

TEST_F(ControlTest, OnlyTheActiveOneActs) {
  bool active = false;
  ControlOptions options;
  options.active = [&active] { return active; };
  make(std::move(options));
  reject("p");
  bind("q");
  snapshots_.publish(warm_);
  control_->step();
  active = true;
  control_->step();
  const auto received = api_.wait(1);
  EXPECT_EQ(received[0].path, "/api/v1/namespaces/team/pods/p");
  EXPECT_THAT(received, SizeIs(1)) << "another Berth has told of q";
}

TEST_F(ControlTest, BothCanBeSwitchedOff) {
  ControlOptions options;
  options.wake = false;
  options.events = false;
  make(std::move(options));
  reject("p");
  snapshots_.publish(warm_);
  bind("q");
  control_->step();
  control_->stop();
  EXPECT_THAT(api_.wait(0), IsEmpty());
  EXPECT_EQ(control_->counters().locality.full, 1U);
}

TEST_F(ControlTest, ItsThreadLooksByItself) {
  control_->start();
  reject("p");
  snapshots_.publish(warm_);
  EXPECT_EQ(api_.wait(1)[0].path, "/api/v1/namespaces/team/pods/p");
  control_->stop();
}

}  // namespace
}  // namespace berth::control
