#include "berth/kube/watch_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "berth/net/http_client.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;

class WatchServerTest : public ::testing::Test {
 protected:
  WatchServerTest() {
    client_ = *net::HttpClient::create({.url = "http://127.0.0.1:" + std::to_string(*server_.start())});
  }

  // The lines of a watch, so many.
  std::vector<std::string> watch(const std::string& target, std::size_t count) {
    std::string text;
    const auto lines = [&] { return static_cast<std::size_t>(std::ranges::count(text, '\n')); };
    const net::StreamHandler handler{.on_open = {}, .on_chunk = [&](std::string_view bytes) {
                                       text += bytes;
                                       return lines() < count;
                                     }};
    const auto ended = client_->stream({.target = target}, handler);
    EXPECT_TRUE(ended) << ended.error().to_string();
    std::vector<std::string> told;
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      told.push_back(text.substr(at, end - at));
    }
    return told;
  }

  WatchServer server_{{"/a", "/b"},
                      [](const ServedRequest& request) {
                        return ServedAnswer{request.method == "GET" ? 200 : 201, std::string(request.method) + " " +
                                                                                     std::string(request.path) + " " +
                                                                                     std::string(request.body)};
                      },
                      2};
  std::unique_ptr<net::HttpClient> client_;
};

TEST_F(WatchServerTest, AllButWatchesGoesToTheHandler) {
  EXPECT_EQ(client_->send({.target = "/a?limit=2"})->body, "GET /a ");
  EXPECT_EQ(client_->send({.target = "/c?watch=true"})->body, "GET /c ") << "it is no collection";
  const auto posted =
      client_->send({.method = net::HttpMethod::kPost, .target = "/b", .body = "body", .content_type = "text/plain"});
  EXPECT_EQ(posted->status, 201);
  EXPECT_EQ(posted->body, "POST /b body");
}

TEST_F(WatchServerTest, WatchBeginsAfterItsVersionAndGoesOn) {
  server_.publish(0, 7, "seven\n");
  server_.publish(0, 8, "eight\n");
  server_.publish(1, 9, "of another\n");
  auto told = std::async(std::launch::async, [&] { return watch("/a?watch=true&resourceVersion=7", 2); });
  while (server_.watchers(0) == 0) std::this_thread::yield();
  server_.tell(0, "bookmark\n");
  EXPECT_THAT(told.get(), ElementsAre("eight", "bookmark"));
  EXPECT_THAT(watch("/a?watch=1&resourceVersion=6", 2), ElementsAre("seven", "eight"));
}

TEST_F(WatchServerTest, VersionWhoseSuccessorsAreForgottenIsTooOld) {
  for (std::uint64_t version = 1; version <= 3; ++version) server_.publish(0, version, std::to_string(version) + "\n");
  EXPECT_THAT(watch("/a?watch=true&resourceVersion=0", 1), ElementsAre(::testing::HasSubstr("\"code\":410")));
  EXPECT_THAT(watch("/a?watch=true&resourceVersion=1", 2), ElementsAre("2", "3"));
}

TEST_F(WatchServerTest, WatchEndsWhenItsTimeIsOver) {
  EXPECT_THAT(watch("/b?watch=true&resourceVersion=1&timeoutSeconds=0", 1), ElementsAre());
}

TEST(QueryParameter, IsFoundByItsWholeName) {
  EXPECT_EQ(query_parameter("/a?limit=5&continue=x", "continue"), "x");
  EXPECT_EQ(query_parameter("/a?unlimit=5", "limit"), "");
  EXPECT_EQ(query_parameter("/a", "limit"), "");
  EXPECT_EQ(query_number("/a?limit=5", "limit", 1), 5U);
  EXPECT_EQ(query_number("/a?limit=x", "limit", 1), 1U);
}

}  // namespace
}  // namespace berth::kube
