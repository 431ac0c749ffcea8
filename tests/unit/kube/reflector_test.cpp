#include "berth/kube/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "support/fake_api_server.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using testing::FakeApiServer;
using testing::kNodesPath;
using testing::make_node;

// Keeps the GPUs of every node, and what it was told, in order.
class NodeRecorder final : public ReflectorTarget {
 public:
  void begin_list() override { pages_.clear(); }

  core::Result<PageInfo> take_page(std::string& body) override {
    auto page = reader_.read_node_list(body);
    if (!page) return tl::unexpected(page.error());
    for (auto& node : page->items) pages_.push_back(std::move(node));
    return PageInfo{page->resource_version, page->continue_token, page->broken, page->first_broken_why};
  }

  void finish_list() override {
    const std::lock_guard lock(mutex_);
    nodes_.clear();
    for (const auto& node : pages_) nodes_[node.name] = node.gpus;
    told_.push_back("list " + std::to_string(nodes_.size()));
    changed_.notify_all();
  }

  core::Result<EventInfo> take_event(std::string& line) override {
    auto event = reader_.read_node_event(line);
    if (!event) return tl::unexpected(event.error());
    const std::lock_guard lock(mutex_);
    using enum codec::WatchEventType;
    if (event->type == kAdded || event->type == kModified) {
      nodes_[event->object.name] = event->object.gpus;
      told_.push_back("set " + event->object.name);
    } else if (event->type == kDeleted) {
      nodes_.erase(event->object.name);
      told_.push_back("gone " + event->object.name);
    } else if (event->type == kBookmark) {
      told_.emplace_back("bookmark");
    }
    changed_.notify_all();
    return EventInfo{event->type, event->resource_version, event->status_code, event->message};
  }

  // Waits until the nodes are these; false after 30 s.
  bool wait_for(const std::map<std::string, std::int64_t>& nodes) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return nodes_ == nodes; });
  }
  bool wait_told(const std::string& what, std::ptrdiff_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return std::count(told_.begin(), told_.end(), what) >= times; });
  }
  std::vector<std::string> told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  codec::ObjectReader reader_{model::ResourceNames{}};
  std::vector<model::Node> pages_;  // of the reflector's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::int64_t> nodes_;
  std::vector<std::string> told_;
};

// Waits that take no time and are written down.
class Waits {
 public:
  void operator()(milliseconds time) {
    const std::lock_guard lock(mutex_);
    times_.push_back(time.count());
    changed_.notify_all();
  }
  std::vector<std::int64_t> first(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return times_.size() >= count; });
    return {times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(std::min(count, times_.size()))};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> times_;
};

class ReflectorTest : public ::testing::Test {
 protected:
  ReflectorTest() { connect({.server = server_.url(), .tls = {}}); }
  ~ReflectorTest() override {
    // Most tests wait for no time; an outage at the end must not turn into a busy loop.
    reflector_.reset();
  }

  void connect(ServerAccess access) { client_ = std::move(*ApiClient::create(std::move(access), clock_)); }

  void start(ReflectorOptions options = {}) {
    options.name = "nodes";
    options.path = kNodesPath;
    options.random = [] { return 0.0; };
    if (!options.wait) options.wait = [this](milliseconds time) { waits_(time); };
    reflector_ = std::make_unique<Reflector>(*client_, target_, options, clock_);
    reflector_->start();
  }
  bool watching(std::size_t count = 1) { return server_.wait_for_requests(kNodesPath, true, count); }
  std::vector<testing::ApiRequest> requests(bool watch) {
    std::vector<testing::ApiRequest> out;
    for (auto& request : server_.requests()) {
      if (request.watch() == watch) out.push_back(std::move(request));
    }
    return out;
  }

  core::ManualClock clock_;
  FakeApiServer server_;
  NodeRecorder target_;
  Waits waits_;
  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<Reflector> reflector_;
};

