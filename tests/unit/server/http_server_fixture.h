// A server on a free port with handlers that show what reached them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "berth/server/http_server.h"
#include "unit/server/http_raw_client.h"

namespace berth::server {

// Holds handlers until it is opened, and tells how many wait.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(30), [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool wait_for(int waiting) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return waiting_ >= waiting; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

class HttpServerTest : public testing::Test {
 protected:
  HttpServerOptions options;

  // /echo answers the body, /size its length, /wait waits for the gate, /throw throws, /query one parameter.
  void start() {
    server = std::make_unique<HttpServer>(options);
    server->post("/echo", [](HttpRequest& request) {
      EXPECT_GE(request.body.capacity(), request.body.size() + 64);
      return HttpResponse{.body = std::move(request.body)};
    });
    server->post("/size",
                 [](HttpRequest& request) { return HttpResponse{.body = std::to_string(request.body.size())}; });
    server->post("/wait", [this](HttpRequest&) {
      gate.pass();
      return HttpResponse{.body = "waited"};
    });
    server->post("/throw", [](HttpRequest&) -> HttpResponse { throw std::runtime_error("as the test wants"); });
    server->post("/after", [this](HttpRequest&) {
      return HttpResponse{.body = "first", .after = [this] { afters.fetch_add(1); }};
    });
    server->get("/ok", [](HttpRequest&) { return HttpResponse{.body = "ok"}; });
    server->get("/empty", [](HttpRequest&) { return HttpResponse{}; });
    server->get("/query", [](HttpRequest& request) { return HttpResponse{.body = request.query("pod")}; });
    server->get_prefix("/nodes/", [](HttpRequest& request) { return HttpResponse{.body = std::string(request.path)}; });
    const auto started = server->start();
    ASSERT_TRUE(started) << started.error().to_string();
    port = *started;
  }

  [[nodiscard]] std::uint64_t failures(HttpFailure failure) const {
    return server->counters().failures[static_cast<std::size_t>(failure)];
  }
  // Waits until `condition` holds, 30 s at most.
  template <class F>
  static bool eventually(F condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::yield();
    }
    return true;
  }

  Gate gate;
  std::atomic<int> afters{0};
  std::unique_ptr<HttpServer> server;
  std::uint16_t port = 0;
};

}  // namespace berth::server
