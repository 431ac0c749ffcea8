#include "berth/net/http_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "support/scripted_http_server.h"
#include "unit/net/http_fixture.h"

namespace berth::net {
namespace {

using core::ErrorCode;
using std::chrono::milliseconds;
using testing::HttpExchange;
using testing::ScriptedHttpServer;

TEST(HttpClient, SendsMethodTargetBodyAndHeaders) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.respond(201, exchange.method + " " + exchange.target + " " + exchange.headers["content-type"] + " " +
                              exchange.headers["authorization"] + " " + exchange.headers["x-more"] + " " +
                              exchange.body);
  });
  const auto client = client_of(server.url() + "/prefix/");
  const auto answer = client->send({.method = HttpMethod::kPatch,
                                    .target = "/api/v1/pods?a=b",
                                    .body = "{}",
                                    .content_type = "application/merge-patch+json",
                                    .bearer_token = "secret",
                                    .headers = {"X-More: yes"}});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "PATCH /prefix/api/v1/pods?a=b application/merge-patch+json Bearer secret yes {}");
  EXPECT_FALSE(answer->retry_after);
}

TEST(HttpClient, EveryMethodKeepsItsName) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(200, exchange.method); });
  const auto client = client_of(server.url());
  using enum HttpMethod;
  EXPECT_EQ(client->send({.method = kGet})->body, "GET");
  EXPECT_EQ(client->send({.method = kPost})->body, "POST");
  EXPECT_EQ(client->send({.method = kPatch, .body = "x"})->body, "PATCH");
  EXPECT_EQ(client->send({.method = kDelete})->body, "DELETE");
  EXPECT_EQ(client->send({.method = kGet})->body, "GET");
}

TEST(HttpClient, StatusAndRetryAfterAreValues) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(429, "busy", {"Retry-After: 7"}); });
  const auto answer = client_of(server.url())->send({});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->body, "busy");
  EXPECT_EQ(answer->retry_after, std::chrono::seconds(7));
}

TEST(HttpClient, DoesNotFollowRedirects) {
  std::atomic<int> requests{0};
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    ++requests;
    exchange.respond(302, "", {"Location: http://127.0.0.1:1/elsewhere"});
  });
  const auto answer = client_of(server.url())->send({.bearer_token = "secret"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 302);
  EXPECT_EQ(requests, 1);
}

TEST(HttpClient, KeepsItsConnection) {
  std::mutex mutex;
  std::vector<std::thread::id> threads;  // the server has one per connection
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    {
      const std::lock_guard lock(mutex);
      threads.push_back(std::this_thread::get_id());
    }
    exchange.respond(200, "x");
  });
  const auto client = client_of(server.url());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client->send({}));
  const std::lock_guard lock(mutex);
  ASSERT_EQ(threads.size(), 5U);
  for (const auto& id : threads) EXPECT_EQ(id, threads.front());
}

TEST(HttpClient, AnswerOverTheLimitIsTooLarge) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(200, std::string(1001, 'x')); });
  const auto client = client_of(server.url());
  const auto refused = client->send({.max_response_bytes = 1000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(client->send({.max_response_bytes = 1001}));
}

TEST(HttpClient, NobodyListeningIsUnavailable) {
  std::string url;
  {
    const ScriptedHttpServer server([](HttpExchange&) {});
    url = server.url();
  }
  const auto answer = client_of(url)->send({.target = "/api/v1/nodes?continue=abc", .bearer_token = "secret"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().where, "GET " + url + "/api/v1/nodes");
  EXPECT_EQ(answer.error().to_string().find("secret"), std::string::npos);
}

TEST(HttpClient, AnswerCutShortIsUnavailable) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
    exchange.cut();
  });
  const auto answer = client_of(server.url())->send({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
}

TEST(HttpClient, GarbageInsteadOfHttpIsUnavailable) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.raw("\x01\x02 this is not HTTP\r\n\r\n");
    exchange.cut();
  });
  const auto answer = client_of(server.url())->send({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
}

TEST(HttpClient, DeadlineEndsASlowAnswer) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.wait_until_closed(); });
  const auto answer = client_of(server.url())->send({.deadline = milliseconds(50)});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
}

TEST(HttpClient, LineBreaksDoNotReachTheWire) {
  const auto client = client_of("http://127.0.0.1:1");
  const auto token = client->send({.bearer_token = "a\r\nX-Evil: 1"});
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(token.error().to_string().find("Evil"), std::string::npos);
  EXPECT_EQ(client->send({.headers = {"A: b\nC: d"}}).error().code, ErrorCode::kInvalid);
}

TEST(HttpClient, TokenIsNotSentOverPlainHttpToAnotherMachine) {
  const auto answer = client_of("http://192.0.2.1:80")->send({.bearer_token = "secret"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalid);
}

TEST(HttpClient, UrlsThatAreNotAServerAreRefused) {
  for (const char* url : {"", "ftp://host", "https://user:secret@host", "https://host?x=1", "https://host#x", "://"}) {
    const auto client = HttpClient::create({.url = url, .tls = {}});
    ASSERT_FALSE(client) << url;
    EXPECT_EQ(client.error().code, ErrorCode::kInvalid) << url;
    EXPECT_EQ(client.error().to_string().find("secret"), std::string::npos);
  }
  EXPECT_TRUE(HttpClient::create({.url = "https://[2001:db8::1]:6443/k8s/", .tls = {}}));
}

TEST(HttpClient, ProxyOfTheEnvironmentIsNotUsedForLoopback) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(200, exchange.target); });
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto answer = client_of(server.url())->send({.target = "/direct"});
  unsetenv("http_proxy");
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->body, "/direct");
}

TEST(HttpClient, ProxyOfTheEnvironmentIsNotUsedWhereTheClientWantsNone) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(200, exchange.target); });
  // The same machine, by an address that is not a loopback address.
  const std::string url = "http://0.0.0.0" + server.url().substr(server.url().rfind(':'));
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto by_proxy = (*HttpClient::create({.url = url}))->send({.target = "/direct"});
  const auto direct = (*HttpClient::create({.url = url, .proxies = false}))->send({.target = "/direct"});
  unsetenv("http_proxy");
  EXPECT_FALSE(by_proxy);
  ASSERT_TRUE(direct) << direct.error().to_string();
  EXPECT_EQ(direct->body, "/direct");
}

}  // namespace
}  // namespace berth::net
