// Failures, how long the reflector waits after them, and that stop() ends every wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "berth/kube/reflector.h"
#include "support/fake_api_server.h"
#include "unit/kube/reflector_fixture.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using testing::kNodesPath;
using testing::make_node;

using ReflectorFailure = ReflectorTest;

TEST_F(ReflectorFailure, SilentWatchIsTakenForDead) {
  server_.put(kNodesPath, make_node("a"));
  start({.idle_timeout = milliseconds(50)});
  ASSERT_TRUE(watching(3)) << "the fake server never speaks first";
  const auto status = reflector_->status();
  EXPECT_GE(status.restarts, 2U);
  EXPECT_EQ(status.lists, 1U);
}

TEST_F(ReflectorFailure, FailedRequestsAreRepeatedWithDoublingWaits) {
  for (int i = 0; i < 9; ++i) server_.fail_next(kNodesPath, {.status = 500}, false);
  start();
  EXPECT_THAT(waits_.first(9), ElementsAre(100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000));
  ASSERT_TRUE(watching());
  EXPECT_EQ(reflector_->status().failures, 9U);
}

TEST_F(ReflectorFailure, OnlyAWatchThatLastedSetsTheWaitsBack) {
  for (int i = 0; i < 3; ++i) server_.fail_next(kNodesPath, {.status = 500}, false);
  start();
  EXPECT_THAT(waits_.first(3), ElementsAre(100, 200, 400));
  ASSERT_TRUE(watching());
  clock_.advance(milliseconds(9'999));
  server_.put(kNodesPath, make_node("a"));
  ASSERT_TRUE(target_.wait_told("set a"));
  server_.cut_watches(kNodesPath, "");
  EXPECT_EQ(waits_.first(4).back(), 800);
  ASSERT_TRUE(watching(2));
  EXPECT_EQ(reflector_->status().outages, 1U);
  // It lasts from when we see it open, not from when the server gets the request.
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
       !reflector_->status().connected && std::chrono::steady_clock::now() < end;) {
    std::this_thread::yield();
  }
  clock_.advance(milliseconds(10'000));
  server_.put(kNodesPath, make_node("b"));
  ASSERT_TRUE(target_.wait_told("set b"));
  server_.cut_watches(kNodesPath, "");
  EXPECT_EQ(waits_.first(5).back(), 100);
  ASSERT_TRUE(watching(3));
  EXPECT_EQ(reflector_->status().outages, 2U);
}

// What a server in trouble still does well each time must not make us hurry.
struct HalfWell {
  const char* name;
  std::function<void(testing::FakeApiServer&, const testing::ApiRequest&)> each;
  std::uint64_t outages;
};
class ReflectorOfAServer : public ReflectorTest, public ::testing::WithParamInterface<HalfWell> {};

TEST_P(ReflectorOfAServer, IsSlowedDownAndTellsItOnce) {
  for (const char* name : {"a", "b"}) server_.put(kNodesPath, make_node(name));
  server_.on_request([&](const testing::ApiRequest& request) { GetParam().each(server_, request); });
  start({.page_size = 1});
  EXPECT_THAT(waits_.first(8), ElementsAre(100, 200, 400, 800, 1600, 3200, 5000, 5000));
  reflector_->stop();
  EXPECT_EQ(reflector_->status().outages, GetParam().outages);
}

std::string node_event() {
  auto node = make_node("a");
  node["metadata"]["resourceVersion"] = "102";
  return nlohmann::json{{"type", "MODIFIED"}, {"object", node}}.dump() + "\n";
}

INSTANTIATE_TEST_SUITE_P(
    Table, ReflectorOfAServer,
    ::testing::Values(HalfWell{"whose_second_page_fails",
                               [](auto& server, const auto& request) {
                                 if (request.query.contains("continue"))
                                   server.fail_next(kNodesPath, {.status = 500}, false);
                               },
                               1},
                      HalfWell{"whose_second_page_cannot_be_read",
                               [](auto& server, const auto& request) {
                                 if (request.query.contains("continue")) {
                                   server.fail_next(kNodesPath, {.status = 200, .body = "{}"}, false);
                                 }
                               },
                               1},
                      HalfWell{"that_ends_each_watch_after_an_event",
                               [](auto& server, const auto& request) {
                                 if (request.watch())
                                   server.fail_next(kNodesPath, {.status = 200, .body = node_event()}, true);
                               },
                               0},
                      HalfWell{"that_sends_an_event_and_an_error",
                               [](auto& server, const auto& request) {
                                 if (!request.watch()) return;
                                 server.fail_next(
                                     kNodesPath,
                                     {.status = 200,
                                      .body = node_event() + R"({"type":"ERROR","object":{"kind":"Status","code":500}})"
                                                             "\n"},
                                     true);
                               },
                               1},
                      HalfWell{"that_refuses_each_watch",
                               [](auto& server, const auto& request) {
                                 if (request.watch()) server.fail_next(kNodesPath, {.status = 503}, true);
                               },
                               1}),
    [](const auto& test) { return test.param.name; });

TEST_F(ReflectorFailure, WaitsAsLongAsTheServerAsks) {
  server_.fail_next(kNodesPath, {.status = 429, .headers = {"Retry-After: 7"}}, false);
  server_.fail_next(kNodesPath, {.status = 429, .headers = {"Retry-After: 86400"}}, false);
  start();
  EXPECT_THAT(waits_.first(2), ElementsAre(7000, 60'000));
  EXPECT_TRUE(watching());
}

TEST_F(ReflectorFailure, ErrorEventThatPassesIsRetriedFromTheLastVersion) {
  server_.put(kNodesPath, make_node("a"));  // 101
  start();
  ASSERT_TRUE(watching());
  server_.send_raw(kNodesPath,
                   R"({"type":"ERROR","object":{"kind":"Status","message":"etcd has no leader","code":500}})"
                   "\n");
  ASSERT_TRUE(watching(2));
  EXPECT_EQ(requests(true)[1].query.at("resourceVersion"), "101");
  EXPECT_EQ(reflector_->status().lists, 1U);
}

TEST_F(ReflectorFailure, NotAListIsNotTakenForAnEmptyOne) {
  server_.put(kNodesPath, make_node("a"));
  server_.fail_next(kNodesPath, {.status = 200, .body = "{}"}, false);
  server_.fail_next(kNodesPath, {.status = 200, .body = "<html>"}, false);
  start();
  EXPECT_TRUE(target_.wait_for({{"a", 8}}));
  EXPECT_THAT(target_.told(), ElementsAre("list 1"));
}

TEST_F(ReflectorFailure, AnOutageKeepsWhatWeHaveAndTellsThatItIsOld) {
  server_.put(kNodesPath, make_node("a"));
  server_.put(kNodesPath, make_node("b"));
  std::mutex mutex;
  std::condition_variable changed;
  bool down_seen = false;
  // The first wait stands for the whole outage.
  start({.wait = [&](milliseconds) {
    std::unique_lock lock(mutex);
    const auto status = reflector_->status();
    EXPECT_TRUE(status.synced);
    EXPECT_FALSE(status.connected);
    EXPECT_FALSE(status.last_error.empty());
    down_seen = true;
    changed.notify_all();
  }});
  ASSERT_TRUE(watching());
  server_.stop();
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return down_seen; }));
  }
  EXPECT_TRUE(target_.wait_for({{"a", 8}, {"b", 8}}));
  server_.remove_silently(kNodesPath, "b");
  server_.compact();
  server_.restart();
  EXPECT_TRUE(target_.wait_for({{"a", 8}})) << "the deletion during the outage is seen";
  ASSERT_TRUE(watching(3));
  reflector_->stop();  // it waits with what is on this stack
}

TEST_F(ReflectorFailure, ListsThatFollowCloselyWaitTheirTurn) {
  start();
  ASSERT_TRUE(watching());
  for (std::size_t i = 2; i <= 4; ++i) {
    server_.send_raw(kNodesPath, "broken\n");
    ASSERT_TRUE(watching(i));
  }
  EXPECT_THAT(waits_.first(3), ElementsAre(100, 200, 400));
  clock_.advance(std::chrono::seconds(31));
  server_.send_raw(kNodesPath, "broken\n");
  ASSERT_TRUE(watching(5));
  server_.send_raw(kNodesPath, "broken\n");
  ASSERT_TRUE(watching(6));
  EXPECT_EQ(waits_.first(4).back(), 100) << "the list after the quiet time did not wait, the next began anew";
}

TEST_F(ReflectorFailure, WatchesThatEndAtOnceAreNotAskedForInATightLoop) {
  start();
  ASSERT_TRUE(watching());
  server_.end_watches(kNodesPath);
  EXPECT_THAT(waits_.first(1), ElementsAre(100));
}

// In each of these nothing but stop() can end the wait: the test hangs if it does not.
TEST_F(ReflectorFailure, StopEndsASilentWatch) {
  start();
  ASSERT_TRUE(watching());
  reflector_->stop();
}

TEST_F(ReflectorFailure, StopEndsARequestThatIsNotAnswered) {
  server_.fail_next(kNodesPath, {.silent = true}, false);
  start({.list_deadline = std::chrono::hours(1)});
  ASSERT_TRUE(server_.wait_for_requests(kNodesPath, false, 1));
  reflector_->stop();
  EXPECT_FALSE(reflector_->status().synced);
  EXPECT_EQ(reflector_->status().failures, 0U) << "to be stopped is no failure";
}

TEST_F(ReflectorFailure, StopEndsAWaitBetweenAttempts) {
  server_.fail_next(kNodesPath, {.status = 503}, false);
  ReflectorOptions options{
      .name = "nodes", .path = kNodesPath, .backoff_min = std::chrono::hours(1), .backoff_max = std::chrono::hours(3)};
  Reflector reflector(*client_, target_, options, clock_);
  reflector.start();
  ASSERT_TRUE(server_.wait_for_requests(kNodesPath, false, 1));
  reflector.stop();
}

TEST_F(ReflectorFailure, StopBeforeStartAndTwice) {
  Reflector reflector(*client_, target_, {.name = "nodes", .path = kNodesPath}, clock_);
  reflector.stop();
  reflector.stop();
}

TEST_F(ReflectorFailure, DeniedIsToldAndTriedAgain) {
  server_.require_token("right");
  start();
  const auto waited = waits_.first(2);
  ASSERT_EQ(waited.size(), 2U);
  EXPECT_FALSE(reflector_->status().synced);
  EXPECT_NE(reflector_->status().last_error.find("401: Unauthorized"), std::string::npos);
  server_.require_token("");
  EXPECT_TRUE(watching());
}

}  // namespace
}  // namespace berth::kube
