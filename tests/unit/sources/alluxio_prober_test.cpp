// What Alluxio masters are asked, and that a slow, dead or lying one costs nothing but freshness.
#include "berth/sources/alluxio_prober.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "source_dir.h"
#include "support/gate.h"
#include "support/scripted_http_server.h"
#include "support/update_recorder.h"

namespace berth::sources {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::HttpExchange;
using ::testing::IsEmpty;
using testing::ScriptedHttpServer;

std::string good_answer() {
  std::ifstream file(std::string(BERTH_SOURCE_DIR) + "/tests/data/alluxio_master_info.json", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string at(const ScriptedHttpServer& server) { return "127.0.0.1:" + std::to_string(server.port()); }

class AlluxioProberTest : public ::testing::Test {
 protected:
  ~AlluxioProberTest() override { looks_.open(); }

  void start(AlluxioProberOptions options = {}) {
    options.wait = [this](milliseconds) { looks_.wait(); };
    options.random = [] { return 0.5; };
    prober_ = std::make_unique<AlluxioProber>(
        [this] {
          const std::lock_guard lock(mutex_);
          return masters_;
        },
        sink_, options, clock_);
    prober_->start();
  }
  void set(std::vector<AlluxioMaster> masters) {
    const std::lock_guard lock(mutex_);
    masters_ = std::move(masters);
  }
  // Lets so much time pass and the prober look.
  void pass(seconds time) {
    clock_.advance(time);
    ASSERT_TRUE(looks_.step());
  }
  bool wait_for(std::function<bool(const ProberCounters&)> condition) {
    const auto end = std::chrono::steady_clock::now() + seconds(30);
    while (!condition(prober_->counters()) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return condition(prober_->counters());
  }
  bool wait_probes(std::uint64_t probes) {
    return wait_for([&](const ProberCounters& counters) { return counters.probes >= probes; });
  }

  core::ManualClock clock_;
  testing::UpdateRecorder sink_;
  testing::Gate looks_;
  std::mutex mutex_;
  std::vector<AlluxioMaster> masters_;
  std::unique_ptr<AlluxioProber> prober_;
};

TEST_F(AlluxioProberTest, PushesWhatTheMasterSaysOfItsWorkers) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(200, good_answer()); });
  set({{{"ns", "d"}, at(server)}});
  start();
  ASSERT_TRUE(sink_.wait_told("measured ns/d"));
  const auto measured = sink_.measured().front();
  EXPECT_EQ(measured.dataset, (model::DatasetRef{"ns", "d"}));
  EXPECT_EQ(measured.at, clock_.wall());
  EXPECT_THAT(measured.workers,
              ElementsAre(model::WorkerBytes{"10.0.0.11", 21'474'836'480},
                          model::WorkerBytes{"10.0.0.12", 10'737'418'240}, model::WorkerBytes{"10.0.0.13", 0}));
  ASSERT_TRUE(wait_probes(1));
  EXPECT_EQ(prober_->counters().masters, 1U);
  EXPECT_EQ(prober_->counters().failures, 0U);
}

TEST_F(AlluxioProberTest, AsksOnePathWithoutCredentials) {
  std::mutex mutex;
  std::vector<HttpExchange> asked;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    {
      const std::lock_guard lock(mutex);
      asked.push_back(exchange);
    }
    exchange.respond(200, good_answer());
  });
  set({{{"ns", "d"}, at(server)}});
  start();
  ASSERT_TRUE(sink_.wait_told("measured ns/d"));
  const std::lock_guard lock(mutex);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].method, "GET");
  EXPECT_EQ(asked[0].target, "/api/v1/master/info");
  EXPECT_FALSE(asked[0].headers.contains("authorization"));
  EXPECT_FALSE(asked[0].headers.contains("cookie"));
}

// Masters are pods of this cluster, whatever stands between Berth and the API server.
TEST_F(AlluxioProberTest, UsesNoProxyOfTheEnvironment) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(200, good_answer()); });
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  // The same machine, by an address that is not a loopback address.
  set({{{"ns", "d"}, "0.0.0.0:" + std::to_string(server.port())}});
  start();
  EXPECT_TRUE(wait_probes(1));
  unsetenv("http_proxy");
  EXPECT_EQ(prober_->counters().failures, 0U);
}