TEST_F(ReflectorTest, ListsInPagesThenWatchesFromTheListsVersion) {
  for (const char* name : {"a", "b", "c", "d", "e"}) server_.put(kNodesPath, make_node(name));  // versions 101..105
  start({.page_size = 2});
  ASSERT_TRUE(watching());
  EXPECT_TRUE(target_.wait_for({{"a", 8}, {"b", 8}, {"c", 8}, {"d", 8}, {"e", 8}}));
  EXPECT_THAT(target_.told(), ElementsAre("list 5"));
  const auto lists = requests(false);
  ASSERT_EQ(lists.size(), 3U);
  for (const auto& request : lists) EXPECT_EQ(request.query.at("limit"), "2");
  const auto watch = requests(true).front().query;
  EXPECT_EQ(watch.at("resourceVersion"), "105");
  EXPECT_EQ(watch.at("allowWatchBookmarks"), "true");
  EXPECT_EQ(watch.at("timeoutSeconds"), "290");
  const auto status = reflector_->status();
  EXPECT_TRUE(status.synced);
  EXPECT_EQ(status.lists, 1U);
  EXPECT_EQ(status.pages, 3U);
}

TEST_F(ReflectorTest, TakesEventsAsTheyCome) {
  server_.put(kNodesPath, make_node("a"));
  start();
  ASSERT_TRUE(watching());
  server_.put(kNodesPath, make_node("b", 4));
  server_.put(kNodesPath, make_node("a", 2));
  server_.remove(kNodesPath, "b");
  EXPECT_TRUE(target_.wait_told("gone b"));
  EXPECT_TRUE(target_.wait_for({{"a", 2}}));
  EXPECT_THAT(target_.told(), ElementsAre("list 1", "set b", "set a", "gone b"));
}

TEST_F(ReflectorTest, AnEndedWatchIsResumedWithoutAListAndWithoutAGap) {
  server_.put(kNodesPath, make_node("a"));  // 101
  start();
  ASSERT_TRUE(watching());
  server_.put(kNodesPath, make_node("b"));  // 102
  server_.end_watches(kNodesPath);
  server_.put(kNodesPath, make_node("c"));
  EXPECT_TRUE(target_.wait_for({{"a", 8}, {"b", 8}, {"c", 8}}));
  ASSERT_TRUE(watching(2));
  EXPECT_EQ(requests(true)[1].query.at("resourceVersion"), "102");
  EXPECT_THAT(target_.told(), ElementsAre("list 1", "set b", "set c"));
  EXPECT_EQ(reflector_->status().restarts, 0U) << "an end in time is no failure";
}

TEST_F(ReflectorTest, BookmarksMoveTheVersionOn) {
  server_.put(kNodesPath, make_node("a"));  // 101
  start();
  ASSERT_TRUE(watching());
  server_.put(testing::kPodsPath, testing::make_pod("ns", "p"));  // 102, another resource
  server_.bookmark(kNodesPath);
  ASSERT_TRUE(target_.wait_told("bookmark"));
  server_.end_watches(kNodesPath);
  ASSERT_TRUE(watching(2));
  EXPECT_EQ(requests(true)[1].query.at("resourceVersion"), "102");
}

TEST_F(ReflectorTest, AnEventSeenTwiceChangesNothing) {
  server_.put(kNodesPath, make_node("a", 4));
  start();
  ASSERT_TRUE(watching());
  auto again = make_node("a", 4);
  again["metadata"]["resourceVersion"] = "101";
  server_.send_raw(kNodesPath, nlohmann::json{{"type", "ADDED"}, {"object", again}}.dump() + "\n");
  ASSERT_TRUE(target_.wait_told("set a"));
  EXPECT_TRUE(target_.wait_for({{"a", 4}}));
}

