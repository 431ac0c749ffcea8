#include "berth/net/http_client.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "support/scripted_http_server.h"

namespace berth::net {
namespace {

using core::ErrorCode;
using std::chrono::milliseconds;
using testing::HttpExchange;
using testing::ScriptedHttpServer;
using testing::ServerTls;
using testing::TestCa;

std::unique_ptr<HttpClient> client_of(const std::string& url, TlsOptions tls = {}) {
  auto client = HttpClient::create({.url = url, .tls = std::move(tls)});
  EXPECT_TRUE(client.has_value()) << client.error().to_string();
  return std::move(*client);
}

// Set once; waited for at most 30 s.
class Signal {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [this] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

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

TEST(HttpStream, ChunksComeWhileTheAnswerIsOpen) {
  Signal first_seen;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    exchange.begin_stream();
    exchange.chunk("one\n");
    // The second piece is sent only after the first has arrived.
    EXPECT_TRUE(first_seen.wait());
    exchange.chunk("two\n");
    exchange.end_stream();
  });
  std::string seen;
  bool open_first = false;
  const auto answer = client_of(server.url())
                          ->stream({}, {.on_open = [&] { open_first = seen.empty(); },
                                        .on_chunk =
                                            [&](std::string_view bytes) {
                                              seen += bytes;
                                              first_seen.set();
                                              return true;
                                            }});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(open_first);
  EXPECT_EQ(seen, "one\ntwo\n");
}

TEST(HttpStream, OpensBeforeTheFirstByteOfTheBody) {
  Signal opened;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    exchange.begin_stream();
    EXPECT_TRUE(opened.wait());
    exchange.end_stream();
  });
  EXPECT_TRUE(client_of(server.url())
                  ->stream({}, {.on_open = [&] { opened.set(); }, .on_chunk = [](std::string_view) { return true; }}));
}

TEST(HttpStream, BodyOfAnErrorIsKeptAndNotStreamed) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(410, "gone"); });
  bool called = false;
  const auto answer = client_of(server.url())
                          ->stream({}, {.on_open = [&] { called = true; },
                                        .on_chunk = [&](std::string_view) { return called = true; }});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 410);
  EXPECT_EQ(answer->body, "gone");
  EXPECT_FALSE(called);
}

TEST(HttpStream, HandlerEndsIt) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.begin_stream();
    exchange.chunk("enough");
    exchange.wait_until_closed();
  });
  const auto answer =
      client_of(server.url())->stream({}, {.on_open = {}, .on_chunk = [](std::string_view) { return false; }});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->status, 200);
}

TEST(HttpStream, SilenceIsATimeout) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.begin_stream();
    exchange.wait_until_closed();
  });
  const auto answer = client_of(server.url())
                          ->stream({.deadline = milliseconds(0), .idle_timeout = milliseconds(50)},
                                   {.on_open = {}, .on_chunk = [](std::string_view) { return true; }});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
}

TEST(HttpStream, CutInTheMiddleIsUnavailable) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.begin_stream();
    exchange.raw("5\r\nhel");
    exchange.cut();
  });
  std::string seen;
  const auto answer = client_of(server.url())->stream({}, {.on_open = {}, .on_chunk = [&](std::string_view bytes) {
                                                             seen += bytes;
                                                             return true;
                                                           }});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(seen, "hel");
}

// The server never says anything more: only the cancel can end these calls.
TEST(HttpCancel, EndsASilentStream) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.begin_stream();
    exchange.wait_until_closed();
  });
  const auto client = client_of(server.url());
  Cancellation cancellation;
  Signal opened;
  std::thread canceller([&] {
    EXPECT_TRUE(opened.wait());
    cancellation.cancel();
  });
  const auto answer =
      client->stream({.deadline = milliseconds(0), .cancellation = &cancellation},
                     {.on_open = [&] { opened.set(); }, .on_chunk = [](std::string_view) { return true; }});
  canceller.join();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
}

TEST(HttpCancel, EndsARequestThatIsNotAnswered) {
  Cancellation cancellation;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    cancellation.cancel();
    exchange.wait_until_closed();
  });
  const auto answer = client_of(server.url())->send({.deadline = milliseconds(0), .cancellation = &cancellation});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
}

TEST(HttpCancel, RaisedBeforehandNothingIsSent) {
  std::atomic<int> requests{0};
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    ++requests;
    exchange.respond(200, "");
  });
  Cancellation cancellation;
  cancellation.cancel();
  EXPECT_EQ(client_of(server.url())->send({.cancellation = &cancellation}).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(requests, 0);
}