TEST_F(AlluxioProberTest, FollowsNoRedirect) {
  std::atomic<int> asked = 0;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    ++asked;
    exchange.respond(302, "", {"Location: /elsewhere"});
  });
  set({{{"ns", "d"}, at(server)}});
  start();
  ASSERT_TRUE(wait_probes(1));
  EXPECT_EQ(prober_->counters().failures, 1U);
  EXPECT_EQ(asked, 1);
}

TEST_F(AlluxioProberTest, AsksAgainAfterTheInterval) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(200, good_answer()); });
  set({{{"ns", "d"}, at(server)}});
  start();
  ASSERT_TRUE(wait_probes(1));
  pass(seconds(19));
  EXPECT_EQ(prober_->counters().probes, 1U);
  EXPECT_EQ(prober_->counters().oldest, seconds(19));
  pass(seconds(1));
  ASSERT_TRUE(wait_probes(2));
  EXPECT_EQ(prober_->counters().oldest, seconds(0));
}

// Who is due is found at a look: one a second would ask no master twice a second.
TEST_F(AlluxioProberTest, LooksOftenEnoughForMastersThatPodsWaitFor) {
  AlluxioProberOptions options;
  options.every = seconds(3'600);
  milliseconds shortest = options.every;
  for (const auto interval : {options.every, options.while_loading, options.while_awaited}) {
    shortest = std::min(shortest, interval);
  }
  EXPECT_LE(options.look_every, shortest);
  EXPECT_LE(shortest + options.look_every, milliseconds(700)) << "to be woken within a second";
}

TEST_F(AlluxioProberTest, NewMasterIsAskedAtTheNextLook) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(200, good_answer()); });
  start();
  ASSERT_TRUE(looks_.step());
  set({{{"ns", "d"}, at(server)}});
  ASSERT_TRUE(looks_.step());
  EXPECT_TRUE(sink_.wait_told("measured ns/d"));
}

// Everything below answers well first, badly once, and well again.
struct BadAnswer {
  const char* name;
  std::function<void(HttpExchange&)> answer;
};

class AlluxioProberBadAnswer : public AlluxioProberTest, public ::testing::WithParamInterface<BadAnswer> {};

