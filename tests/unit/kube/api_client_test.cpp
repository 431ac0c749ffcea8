#include "berth/kube/api_client.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "support/fake_api_server.h"

namespace berth::kube {
namespace {

using core::ErrorCode;
using testing::FakeApiServer;
using testing::HttpExchange;
using testing::kNodesPath;
using testing::ScriptedHttpServer;

std::unique_ptr<ApiClient> client_of(ServerAccess access, const core::Clock& clock) {
  auto client = ApiClient::create(std::move(access), clock);
  EXPECT_TRUE(client) << client.error().to_string();
  return std::move(*client);
}

class TokenFile {
 public:
  explicit TokenFile(const std::string& token)
      : path_(::testing::TempDir() + "berth_token_" + std::to_string(getpid())) {
    write(token);
  }
  ~TokenFile() { std::remove(path_.c_str()); }
  void write(const std::string& token) const { std::ofstream(path_) << token << "\n"; }
  void remove() const { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct StatusCase {
  int status;
  ErrorCode code;
};

class ApiClientStatus : public ::testing::TestWithParam<StatusCase> {};

TEST_P(ApiClientStatus, IsMappedWithTheServersWords) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.respond(GetParam().status, R"({"kind":"Status","apiVersion":"v1","message":"because","code":1})");
  });
  core::ManualClock clock;
  const auto answer = client_of({.server = server.url(), .tls = {}}, clock)->get("/api/v1/nodes?limit=5");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, GetParam().code);
  EXPECT_EQ(answer.error().status, GetParam().status);
  EXPECT_EQ(answer.error().to_string(),
            server.url() + "/api/v1/nodes: the API server answered " + std::to_string(GetParam().status) + ": because");
}

INSTANTIATE_TEST_SUITE_P(, ApiClientStatus,
                         ::testing::Values(StatusCase{400, ErrorCode::kInvalid}, StatusCase{401, ErrorCode::kDenied},
                                           StatusCase{403, ErrorCode::kDenied}, StatusCase{404, ErrorCode::kNotFound},
                                           StatusCase{409, ErrorCode::kConflict}, StatusCase{410, ErrorCode::kGone},
                                           StatusCase{422, ErrorCode::kInvalid},
                                           StatusCase{429, ErrorCode::kUnavailable},
                                           StatusCase{500, ErrorCode::kUnavailable},
                                           StatusCase{503, ErrorCode::kUnavailable}),
                         [](const auto& test) { return "Http" + std::to_string(test.param.status); });

TEST(ApiClientTest, RetryAfterIsHandedOn) {
  ScriptedHttpServer server([](HttpExchange& exchange) { exchange.respond(429, "too many", {"Retry-After: 3"}); });
  core::ManualClock clock;
  const auto answer = client_of({.server = server.url(), .tls = {}}, clock)->get("/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().retry_after, std::chrono::seconds(3));
}

TEST(ApiClientTest, AnswerOfAProxyIsShownShortAndPrintable) {
  ScriptedHttpServer server(
      [](HttpExchange& exchange) { exchange.respond(502, "<html>\n\x1b[31m" + std::string(1000, 'x')); });
  core::ManualClock clock;
  const auto answer = client_of({.server = server.url(), .tls = {}}, clock)->get("/");
  ASSERT_FALSE(answer);
  EXPECT_LT(answer.error().message.size(), 300U);
  EXPECT_EQ(answer.error().message.find_first_of("\n\x1b"), std::string::npos);
}

TEST(ApiClientTest, PostAndPatchNameTheirContent) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.respond(200, exchange.method + " " + exchange.headers["content-type"] + " " + exchange.body);
  });
  core::ManualClock clock;
  const auto client = client_of({.server = server.url(), .tls = {}}, clock);
  EXPECT_EQ(*client->post("/x", "{}"), "POST application/json {}");
  EXPECT_EQ(*client->patch("/x", PatchType::kJson, "[]"), "PATCH application/json-patch+json []");
  EXPECT_EQ(*client->patch("/x", PatchType::kMerge, "{}"), "PATCH application/merge-patch+json {}");
  EXPECT_EQ(*client->patch("/x", PatchType::kStrategicMerge, "{}"), "PATCH application/strategic-merge-patch+json {}");
}

TEST(ApiClientToken, OfAFileIsReadAgainAfterAMinute) {
  FakeApiServer server;
  server.require_token("first");
  const TokenFile file("first");
  core::ManualClock clock;
  const auto client = client_of({.server = server.url(), .tls = {}, .token_file = file.path()}, clock);
  EXPECT_TRUE(client->get(kNodesPath));
  file.write("second");
  clock.advance(std::chrono::seconds(59));
  EXPECT_TRUE(client->get(kNodesPath)) << "the first one is still in use";
  server.require_token("second");
  clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(client->get(kNodesPath));
  EXPECT_EQ(server.requests().size(), 3U) << "no request was refused";
}

TEST(ApiClientToken, IsReadAtOnceAfterA401AndTheCallMadeOnceMore) {
  FakeApiServer server;
  server.require_token("first");
  const TokenFile file("first");
  core::ManualClock clock;
  const auto client = client_of({.server = server.url(), .tls = {}, .token_file = file.path()}, clock);
  ASSERT_TRUE(client->get(kNodesPath));
  server.require_token("second");
  file.write("second");
  EXPECT_TRUE(client->get(kNodesPath));
  ASSERT_EQ(server.requests().size(), 3U);
  EXPECT_EQ(server.requests()[1].authorization, "Bearer first");
  EXPECT_EQ(server.requests()[2].authorization, "Bearer second");
}