TEST(HttpCancel, ClientIsUsableAfterwards) {
  std::atomic<bool> silent{true};
  Cancellation cancellation;
  ScriptedHttpServer server([&](HttpExchange& exchange) {
    if (!silent) return exchange.respond(200, "ok");
    cancellation.cancel();
    exchange.wait_until_closed();
  });
  const auto client = client_of(server.url());
  EXPECT_FALSE(client->send({.cancellation = &cancellation}));
  silent = false;
  EXPECT_EQ(client->send({})->body, "ok");
}

TEST(CancellationTest, EndsAWait) {
  Cancellation cancellation;
  EXPECT_FALSE(cancellation.wait_for(milliseconds(1)));
  std::thread canceller([&] { cancellation.cancel(); });
  EXPECT_TRUE(cancellation.wait_for(std::chrono::hours(24)));
  canceller.join();
  EXPECT_TRUE(cancellation.wait_for(milliseconds(0)));
}

class HttpTls : public ::testing::Test {
 protected:
  static void answer(HttpExchange& exchange) { exchange.respond(200, "over TLS"); }
  TestCa ca_;
  ScriptedHttpServer server_{answer, ServerTls{ca_.issue("api", "IP:127.0.0.1"), ""}};
};

TEST_F(HttpTls, CaInMemory) {
  const auto answer = client_of(server_.url(), {.ca_pem = ca_.certificate_pem()})->send({});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->body, "over TLS");
}

TEST_F(HttpTls, CaInAFile) {
  const std::string file = ::testing::TempDir() + "berth_ca_" + std::to_string(getpid()) + ".pem";
  std::ofstream(file) << ca_.certificate_pem();
  const auto answer = client_of(server_.url(), {.ca_file = file})->send({});
  std::remove(file.c_str());
  ASSERT_TRUE(answer) << answer.error().to_string();
}

TEST_F(HttpTls, AnotherCaIsRefusedAndTheTextSaysWhatToCheck) {
  const TestCa other("other CA");
  const auto answer = client_of(server_.url(), {.ca_pem = other.certificate_pem()})->send({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(answer.error().message.find("not trusted"), std::string::npos) << answer.error().message;
  EXPECT_NE(answer.error().message.find("check the CA"), std::string::npos) << answer.error().message;
}

TEST_F(HttpTls, CaThatIsNoCertificateIsInvalid) {
  EXPECT_EQ(client_of(server_.url(), {.ca_pem = "no PEM"})->send({}).error().code, ErrorCode::kInvalid);
}

TEST_F(HttpTls, VerifiesUnlessToldNotTo) {
  EXPECT_FALSE(client_of(server_.url())->send({}));
  EXPECT_TRUE(client_of(server_.url(), {.verify = false})->send({}));
}

TEST_F(HttpTls, NameMustBeInTheCertificate) {
  ScriptedHttpServer named(answer, ServerTls{ca_.issue("api", "DNS:kubernetes.default"), ""});
  EXPECT_FALSE(client_of(named.url(), {.ca_pem = ca_.certificate_pem()})->send({}));
  const auto answer =
      client_of(named.url(), {.ca_pem = ca_.certificate_pem(), .server_name = "kubernetes.default"})->send({});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_FALSE(client_of(named.url(), {.ca_pem = ca_.certificate_pem(), .server_name = "elsewhere"})->send({}));
}

TEST_F(HttpTls, ClientCertificateInMemory) {
  ScriptedHttpServer strict(answer, ServerTls{ca_.issue("api", "IP:127.0.0.1"), ca_.certificate_pem()});
  EXPECT_FALSE(client_of(strict.url(), {.ca_pem = ca_.certificate_pem()})->send({}));
  const auto pair = ca_.issue("berth", "DNS:berth");
  const auto answer = client_of(strict.url(), {.ca_pem = ca_.certificate_pem(),
                                               .client_certificate_pem = pair.certificate_pem,
                                               .client_key_pem = pair.key_pem})
                          ->send({});
  ASSERT_TRUE(answer) << answer.error().to_string();
}

TEST_F(HttpTls, KeyOfAnotherCertificateIsInvalidAndNotShown) {
  ScriptedHttpServer strict(answer, ServerTls{ca_.issue("api", "IP:127.0.0.1"), ca_.certificate_pem()});
  const auto pair = ca_.issue("berth", "DNS:berth");
  const auto other = ca_.issue("other", "DNS:other");
  const auto answer = client_of(strict.url(), {.ca_pem = ca_.certificate_pem(),
                                               .client_certificate_pem = pair.certificate_pem,
                                               .client_key_pem = other.key_pem})
                          ->send({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalid) << answer.error().to_string();
  EXPECT_EQ(answer.error().to_string().find("BEGIN"), std::string::npos);
}

}  // namespace
}  // namespace berth::net
