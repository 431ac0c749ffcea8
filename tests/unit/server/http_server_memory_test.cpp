// Memory that runs out: the request is refused and the connection ends. What was sent as its body must never be read as
// a request.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "unit/server/http_server_fixture.h"

namespace berth::server {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Allocations of this size and more fail, on every thread but the test's.
std::atomic<std::size_t> fails_from{kNever};
thread_local bool is_test_thread = false;

void* allocate(std::size_t bytes) {
  if (!is_test_thread && bytes >= fails_from.load()) throw std::bad_alloc();
  void* got = std::malloc(bytes == 0 ? 1 : bytes);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}

class HttpServerMemory : public HttpServerTest {
 protected:
  HttpServerMemory() { is_test_thread = true; }
  ~HttpServerMemory() override {
    fails_from = kNever;
    server.reset();
    is_test_thread = false;
  }

  // A body that is itself a row of requests.
  static std::string smuggled(std::size_t bytes) {
    std::string body;
    while (body.size() < bytes) body += post("/after", "x");
    return body;
  }
};

TEST_F(HttpServerMemory, AnnouncedBytesTakeNone) {
  options.max_body_bytes = std::size_t{1} << 62U;
  options.body_timeout = std::chrono::milliseconds(50);
  start();
  RawClient client(port);
  client.say("POST /echo HTTP/1.1\r\nContent-Length: 4611686018427387904\r\n\r\n" + smuggled(1000));
  EXPECT_EQ(client.answer().status, 408);
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(afters.load(), 0);
}

TEST_F(HttpServerMemory, BodyThatFindsNoneIs503AndEndsTheConnection) {
  start();
  const std::string body = smuggled(3U << 20U);
  char size[32];
  std::snprintf(size, sizeof size, "%zx", body.size());
  for (const std::string& request : {post("/echo", body), "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                                              std::string(size) + "\r\n" + body + "\r\n0\r\n\r\n"}) {
    fails_from = std::size_t{1} << 20U;
    RawClient client(port);
    const RawAnswer answer = client.ask(request);
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.body, R"({"error":"out of memory, try again"})");
    EXPECT_TRUE(answer.has("\r\nConnection: close\r\n")) << answer.head;
    EXPECT_FALSE(answer.has("EXCEPTION_WHAT")) << answer.head;
    EXPECT_TRUE(client.ended());
    fails_from = kNever;
    EXPECT_EQ(RawClient(port).ask(post("/echo", body)).body, body);
  }
  EXPECT_EQ(afters.load(), 0);
  EXPECT_EQ(failures(HttpFailure::kMemory), 2U);
  EXPECT_TRUE(eventually([&] { return server->counters().bodies_bytes == 0; }));
}

// Whatever allocation fails first: never a second answer, and all is well afterwards.
TEST_F(HttpServerMemory, AnyAllocationMayFailOnAnOpenConnection) {
  start();
  const std::string body = smuggled(300U << 10U);
  for (std::size_t from = 1; from <= std::size_t{1} << 20U; from *= 2) {
    RawClient client(port);
    ASSERT_EQ(client.ask(post("/size", "x")).body, "1");
    fails_from = from;
    client.say(post("/size", body));
    const RawAnswer answer = client.answer();
    fails_from = kNever;
    EXPECT_FALSE(answer.has("EXCEPTION_WHAT")) << answer.head;
    client.end_sending();
    EXPECT_EQ(client.answer().status, 0) << "allocations from " << from << " bytes on fail";
    EXPECT_EQ(RawClient(port).ask(post("/size", body)).body, std::to_string(body.size())) << from;
  }
  EXPECT_EQ(afters.load(), 0);
  EXPECT_TRUE(eventually([&] { return server->counters().bodies_bytes == 0; }));
}

// The thread that accepts meets it too.
TEST_F(HttpServerMemory, AnyAllocationMayFailForANewConnection) {
  options.max_connections = 4;
  start();
  for (std::size_t from = 1; from <= 4096; from *= 2) {
    const std::uint64_t accepted = server->counters().accepted;
    fails_from = from;
    std::vector<RawClient> clients;
    for (int i = 0; i < 6; ++i) clients.emplace_back(port).say(post("/size", "x"));
    EXPECT_TRUE(eventually([&] { return server->counters().accepted == accepted + 6; }));
    for (RawClient& client : clients) {
      client.end_sending();
      while (client.answer().status != 0) {
      }
    }
    fails_from = kNever;
    ASSERT_TRUE(eventually([&] { return server->open_connections() == 0; })) << from;
    ASSERT_EQ(RawClient(port).ask(post("/size", "x")).body, "1") << from;
    ASSERT_TRUE(eventually([&] { return server->open_connections() == 0; })) << from;
  }
  EXPECT_GT(failures(HttpFailure::kMemory), 0U);
}

}  // namespace
}  // namespace berth::server

// Not inlined: GCC would see malloc behind new, or free behind delete, and call the pair mismatched.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return berth::server::allocate(bytes); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return berth::server::allocate(bytes); }
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return berth::server::allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& nothrow) noexcept {
  return operator new(bytes, nothrow);
}
[[gnu::noinline]] void operator delete(void* given) noexcept { std::free(given); }
[[gnu::noinline]] void operator delete[](void* given) noexcept { std::free(given); }
[[gnu::noinline]] void operator delete(void* given, std::size_t) noexcept { std::free(given); }
[[gnu::noinline]] void operator delete[](void* given, std::size_t) noexcept { std::free(given); }