TEST_F(ReflectorTest, GoneAsStatusLeadsToANewListThatReplacesEverything) {
  server_.put(kNodesPath, make_node("a"));
  server_.put(kNodesPath, make_node("b"));
  start();
  ASSERT_TRUE(watching());
  server_.remove_silently(kNodesPath, "b");
  server_.compact();
  server_.end_watches(kNodesPath);
  EXPECT_TRUE(target_.wait_for({{"a", 8}}));
  ASSERT_TRUE(watching(3));
  EXPECT_EQ(reflector_->status().gone, 1U);
  EXPECT_EQ(reflector_->status().lists, 2U);
}

TEST_F(ReflectorTest, GoneInTheStreamLikewise) {
  server_.put(kNodesPath, make_node("a"));
  server_.put(kNodesPath, make_node("b"));
  server_.set_gone_in_stream(true);
  start();
  ASSERT_TRUE(watching());
  server_.remove_silently(kNodesPath, "b");
  server_.compact();
  server_.end_watches(kNodesPath);
  EXPECT_TRUE(target_.wait_for({{"a", 8}}));
  ASSERT_TRUE(watching(3));
  EXPECT_EQ(reflector_->status().gone, 1U);
  EXPECT_EQ(reflector_->status().broken_lines, 0U);
}

TEST_F(ReflectorTest, GoneBetweenPagesStartsTheListAnew) {
  for (const char* name : {"a", "b", "c"}) server_.put(kNodesPath, make_node(name));
  bool first = true;
  server_.on_request([&](const testing::ApiRequest& request) {
    if (!request.query.contains("continue") || !std::exchange(first, false)) return;
    server_.remove(kNodesPath, "a");
    server_.compact();
  });
  start({.page_size = 2});
  ASSERT_TRUE(watching());
  EXPECT_TRUE(target_.wait_for({{"b", 8}, {"c", 8}}));
  EXPECT_THAT(target_.told(), ElementsAre("list 2")) << "the first half of the void list was never told";
  EXPECT_EQ(reflector_->status().gone, 1U);
  reflector_->stop();
}

TEST_F(ReflectorTest, ListThatFailsInTheMiddleIsMadeAnewAndNotWatched) {
  for (const char* name : {"a", "b", "c"}) server_.put(kNodesPath, make_node(name));
  bool first = true;
  server_.on_request([&](const testing::ApiRequest& request) {
    if (request.query.contains("continue") && std::exchange(first, false)) {
      server_.fail_next(kNodesPath, {.status = 500}, false);
    }
  });
  start({.page_size = 2});
  ASSERT_TRUE(watching());
  EXPECT_TRUE(target_.wait_for({{"a", 8}, {"b", 8}, {"c", 8}}));
  EXPECT_EQ(requests(false).size(), 4U);
  reflector_->stop();
}

TEST_F(ReflectorTest, TooLargeVersionAfterARestoreLeadsToANewList) {
  start();
  ASSERT_TRUE(watching());
  server_.fail_next(
      kNodesPath,
      {.status = 504, .body = R"({"kind":"Status","message":"Too large resource version: 9, current: 5","code":504})"},
      true);
  server_.end_watches(kNodesPath);
  EXPECT_TRUE(target_.wait_told("list 0", 2));
}

TEST_F(ReflectorTest, CutInTheMiddleOfALineIsResumedAtTheLastWholeOne) {
  server_.put(kNodesPath, make_node("a"));
  start();
  ASSERT_TRUE(watching());
  server_.put(kNodesPath, make_node("b"));  // 102
  server_.cut_watches(kNodesPath, R"({"type":"MODIFIED","object":{"metadata":{"na)");
  ASSERT_TRUE(watching(2));
  EXPECT_EQ(requests(true)[1].query.at("resourceVersion"), "102");
  server_.put(kNodesPath, make_node("c"));
  EXPECT_TRUE(target_.wait_for({{"a", 8}, {"b", 8}, {"c", 8}}));
  const auto status = reflector_->status();
  EXPECT_EQ(status.restarts, 1U);
  EXPECT_EQ(status.broken_lines, 0U);
  EXPECT_EQ(status.lists, 1U);
}

