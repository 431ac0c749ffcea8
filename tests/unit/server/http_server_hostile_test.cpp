// Requests that are broken, too large, or never finished: answered or cut, and nothing else suffers.
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "berth/core/sanitized.h"
#include "unit/server/http_server_fixture.h"

namespace berth::server {
namespace {

using HttpServerLimits = HttpServerTest;
using HttpServerStall = HttpServerTest;

std::string chunked(std::string_view chunks, std::string_view path = "/echo") {
  return "POST " + std::string(path) + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(chunks);
}

struct Malformed {
  const char* name;
  std::string bytes;
  int status;
};

class HttpServerMalformed : public HttpServerTest, public testing::WithParamInterface<Malformed> {};

TEST_P(HttpServerMalformed, IsAnsweredAndEndsTheConnection) {
  start();
  RawClient client(port);
  const RawAnswer answer = client.ask(GetParam().bytes);
  EXPECT_EQ(answer.status, GetParam().status);
  EXPECT_TRUE(answer.body.starts_with(R"({"error":")")) << answer.body;
  EXPECT_TRUE(answer.has("\r\nConnection: close\r\n")) << answer.head;
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(RawClient(port).ask(post("/echo", "next")).body, "next");
}

INSTANTIATE_TEST_SUITE_P(
    Requests, HttpServerMalformed,
    testing::Values(Malformed{"NotHttp", "hello\r\n\r\n", 400},                                                       //
                    Malformed{"NoTarget", "GET HTTP/1.1\r\n\r\n", 400},                                               //
                    Malformed{"RelativeTarget", "GET ok HTTP/1.1\r\n\r\n", 400},                                      //
                    Malformed{"OldVersion", "GET /ok HTTP/0.9\r\n\r\n", 505},                                         //
                    Malformed{"UnknownMethod", "BREW /ok HTTP/1.1\r\n\r\n", 501},                                     //
                    Malformed{"BareLineFeeds", "GET /ok HTTP/1.1\nHost: a\n\n", 400},                                 //
                    Malformed{"NulInHeader", std::string("GET /ok HTTP/1.1\r\nA: b\0c\r\n\r\n", 29), 400},            //
                    Malformed{"BlankBeforeColon", "GET /ok HTTP/1.1\r\nContent-Length : 3\r\n\r\n", 400},             //
                    Malformed{"FoldedHeader", "GET /ok HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400},                         //
                    Malformed{"NoColon", "GET /ok HTTP/1.1\r\nnonsense\r\n\r\n", 400},                                //
                    Malformed{"LongTarget", "GET /" + std::string(5'000, 'a') + " HTTP/1.1\r\n\r\n", 414},            //
                    Malformed{"LongHeader", "GET /ok HTTP/1.1\r\nA: " + std::string(70'000, 'a') + "\r\n\r\n", 431},  //
                    Malformed{"EndlessHeader", "GET /ok HTTP/1.1\r\nA: " + std::string(70'000, 'a'), 431}));

std::string many_headers() {
  std::string request = "GET /ok HTTP/1.1\r\n";
  for (int i = 0; i < 300; ++i) request += "A" + std::to_string(i) + ": b\r\n";
  return request + "\r\n";
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, HttpServerMalformed,
    testing::Values(
        Malformed{"ManyHeaders", many_headers(), 431},                                                               //
        Malformed{"NegativeLength", "POST /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},                       //
        Malformed{"SignedLength", "POST /echo HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc", 400},                      //
        Malformed{"NoLength", "POST /echo HTTP/1.1\r\nContent-Length: \r\n\r\n", 400},                               //
        Malformed{"OverflowingLength", "POST /echo HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n", 400},  //
        Malformed{"TwoLengths", "POST /echo HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400},    //
        Malformed{"LengthAndChunked",
                  "POST /echo HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        Malformed{"OtherTransferEncoding", "POST /echo HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},  //
        Malformed{"Compressed", post("/echo", "x", "Content-Encoding: gzip\r\n"), 415},                              //
        Malformed{"OtherExpectation", post("/echo", "x", "Expect: a-miracle\r\n"), 417},                             //
        Malformed{"ChunkSizeNegative", chunked("-1\r\nabc\r\n0\r\n\r\n"), 400},                                      //
        Malformed{"ChunkSizeNotHex", chunked("zz\r\n"), 400},                                                        //
        Malformed{"ChunkSizeWith0x", chunked("0x3\r\nabc\r\n0\r\n\r\n"), 400},                                       //
        Malformed{"ChunkSizeOverflows", chunked("10000000000000000\r\n"), 400},                                      //
        Malformed{"ChunkSizeHuge", chunked("ffffffffffffffff\r\n"), 413},                                            //
        Malformed{"ChunkTooLong", chunked("3\r\nabcd\r\n0\r\n\r\n"), 400},                                           //
        Malformed{"ChunkLineEndless", chunked(std::string(100'000, '1')), 400},                                      //
        Malformed{"LengthHuge", "POST /echo HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n", 413}));

TEST_F(HttpServerLimits, ChunkedBodyArrivesWhole) {
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask(chunked("5\r\nhello\r\n1;ext=1\r\n,\r\n006\r\n world\r\n0\r\nTrailer: x\r\n\r\n")).body,
            "hello, world");
  EXPECT_EQ(client.ask(chunked("0\r\n\r\n", "/size")).body, "0");
  EXPECT_EQ(client.ask("GET /ok HTTP/1.1\r\n\r\n").body, "ok");
}

TEST_F(HttpServerLimits, PostWithoutABodyHasAnEmptyOne) {
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask("POST /size HTTP/1.1\r\n\r\n").body, "0");
  EXPECT_EQ(client.ask("POST /size HTTP/1.1\r\nContent-Length: 0\r\n\r\n").body, "0");
}

TEST_F(HttpServerLimits, BodyOfAGetIsDropped) {
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask("GET /ok HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /").body, "ok");
  EXPECT_EQ(client.ask("GET /ok HTTP/1.1\r\n\r\n").body, "ok");
}

TEST_F(HttpServerLimits, BodyOfExactlyTheLimitPassesAndOneByteMoreIs413) {
  options.max_body_bytes = 1000;
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask(post("/size", std::string(1000, 'x'))).body, "1000");
  EXPECT_EQ(client.ask(chunked("3e8\r\n" + std::string(1000, 'x') + "\r\n0\r\n\r\n", "/size")).body, "1000");
  const RawAnswer large = client.ask(post("/size", std::string(1001, 'x')));
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.body, R"({"error":"the body is larger than 1000 bytes"})");
  EXPECT_TRUE(client.ended());
  // The limit holds for chunks too (CVE-2025-46728 in the library).
  EXPECT_EQ(RawClient(port).ask(chunked("3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\nx\r\n0\r\n\r\n")).status, 413);
  EXPECT_EQ(failures(HttpFailure::kTooLarge), 2U);
}

TEST_F(HttpServerLimits, ClientThatWritesALargeBodyToTheEndStillReadsThe413) {
  options.max_body_bytes = 1000;
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask(post("/echo", std::string(20U << 20U, 'x'))).status, 413);
  EXPECT_EQ(RawClient(port).ask(post("/nothing", std::string(20U << 20U, 'x'))).status, 404);
}

TEST_F(HttpServerLimits, AllBodiesTogetherOverTheBudgetAre503) {
  options.max_body_bytes = 1000;
  options.max_bodies_bytes = 1500;
  start();
  RawClient first(port);
  first.say(post("/wait", std::string(1000, 'x')));
  ASSERT_TRUE(gate.wait_for(1));
  EXPECT_EQ(server->counters().bodies_bytes, 1000U);
  const RawAnswer second = RawClient(port).ask(post("/echo", std::string(501, 'x')));
  EXPECT_EQ(second.status, 503);
  EXPECT_EQ(RawClient(port).ask(post("/size", std::string(500, 'x'))).body, "500");
  gate.open();
  EXPECT_EQ(first.answer().body, "waited");
  EXPECT_TRUE(eventually([&] { return server->counters().bodies_bytes == 0; }));
  EXPECT_EQ(RawClient(port).ask(post("/size", std::string(501, 'x'))).body, "501");
  EXPECT_EQ(failures(HttpFailure::kBodiesFull), 1U);
}

TEST_F(HttpServerLimits, ContinueIsSaidOnlyWhenTheBodyIsWanted) {
  options.max_body_bytes = 10;
  start();
  RawClient wanted(port);
  const RawAnswer go = wanted.ask("POST /echo HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(go.status, 100);
  EXPECT_EQ(wanted.ask("ok").body, "ok");
  EXPECT_EQ(wanted.ask(post("/echo", "more")).body, "more");
  RawClient unwanted(port);
  EXPECT_EQ(unwanted.ask("POST /echo HTTP/1.1\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n").status, 413);
  EXPECT_TRUE(unwanted.ended());
  RawClient lost(port);
  EXPECT_EQ(lost.ask("POST /none HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n").status, 404);
  EXPECT_TRUE(lost.ended());
}

TEST_F(HttpServerStall, InTheMiddleOfARequestIsCut) {
  options.body_timeout = std::chrono::milliseconds(50);
  start();
  for (const std::string& part : {std::string("PO"), std::string("POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"),
                                  chunked("5\r\nab"), chunked("5\r\nabcde\r\n0\r\n")}) {
    RawClient client(port);
    EXPECT_EQ(client.ask(part).status, 408) << part;
    EXPECT_TRUE(client.ended()) << part;
  }
  EXPECT_EQ(failures(HttpFailure::kTimeout), 4U);
  EXPECT_EQ(RawClient(port).ask(post("/echo", "next")).body, "next");
}

// Bytes keep coming, so that the server never has to wait for one.
TEST_F(HttpServerStall, EndlessSenderIsCutAtTheDeadline) {
  options.body_timeout = std::chrono::milliseconds(20);
  options.max_body_bytes = options.max_bodies_bytes = std::size_t{1} << 40U;
  start();
  const std::string block(64U << 10U, 'x');
  std::string chunks;
  for (int i = 0; i < 1000; ++i) chunks += "40\r\n" + std::string(64, 'x') + "\r\n";
  for (const auto& [head, more] :
       {std::pair{std::string("POST /size HTTP/1.1\r\nContent-Length: 1000000000000\r\n\r\n"), block},
        std::pair{chunked("e8d4a51000\r\n"), block}, std::pair{chunked(""), chunks}}) {
    RawClient client(port);
    client.say(head);
    while (!client.readable()) client.say(more);
    EXPECT_EQ(client.answer().status, 408) << head;
  }
  EXPECT_TRUE(eventually([&] { return server->counters().bodies_bytes == 0; }));
}

TEST_F(HttpServerStall, FewEmptyLinesBeforeARequestAreIgnoredAndMoreRefused) {
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask("\r\n\r\n" + post("/echo", "a") + "\r\n").body, "a");
  EXPECT_EQ(client.ask("\r\n" + post("/echo", "b")).body, "b");
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "\r\n";
  const RawAnswer answer = RawClient(port).ask(lines);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body, R"({"error":"too many empty lines before a request"})");
}

TEST_F(HttpServerStall, ChunksMayBeSmallButNotAllExtension) {
  start();
  std::string small;
  std::string padded;
  for (int i = 0; i < 20'000; ++i) small += "1\r\nx\r\n";
  for (int i = 0; i < 2'000; ++i) padded += "1;" + std::string(1'000, 'e') + "\r\nx\r\n";
  EXPECT_EQ(RawClient(port).ask(chunked(small + "0\r\n\r\n", "/size")).body, "20000");
  EXPECT_EQ(RawClient(port).ask(chunked(padded + "0\r\n\r\n", "/size")).status, 400);
}

TEST_F(HttpServerStall, ClientThatLeavesInTheMiddleCostsNothing) {
  start();
  for (const char* part : {"", "P", "POST /echo HTTP/1.1\r\n", "POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"}) {
    RawClient client(port);
    client.say(part);
  }
  EXPECT_TRUE(eventually([&] { return server->counters().accepted == 4 && server->open_connections() == 0; }));
  EXPECT_EQ(server->counters().bodies_bytes, 0U);
}

TEST_F(HttpServerStall, ReaderThatDoesNotReadIsCut) {
  options.body_timeout = std::chrono::milliseconds(50);
  start();
  RawClient client(port);
  // Larger than what the socket buffers of both sides hold, and never read.
  client.say(post("/echo", std::string(15U << 20U, 'x')));
  EXPECT_TRUE(eventually([&] { return server->open_connections() == 0; }));
  EXPECT_EQ(server->counters().bodies_bytes, 0U);
}

// Resident memory of this process in KiB.
std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

TEST_F(HttpServerStall, IdleConnectionsAreSmall) {
  if (core::kSanitized) GTEST_SKIP() << "sanitizers have memory of their own";
  start();
  const std::string body(90'000, 'x');  // fills the read buffer
  const std::size_t before = resident_kib();
  std::vector<RawClient> clients;
  clients.reserve(400);
  for (int i = 0; i < 400; ++i) EXPECT_EQ(clients.emplace_back(port).ask(post("/size", body)).body, "90000");
  // Stacks and sockets stay, buffers are let go a second after the last request.
  EXPECT_TRUE(eventually([&] { return resident_kib() < before + std::size_t{400} * 48; })) << resident_kib() - before;
}

}  // namespace
}  // namespace berth::server
