// What the tests of the HTTP client share.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "berth/net/http_client.h"

namespace berth::net {

inline std::unique_ptr<HttpClient> client_of(const std::string& url, TlsOptions tls = {}) {
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

}  // namespace berth::net
