// List and watch: what the target is told, whatever happens to the stream.
#include "berth/kube/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api_server.h"
#include "unit/kube/reflector_fixture.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using testing::FakeApiServer;
using testing::kNodesPath;
using testing::make_node;

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
