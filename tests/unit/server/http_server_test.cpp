// What kube-scheduler's client and curl need of the server.
#include <httplib.h>

#include <thread>
#include <vector>

#include "unit/server/http_server_fixture.h"

namespace berth::server {
namespace {

using HttpServerAnswer = HttpServerTest;
using HttpServerConnections = HttpServerTest;

TEST_F(HttpServerAnswer, HasLengthAndTypeThatIsNeverCompressed) {
  start();
  RawClient client(port);
  const std::string body(10'000, 'x');
  const RawAnswer answer = client.ask(post("/echo", body, "Accept-Encoding: gzip, br\r\n"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, body);
  EXPECT_TRUE(answer.has("\r\nContent-Length: 10000\r\n")) << answer.head;
  EXPECT_TRUE(answer.has("\r\nContent-Type: application/json; charset=utf-8\r\n")) << answer.head;
  EXPECT_FALSE(answer.has("Content-Encoding")) << answer.head;
  EXPECT_FALSE(answer.has("Connection")) << answer.head;
}

TEST_F(HttpServerAnswer, HasLengthWithoutBodyToo) {
  start();
  EXPECT_TRUE(RawClient(port).ask("GET /empty HTTP/1.1\r\n\r\n").has("\r\nContent-Length: 0\r\n"));
}

TEST_F(HttpServerAnswer, TakesEveryContentType) {
  start();
  RawClient client(port);
  // What curl -d says, and the one that cpp-httplib would take apart.
  EXPECT_EQ(client.ask(post("/echo", "{\"a\":1}", "Content-Type: application/x-www-form-urlencoded\r\n")).body,
            "{\"a\":1}");
  EXPECT_EQ(client.ask(post("/echo", "{}", "Content-Type: multipart/form-data; boundary=x\r\n")).body, "{}");
  EXPECT_EQ(client.ask(post("/echo", "{}", "Content-Type: multipart/form-data\r\n")).body, "{}");
  EXPECT_EQ(client.ask(post("/echo", "{}")).body, "{}");
}

TEST_F(HttpServerAnswer, IsWholeEvenWhenARangeIsAskedFor) {
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask(post("/echo", "0123456789", "Range: bytes=2-3\r\n")).body, "0123456789");
  EXPECT_EQ(client.ask("GET /ok HTTP/1.1\r\nRange: bytes=" + std::string(5'000, '1') + "-\r\n\r\n").body, "ok");
}

TEST_F(HttpServerAnswer, UnknownPathAndWrongMethodSayWhatIsRight) {
  start();
  RawClient client(port);
  const RawAnswer unknown = client.ask(post("/nothing", "{}"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body, R"({"error":"no such path"})");
  const RawAnswer wrong = client.ask("GET /echo HTTP/1.1\r\n\r\n");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_TRUE(wrong.has("\r\nAllow: POST\r\n")) << wrong.head;
  EXPECT_EQ(wrong.body, R"({"error":"method not allowed, use POST"})");
  const RawAnswer put = client.ask("PUT /ok HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(put.status, 405);
  EXPECT_TRUE(put.has("\r\nAllow: GET, HEAD\r\n")) << put.head;
  // The connection is still in step.
  EXPECT_EQ(client.ask("GET /ok HTTP/1.1\r\n\r\n").body, "ok");
  EXPECT_EQ(failures(HttpFailure::kNotFound), 1U);
  EXPECT_EQ(failures(HttpFailure::kMethod), 2U);
}

TEST_F(HttpServerAnswer, GivesPathPrefixAndQueryDecoded) {
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask("GET /query?a=1&pod=team%2Fjob HTTP/1.1\r\n\r\n").body, "team/job");
  EXPECT_EQ(client.ask("GET /query HTTP/1.1\r\n\r\n").body, "");
  EXPECT_EQ(client.ask("GET /query?pod=a?b HTTP/1.1\r\n\r\n").body, "a?b");
  EXPECT_EQ(client.ask("GET /nodes/gpu-1 HTTP/1.1\r\n\r\n").body, "/nodes/gpu-1");
  EXPECT_EQ(client.ask("GET http://proxy.example/ok HTTP/1.1\r\n\r\n").body, "ok");
}

TEST_F(HttpServerAnswer, HeadHasTheLengthAndNoBody) {
  start();
  RawClient client(port);
  client.say("HEAD /ok HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(client.answer(true).has("\r\nContent-Length: 2\r\n"));
  EXPECT_EQ(client.ask("GET /ok HTTP/1.1\r\n\r\n").body, "ok");
}

TEST_F(HttpServerAnswer, HandlerThatThrowsIs500AndTheConnectionGoesOn) {
  start();
  RawClient client(port);
  const RawAnswer answer = client.ask(post("/throw", "{}"));
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, R"({"error":"internal error"})");
  EXPECT_EQ(client.ask(post("/echo", "{}")).status, 200);
  EXPECT_EQ(failures(HttpFailure::kHandler), 1U);
}

TEST_F(HttpServerAnswer, WorkAfterItRunsBeforeTheNextRequest) {
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask(post("/after", "{}")).body, "first");
  EXPECT_EQ(client.ask(post("/echo", "second")).body, "second");
  EXPECT_EQ(afters.load(), 1);
}

TEST_F(HttpServerConnections, FiftySequentialRequestsUseOne) {
  start();
  httplib::Client client("127.0.0.1", port);
  client.set_keep_alive(true);
  const std::string body(200'000, 'n');
  for (int i = 0; i < 50; ++i) {
    const auto answer = client.Post("/size", body, "application/json");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "200000");
  }
  EXPECT_EQ(server->counters().accepted, 1U);
}

TEST_F(HttpServerConnections, SixHundredAtOnceAreAllAnsweredAndAgainAfterwards) {
  start();
  std::vector<RawClient> clients;
  clients.reserve(600);
  for (int i = 0; i < 600; ++i) clients.emplace_back(port);
  for (int round = 0; round < 2; ++round) {
    for (auto& client : clients) client.say(post("/size", "four"));
    for (auto& client : clients) EXPECT_EQ(client.answer().body, "4");
  }
  EXPECT_EQ(server->open_connections(), 600U);
  EXPECT_EQ(server->counters().accepted, 600U);
  clients.clear();
  EXPECT_TRUE(eventually([&] { return server->open_connections() == 0; }));
}

TEST_F(HttpServerConnections, BeyondTheLimitAre503UntilOneLeaves) {
  options.max_connections = 2;
  start();
  std::vector<RawClient> held;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(held.emplace_back(port).ask(post("/echo", "x")).body, "x");
  RawClient third(port);
  const RawAnswer answer = third.ask(post("/echo", "x"));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, R"({"error":"too many connections"})");
  EXPECT_TRUE(answer.has("\r\nConnection: close\r\n"));
  EXPECT_TRUE(third.ended());
  EXPECT_EQ(failures(HttpFailure::kConnectionsFull), 1U);
  held.pop_back();
  EXPECT_TRUE(eventually([&] { return server->open_connections() == 1; }));
  EXPECT_EQ(RawClient(port).ask(post("/echo", "y")).body, "y");
}

TEST_F(HttpServerConnections, AnswersWhatWasSentAhead) {
  start();
  RawClient client(port);
  std::string ahead;
  for (int i = 0; i < 20; ++i) ahead += post("/echo", std::to_string(i)) + "\r\n";
  client.say(ahead + "GET /ok HTTP/1.1\r\n\r\n");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.answer().body, std::to_string(i));
  EXPECT_EQ(client.answer().body, "ok");
}

TEST_F(HttpServerConnections, EndWhenTheClientAsks) {
  start();
  RawClient client(port);
  const RawAnswer answer = client.ask("GET /ok HTTP/1.1\r\nConnection: Keep-Alive, Close\r\n\r\n");
  EXPECT_EQ(answer.body, "ok");
  EXPECT_TRUE(answer.has("\r\nConnection: close\r\n"));
  EXPECT_TRUE(client.ended());
}

TEST_F(HttpServerConnections, OfHttp10EndUnlessKept) {
  start();
  RawClient once(port);
  EXPECT_EQ(once.ask("GET /ok HTTP/1.0\r\n\r\n").body, "ok");
  EXPECT_TRUE(once.ended());
  RawClient kept(port);
  EXPECT_TRUE(kept.ask("GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").has("\r\nConnection: keep-alive\r\n"));
  EXPECT_EQ(kept.ask("GET /ok HTTP/1.0\r\n\r\n").body, "ok");
}

TEST_F(HttpServerConnections, IdleOnesEndAfterKeepAlive) {
  options.keep_alive = std::chrono::milliseconds(50);
  start();
  RawClient client(port);
  EXPECT_EQ(client.ask("GET /ok HTTP/1.1\r\n\r\n").body, "ok");
  EXPECT_TRUE(client.ended());
}

TEST_F(HttpServerConnections, PortInUseIsAnErrorThatNamesIt) {
  start();
  HttpServerOptions same;
  same.address = "127.0.0.1:" + std::to_string(port);
  HttpServer second(same);
  const auto started = second.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, core::ErrorCode::kUnavailable);
  EXPECT_EQ(started.error().to_string(), same.address + ": can't listen: Address already in use; choose another port");
}

TEST_F(HttpServerConnections, AddressMustBeHostAndPort) {
  for (const char* address :
       {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "::1:80", "[]:1", "a b:1"}) {
    HttpServerOptions bad;
    bad.address = address;
    HttpServer refused(bad);
    const auto started = refused.start();
    ASSERT_FALSE(started) << address;
    EXPECT_EQ(started.error().code, core::ErrorCode::kInvalid) << address;
  }
}

TEST_F(HttpServerConnections, DrainAnswersWhatIsInFlightAndEndsWhatIsIdle) {
  start();
  RawClient idle(port);
  EXPECT_EQ(idle.ask("GET /ok HTTP/1.1\r\n\r\n").body, "ok");
  RawClient busy(port);
  busy.say(post("/wait", "{}"));
  ASSERT_TRUE(gate.wait_for(1));

  std::thread draining([this] { server->drain(std::chrono::seconds(30)); });
  EXPECT_TRUE(idle.ended());
  EXPECT_EQ(server->open_connections(), 1U);
  gate.open();
  const RawAnswer answer = busy.answer();
  EXPECT_EQ(answer.body, "waited");
  EXPECT_TRUE(answer.has("\r\nConnection: close\r\n")) << answer.head;
  EXPECT_TRUE(busy.ended());
  draining.join();
  EXPECT_EQ(server->open_connections(), 0U);
  EXPECT_FALSE(RawClient(port).connected());
}

TEST_F(HttpServerConnections, DrainCutsAtItsDeadlineWhateverAClientIsDoing) {
  options.body_timeout = std::chrono::hours(1);
  options.keep_alive = std::chrono::hours(1);
  options.max_body_bytes = 20U << 20U;
  start();
  const std::string large(19U << 20U, 'x');
  std::vector<RawClient> clients;
  for (const std::string& part : {std::string(), std::string("GET /ok HT"), post("/echo", large),
                                  std::string("POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"),
                                  std::string("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na"),
                                  std::string("POST /none HTTP/1.1\r\nContent-Length: 5000000\r\n\r\nab"),
                                  std::string("PUT /ok HTTP/1.1\r\nContent-Length: 5\r\n\r\n")}) {
    clients.emplace_back(port).say(part);
  }
  RawClient busy(port);
  busy.say(post("/wait", "{}"));
  ASSERT_TRUE(gate.wait_for(1));
  server->drain(std::chrono::milliseconds(1));
  EXPECT_TRUE(eventually([&] { return server->open_connections() == 1; })) << server->open_connections();
  gate.open();
  EXPECT_TRUE(busy.ended());
  EXPECT_TRUE(eventually([&] { return server->open_connections() == 0; }));
}

}  // namespace
}  // namespace berth::server
