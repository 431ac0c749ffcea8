// A reflector of nodes on a fake API server, with waits that take no time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "berth/kube/reflector.h"
#include "support/fake_api_server.h"

namespace berth::kube {

// Keeps the GPUs of every node, and what it was told, in order.
class NodeRecorder final : public ReflectorTarget {
 public:
  void begin_list() override { pages_.clear(); }

  core::Result<PageInfo> take_page(std::string& body) override {
    auto page = reader_.read_list<model::Node>(body);
    if (!page) return tl::unexpected(page.error());
    for (auto& node : page->items) pages_.push_back(std::move(node));
    return PageInfo{page->resource_version, page->continue_token, page->broken, page->first_broken_why};
  }

  void finish_list() override {
    const std::lock_guard lock(mutex_);
    nodes_.clear();
    for (const auto& node : pages_) nodes_[node.name] = node.gpus;
    told_.push_back("list " + std::to_string(nodes_.size()));
    changed_.notify_all();
  }

  core::Result<EventInfo> take_event(std::string& line) override {
    auto event = reader_.read_event<model::Node>(line);
    if (!event) return tl::unexpected(event.error());
    const std::lock_guard lock(mutex_);
    using enum codec::WatchEventType;
    if (event->type == kAdded || event->type == kModified) {
      nodes_[event->object.name] = event->object.gpus;
      told_.push_back("set " + event->object.name);
    } else if (event->type == kDeleted) {
      nodes_.erase(event->object.name);
      told_.push_back("gone " + event->object.name);
    } else if (event->type == kBookmark) {
      told_.emplace_back("bookmark");
    }
    changed_.notify_all();
    return EventInfo{event->type, event->resource_version, event->status_code, event->message, {}};
  }

  // Waits until the nodes are these; false after 30 s.
  bool wait_for(const std::map<std::string, std::int64_t>& nodes) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return nodes_ == nodes; });
  }
  bool wait_told(const std::string& what, std::ptrdiff_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return std::count(told_.begin(), told_.end(), what) >= times; });
  }
  std::vector<std::string> told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  codec::ObjectReader reader_{model::ResourceNames{}};
  std::vector<model::Node> pages_;  // of the reflector's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::int64_t> nodes_;
  std::vector<std::string> told_;
};

// Waits that take no time and are written down.
class Waits {
 public:
  void operator()(std::chrono::milliseconds time) {
    const std::lock_guard lock(mutex_);
    times_.push_back(time.count());
    changed_.notify_all();
  }
  std::vector<std::int64_t> first(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return times_.size() >= count; });
    return {times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(std::min(count, times_.size()))};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> times_;
};

class ReflectorTest : public ::testing::Test {
 protected:
  ReflectorTest() { connect({.server = server_.url(), .tls = {}}); }
  ~ReflectorTest() override {
    // Most tests wait for no time; an outage at the end must not turn into a busy loop.
    reflector_.reset();
  }

  void connect(ServerAccess access) { client_ = std::move(*ApiClient::create(std::move(access), clock_)); }

  void start(ReflectorOptions options = {}) {
    options.name = "nodes";
    options.path = testing::kNodesPath;
    options.random = [] { return 0.0; };
    if (!options.wait) options.wait = [this](std::chrono::milliseconds time) { waits_(time); };
    reflector_ = std::make_unique<Reflector>(*client_, target_, options, clock_);
    reflector_->start();
  }
  bool watching(std::size_t count = 1) { return server_.wait_for_requests(testing::kNodesPath, true, count); }
  std::vector<testing::ApiRequest> requests(bool watch) {
    std::vector<testing::ApiRequest> out;
    for (auto& request : server_.requests()) {
      if (request.watch() == watch) out.push_back(std::move(request));
    }
    return out;
  }

  core::ManualClock clock_;
  testing::FakeApiServer server_;
  NodeRecorder target_;
  Waits waits_;
  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<Reflector> reflector_;
};

}  // namespace berth::kube