TEST_F(ReflectorTest, EventInPiecesIsPutTogether) {
  start();
  ASSERT_TRUE(watching());
  auto node = make_node("a");
  node["metadata"]["resourceVersion"] = "200";
  const std::string line = nlohmann::json{{"type", "ADDED"}, {"object", node}}.dump() + "\n";
  for (std::size_t i = 0; i < line.size(); i += 7) server_.send_raw(kNodesPath, line.substr(i, 7));
  EXPECT_TRUE(target_.wait_for({{"a", 8}}));
}

TEST_F(ReflectorTest, LineThatCannotBeReadIsCountedAndLeadsToANewList) {
  server_.put(kNodesPath, make_node("a"));
  start();
  ASSERT_TRUE(watching());
  server_.send_raw(kNodesPath, "this is no event\n");
  ASSERT_TRUE(watching(2));
  EXPECT_THAT(target_.told(), ElementsAre("list 1", "list 1"));
  EXPECT_EQ(reflector_->status().broken_lines, 1U);
}

TEST_F(ReflectorTest, LineOverTheLimitLikewise) {
  start({.max_line_bytes = 10'000});
  ASSERT_TRUE(watching());
  server_.send_raw(kNodesPath, std::string(10'001, 'x'));  // it never ends
  ASSERT_TRUE(watching(2));
  EXPECT_EQ(reflector_->status().broken_lines, 1U);
}

TEST_F(ReflectorTest, BrokenObjectsInAListAreLeftOutAndCounted) {
  auto broken = make_node("b");
  broken["status"]["allocatable"] = "none";
  server_.put(kNodesPath, make_node("a"));
  server_.put(kNodesPath, broken);
  start();
  EXPECT_TRUE(target_.wait_for({{"a", 8}}));
  ASSERT_TRUE(watching());
  EXPECT_EQ(reflector_->status().broken_objects, 1U);
}

TEST_F(ReflectorTest, SilentWatchIsTakenForDead) {
  server_.put(kNodesPath, make_node("a"));
  start({.idle_timeout = milliseconds(50)});
  ASSERT_TRUE(watching(3)) << "the fake server never speaks first";
  const auto status = reflector_->status();
  EXPECT_GE(status.restarts, 2U);
  EXPECT_EQ(status.lists, 1U);
}

TEST_F(ReflectorTest, FailedRequestsAreRepeatedWithDoublingWaits) {
  for (int i = 0; i < 9; ++i) server_.fail_next(kNodesPath, {.status = 500}, false);
  start();
  EXPECT_THAT(waits_.first(9), ElementsAre(100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000));
  ASSERT_TRUE(watching());
  EXPECT_EQ(reflector_->status().failures, 9U);
  // A success sets the waits back.
  server_.fail_next(kNodesPath, {.status = 500}, true);
  server_.put(kNodesPath, make_node("a"));
  ASSERT_TRUE(target_.wait_told("set a"));
  server_.end_watches(kNodesPath);
  EXPECT_EQ(waits_.first(10).back(), 100);
}

TEST_F(ReflectorTest, WaitsAsLongAsTheServerAsks) {
  server_.fail_next(kNodesPath, {.status = 429, .headers = {"Retry-After: 7"}}, false);
  server_.fail_next(kNodesPath, {.status = 429, .headers = {"Retry-After: 86400"}}, false);
  start();
  EXPECT_THAT(waits_.first(2), ElementsAre(7000, 60'000));
  EXPECT_TRUE(watching());
}

TEST_F(ReflectorTest, ErrorEventThatPassesIsRetriedFromTheLastVersion) {
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

TEST_F(ReflectorTest, NotAListIsNotTakenForAnEmptyOne) {
  server_.put(kNodesPath, make_node("a"));
  server_.fail_next(kNodesPath, {.status = 200, .body = "{}"}, false);
  server_.fail_next(kNodesPath, {.status = 200, .body = "<html>"}, false);
  start();
  EXPECT_TRUE(target_.wait_for({{"a", 8}}));
  EXPECT_THAT(target_.told(), ElementsAre("list 1"));
}

TEST_F(ReflectorTest, AnOutageKeepsWhatWeHaveAndTellsThatItIsOld) {
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

TEST_F(ReflectorTest, ListsThatFollowCloselyWaitTheirTurn) {
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

TEST_F(ReflectorTest, WatchesThatEndAtOnceAreNotAskedForInATightLoop) {
  start();
  ASSERT_TRUE(watching());
  server_.end_watches(kNodesPath);
  EXPECT_THAT(waits_.first(1), ElementsAre(100));
}

// In each of these nothing but stop() can end the wait: the test hangs if it does not.
TEST_F(ReflectorTest, StopEndsASilentWatch) {
  start();
  ASSERT_TRUE(watching());
  reflector_->stop();
}

TEST_F(ReflectorTest, StopEndsARequestThatIsNotAnswered) {
  server_.fail_next(kNodesPath, {.silent = true}, false);
  start({.list_deadline = std::chrono::hours(1)});
  ASSERT_TRUE(server_.wait_for_requests(kNodesPath, false, 1));
  reflector_->stop();
  EXPECT_FALSE(reflector_->status().synced);
  EXPECT_EQ(reflector_->status().failures, 0U) << "to be stopped is no failure";
}

TEST_F(ReflectorTest, StopEndsAWaitBetweenAttempts) {
  server_.fail_next(kNodesPath, {.status = 503}, false);
  ReflectorOptions options{
      .name = "nodes", .path = kNodesPath, .backoff_min = std::chrono::hours(1), .backoff_max = std::chrono::hours(3)};
  Reflector reflector(*client_, target_, options, clock_);
  reflector.start();
  ASSERT_TRUE(server_.wait_for_requests(kNodesPath, false, 1));
  reflector.stop();
}

TEST_F(ReflectorTest, StopBeforeStartAndTwice) {
  Reflector reflector(*client_, target_, {.name = "nodes", .path = kNodesPath}, clock_);
  reflector.stop();
  reflector.stop();
}

TEST_F(ReflectorTest, DeniedIsToldAndTriedAgain) {
  server_.require_token("right");
  start();
  const auto waited = waits_.first(2);
  ASSERT_EQ(waited.size(), 2U);
  EXPECT_FALSE(reflector_->status().synced);
  EXPECT_NE(reflector_->status().last_error.find("401: Unauthorized"), std::string::npos);
  server_.require_token("");
  EXPECT_TRUE(watching());
}

TEST(ReflectorTls, OverTlsWithAClientCertificate) {
  const testing::TestCa ca;
  FakeApiServer server(testing::ServerTls{ca.issue("api", "IP:127.0.0.1"), ca.certificate_pem()});
  server.put(kNodesPath, make_node("a"));
  const auto pair = ca.issue("berth", "DNS:berth");
  core::ManualClock clock;
  auto client = ApiClient::create({.server = server.url(),
                                   .tls = {.ca_pem = ca.certificate_pem(),
                                           .client_certificate_pem = pair.certificate_pem,
                                           .client_key_pem = pair.key_pem}},
                                  clock);
  ASSERT_TRUE(client);
  NodeRecorder target;
  Reflector reflector(**client, target, {.name = "nodes", .path = kNodesPath}, clock);
  reflector.start();
  ASSERT_TRUE(target.wait_for({{"a", 8}}));
  ASSERT_TRUE(server.wait_for_requests(kNodesPath, true, 1));
  server.put(kNodesPath, make_node("b"));
  EXPECT_TRUE(target.wait_for({{"a", 8}, {"b", 8}}));
}

}  // namespace
}  // namespace berth::kube
