// Streaming answers and cancelling calls.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "berth/net/http_client.h"
#include "support/scripted_http_server.h"
#include "unit/net/http_fixture.h"

namespace berth::net {
namespace {

using core::ErrorCode;
using std::chrono::milliseconds;
using testing::HttpExchange;
using testing::ScriptedHttpServer;

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

}  // namespace
}  // namespace berth::net