TEST(ApiClientToken, UnchangedAfterA401IsDenied) {
  FakeApiServer server;
  server.require_token("right");
  core::ManualClock clock;
  const auto client = client_of({.server = server.url(), .tls = {}, .token = "wrong"}, clock);
  const auto answer = client->get(kNodesPath);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kDenied);
  EXPECT_EQ(answer.error().to_string().find("wrong"), std::string::npos);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(ApiClientToken, FileThatIsGoneLeavesTheLastOneInUse) {
  FakeApiServer server;
  server.require_token("first");
  const TokenFile file("first");
  core::ManualClock clock;
  const auto client = client_of({.server = server.url(), .tls = {}, .token_file = file.path()}, clock);
  file.remove();
  clock.advance(std::chrono::minutes(5));
  EXPECT_TRUE(client->get(kNodesPath));
}

TEST(ApiClientToken, FileOfTwoLinesLeavesTheLastOneInUse) {
  FakeApiServer server;
  server.require_token("first");
  const TokenFile file("first");
  core::ManualClock clock;
  const auto client = client_of({.server = server.url(), .tls = {}, .token_file = file.path()}, clock);
  file.write("second\nthird");
  clock.advance(std::chrono::minutes(5));
  EXPECT_TRUE(client->get(kNodesPath));
}

TEST(ApiClientToken, FixedOneIsUsedUntilTheFileIsThere) {
  FakeApiServer server;
  server.require_token("fixed");
  const TokenFile file("first");
  file.remove();
  core::ManualClock clock;
  const auto client =
      client_of({.server = server.url(), .tls = {}, .token = "fixed", .token_file = file.path()}, clock);
  EXPECT_TRUE(client->get(kNodesPath));
  server.require_token("first");
  file.write("first");
  clock.advance(std::chrono::minutes(1));
  EXPECT_TRUE(client->get(kNodesPath));
}

struct Unusable {
  const char* name;
  ServerAccess access;
  std::optional<std::string> file;  // what the token file holds; nullopt: it is not there
  ErrorCode code;
  const char* says;
};

class ApiClientRefuses : public ::testing::TestWithParam<Unusable> {};

TEST_P(ApiClientRefuses, WhatWaitingWouldNotMend) {
  const TokenFile file(GetParam().file.value_or(""));
  if (!GetParam().file) file.remove();
  ServerAccess access = GetParam().access;
  if (access.token_file == "FILE") access.token_file = file.path();
  const core::ManualClock clock;
  const auto client = ApiClient::create(access, clock);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, GetParam().code);
  const std::string text = client.error().to_string();
  EXPECT_NE(text.find(GetParam().says), std::string::npos) << text;
  EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

const std::string kHttps = "https://127.0.0.1:1";
const std::string kFar = "http://192.0.2.1:8080";

INSTANTIATE_TEST_SUITE_P(
    , ApiClientRefuses,
    ::testing::Values(Unusable{"token_file_missing",
                               {.server = kHttps, .token_file = "FILE"},
                               {},
                               ErrorCode::kNotFound,
                               "no token: can't open it: No such file"},
                      Unusable{"token_file_is_a_directory",
                               {.server = kHttps, .token_file = "/"},
                               {},
                               ErrorCode::kUnavailable,
                               "no token: can't read it: Is a directory"},
                      Unusable{"token_file_empty",
                               {.server = kHttps, .token_file = "FILE"},
                               " \n",
                               ErrorCode::kInvalid,
                               "no token: it is empty"},
                      Unusable{"token_file_of_two_lines",
                               {.server = kHttps, .token_file = "FILE"},
                               "s3cret\ns3cret",
                               ErrorCode::kInvalid,
                               "must be one line of visible ASCII"},
                      Unusable{"token_of_two_lines",
                               {.server = kHttps, .token = "s3cret\r\nX-Other: s3cret"},
                               {},
                               ErrorCode::kInvalid,
                               "the token must be one line of visible ASCII"},
                      Unusable{"token_over_plain_http",
                               {.server = kFar, .token = "s3cret"},
                               {},
                               ErrorCode::kInvalid,
                               "http://192.0.2.1:8080: a token is not sent over plain http; use an https:// URL"},
                      Unusable{"token_file_over_plain_http",
                               {.server = kFar, .token_file = "FILE"},
                               "s3cret",
                               ErrorCode::kInvalid,
                               "a token is not sent over plain http"},
                      Unusable{"url_with_a_password",
                               {.server = "https://u:s3cret@127.0.0.1:1"},
                               {},
                               ErrorCode::kInvalid,
                               "must not hold a user name or password"}),
    [](const auto& test) { return test.param.name; });

TEST(ApiClientTest, PlainHttpWithoutATokenIsLeftToTheUser) {
  const core::ManualClock clock;
  EXPECT_TRUE(ApiClient::create({.server = kFar}, clock));
}

TEST(ApiClientTest, StreamHandsOnWhatComes) {
  ScriptedHttpServer server([](HttpExchange& exchange) {
    exchange.begin_stream();
    exchange.chunk("one");
    exchange.chunk("two");
    exchange.end_stream();
  });
  core::ManualClock clock;
  std::string seen;
  const auto end = client_of({.server = server.url(), .tls = {}}, clock)
                       ->stream("/", {.on_open = {}, .on_chunk = [&](std::string_view bytes) {
                                        seen += bytes;
                                        return true;
                                      }});
  EXPECT_TRUE(end);
  EXPECT_EQ(seen, "onetwo");
}

}  // namespace
}  // namespace berth::kube