TEST_P(AlluxioProberBadAnswer, CostsFreshnessAndNothingElse) {
  std::atomic<int> asked = 0;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    if (++asked != 2) return exchange.respond(200, good_answer());
    GetParam().answer(exchange);
  });
  set({{{"ns", "d"}, at(server)}});
  // Short, so that silence is over soon; a good answer on loopback takes far less.
  start({.deadline = milliseconds(2'000), .max_answer_bytes = 64 << 10});
  ASSERT_TRUE(sink_.wait_told("measured ns/d"));
  ASSERT_TRUE(wait_probes(1));
  pass(seconds(20));
  ASSERT_TRUE(wait_probes(2));
  EXPECT_EQ(prober_->counters().failures, 1U);
  EXPECT_EQ(sink_.measured().size(), 1U) << "nothing is pushed";
  pass(seconds(20));
  EXPECT_EQ(prober_->counters().probes, 2U) << "after a failure it waits twice as long";
  pass(seconds(20));
  EXPECT_TRUE(sink_.wait_told("measured ns/d", 2));
}

void body(HttpExchange& exchange, const std::string& text) { exchange.respond(200, text); }

INSTANTIATE_TEST_SUITE_P(
    Answers, AlluxioProberBadAnswer,
    ::testing::Values(
        BadAnswer{"HugeBody",
                  [](HttpExchange& exchange) { body(exchange, std::string(1 << 20, ' ') + good_answer()); }},
        BadAnswer{"EndlessBody",
                  [](HttpExchange& exchange) {
                    exchange.begin_stream();
                    while (exchange.chunk(std::string(4096, ' '))) {
                    }
                  }},
        BadAnswer{"EndlessTrickle",
                  [](HttpExchange& exchange) {
                    exchange.begin_stream();
                    while (exchange.chunk(" ")) std::this_thread::yield();
                  }},
        BadAnswer{"Garbage", [](HttpExchange& exchange) { body(exchange, "\x01\xff{{{[\"workers\":"); }},
        BadAnswer{"WebPage",
                  [](HttpExchange& exchange) {
                    exchange.respond(200, "<html><body>Alluxio</body></html>", {"Content-Type: text/html"});
                  }},
        BadAnswer{"Empty", [](HttpExchange& exchange) { body(exchange, ""); }},
        BadAnswer{"NoWorkersField", [](HttpExchange& exchange) { body(exchange, R"({"version":"2.9.3"})"); }},
        BadAnswer{"ServerError", [](HttpExchange& exchange) { exchange.respond(500, good_answer()); }},
        BadAnswer{
            "Redirect",
            [](HttpExchange& exchange) { exchange.respond(302, good_answer(), {"Location: /api/v1/master/info"}); }},
        BadAnswer{"ClosesHalfWay",
                  [](HttpExchange& exchange) {
                    exchange.raw("HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n" + good_answer().substr(0, 1'000));
                    exchange.cut();
                  }},
        BadAnswer{"NoHttp",
                  [](HttpExchange& exchange) {
                    exchange.raw("\x15\x03\x01\x00\x02\x02\x16");
                    exchange.cut();
                  }},
        BadAnswer{"Silence", [](HttpExchange& exchange) { exchange.wait_until_closed(); }}),
    [](const auto& given) { return std::string(given.param.name); });

TEST_F(AlluxioProberTest, DeadMasterIsCountedAndHurtsNoOther) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(200, good_answer()); });
  ScriptedHttpServer dead([](HttpExchange&) {});
  const std::string nowhere = at(dead);
  dead.stop();
  set({{{"ns", "dead"}, nowhere}, {{"ns", "d"}, at(server)}});
  start();
  EXPECT_TRUE(sink_.wait_told("measured ns/d"));
  ASSERT_TRUE(wait_probes(2));
  EXPECT_EQ(prober_->counters().failures, 1U);
  EXPECT_EQ(prober_->counters().masters, 2U);
}

TEST_F(AlluxioProberTest, AddressThatIsNoneIsAFailureAndAsksNobody) {
  set({{{"ns", "a"}, "evil.example:80"},
       {{"ns", "b"}, "10.0.0.1"},
       {{"ns", "c"}, "127.0.0.1:80/../x"},
       {{"ns", "d"}, ""},
       {{"ns", "e"}, "user@127.0.0.1:80"}});
  start();
  ASSERT_TRUE(wait_probes(5));
  EXPECT_EQ(prober_->counters().failures, 5U);
}

TEST_F(AlluxioProberTest, NoMoreThanEightAreAskedAtATime) {
  std::mutex mutex;
  std::condition_variable changed;
  int open = 0;
  bool answer = false;
  std::atomic<int> most = 0;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    std::unique_lock lock(mutex);
    ++open;
    most = std::max(most.load(), open);
    changed.notify_all();
    changed.wait(lock, [&] { return answer; });
    --open;
    lock.unlock();
    exchange.respond(200, good_answer());
  });
  std::vector<AlluxioMaster> masters;
  for (int i = 0; i < 30; ++i) masters.push_back({{"ns", "d" + std::to_string(i)}, at(server)});
  set(masters);
  start({.deadline = seconds(30)});
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, seconds(30), [&] { return open == 8; }));
    answer = true;
    changed.notify_all();
  }
  ASSERT_TRUE(wait_probes(30));
  EXPECT_EQ(most, 8);
  EXPECT_EQ(sink_.measured().size(), 30U);
}

TEST_F(AlluxioProberTest, AnswerOfAMasterThatIsGoneIsDropped) {
  std::mutex mutex;
  std::condition_variable changed;
  bool asked = false;
  bool answer = false;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    std::unique_lock lock(mutex);
    asked = true;
    changed.notify_all();
    changed.wait(lock, [&] { return answer; });
    lock.unlock();
    exchange.respond(200, good_answer());
  });
  set({{{"ns", "d"}, at(server)}});
  start({.deadline = seconds(30)});
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, seconds(30), [&] { return asked; }));
  }
  set({});
  ASSERT_TRUE(looks_.step());
  {
    const std::lock_guard lock(mutex);
    answer = true;
    changed.notify_all();
  }
  ASSERT_TRUE(wait_probes(1));
  EXPECT_THAT(sink_.measured(), IsEmpty());
}

TEST_F(AlluxioProberTest, StopsAtOnceWhileAMasterIsSilent) {
  std::atomic<bool> asked = false;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    asked = true;
    asked.notify_all();
    exchange.wait_until_closed();
  });
  set({{{"ns", "d"}, at(server)}});
  start({.deadline = std::chrono::hours(1)});
  asked.wait(false);
  looks_.open();
  prober_->stop();
  EXPECT_THAT(sink_.measured(), IsEmpty());
}

}  // namespace
}  // namespace berth::sources
