// Kinds that an API server may serve or not: several groups, several versions of one.
#include "../src/sources/group_watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../src/sources/object_kinds.h"
#include "../src/sources/object_target.h"
#include "support/fake_api_server.h"
#include "support/gate.h"
#include "support/update_recorder.h"

namespace berth::sources {
namespace {

using std::chrono::milliseconds;
using testing::FakeApiServer;

// Versions that Fluid does not have stand for a further group: its kinds are those that tests can read.
const std::string kFluid = testing::kFluidPath;
const std::string kNewPath = "/apis/data.fluid.io/v3";
const std::string kOldPath = "/apis/data.fluid.io/v2";

nlohmann::json load(const std::string& name) {
  return {{"apiVersion", "data.fluid.io/v1alpha1"},
          {"metadata", {{"name", name}, {"namespace", "ns"}}},
          {"spec", {{"dataset", {{"name", "d"}, {"namespace", "ns"}}}}}};
}

class GroupWatchesTest : public ::testing::Test {
 protected:
  ~GroupWatchesTest() override { looks_.open(); }

  template <class Kind>
  std::unique_ptr<kube::ReflectorTarget> target_of(Kind kind) {
    return std::make_unique<ObjectTarget<Kind>>(kind, resources_, sink_);
  }
  template <class Kind>
  ServedKind row(const std::string& resource, Kind kind) {
    return {resource, [this, kind] { return target_of(kind); }, [kind]() mutable { return kind.all({}); }};
  }
  // One group with datasets, one with loads in two versions.
  void start() {
    ApiSourceOptions options;
    options.reflector.wait = [](milliseconds) {};
    options.wait = [this](milliseconds) { looks_.wait(); };
    std::vector<ServedGroup> groups(2);
    groups[0] = {.name = "data.fluid.io", .versions = {"v1alpha1"}, .kinds = {row("datasets", DatasetKind{})}};
    groups[1] = {.name = "data.fluid.io", .versions = {"v3", "v2"}, .kinds = {row("dataloads", DataLoadKind{})}};
    groups[1].absent = [this] { ++absent_; };
    auto client = kube::ApiClient::create({.server = server_.url()}, clock_);
    ASSERT_TRUE(client);
    client_ = std::move(*client);
    watches_ = std::make_unique<GroupWatches>(*client_, sink_, std::move(groups), options, clock_);
    watches_->start();
  }
  WatchStatus status(const std::string& resource) {
    std::vector<WatchStatus> all;
    watches_->add_status(all);
    const auto found = std::ranges::find(all, resource, [](const WatchStatus& one) { return one.counters.resource; });
    return found == all.end() ? WatchStatus{} : *found;
  }
  bool wait_status(const std::string& resource, bool connected) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (status(resource).counters.connected != connected && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    return status(resource).counters.connected == connected;
  }

  const model::ResourceNames resources_;
  core::ManualClock clock_;
  FakeApiServer server_;
  testing::UpdateRecorder sink_;
  testing::Gate looks_;
  std::atomic<int> absent_ = 0;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<GroupWatches> watches_;
};

TEST_F(GroupWatchesTest, GroupThatCannotBeAskedBlocksNoOther) {
  server_.serve(kNewPath, {"dataloads"});
  server_.serve(kFluid, {"datasets"});
  server_.fail_always(kFluid, testing::ApiFault{.status = 403});
  start();
  EXPECT_TRUE(sink_.wait_told("all loads 0"));
  EXPECT_TRUE(wait_status("data.fluid.io", false));
  EXPECT_NE(status("data.fluid.io").last_error.find("403"), std::string::npos);
  server_.fail_always(kFluid, std::nullopt);
  ASSERT_TRUE(looks_.step());
  EXPECT_TRUE(sink_.wait_told("all datasets 0"));
}

TEST_F(GroupWatchesTest, TheFirstVersionThatServesAKindIsRead) {
  server_.serve(kNewPath, {"dataloads"});
  server_.serve(kOldPath, {"dataloads"});
  server_.put(kNewPath + "/dataloads", load("new"));
  server_.put(kNewPath + "/dataloads", load("newer"));
  server_.put(kOldPath + "/dataloads", load("old"));
  start();
  ASSERT_TRUE(sink_.wait_told("all loads 2"));
  EXPECT_EQ(server_.requests(kOldPath, false), 0U) << "not asked for where the first serves all";
  EXPECT_EQ(server_.requests(kOldPath + "/dataloads", false), 0U);
}

TEST_F(GroupWatchesTest, AnOlderVersionServesWhereTheNewOneIsMissing) {
  server_.serve(kOldPath, {"dataloads"});
  start();
  EXPECT_TRUE(sink_.wait_told("all loads 0"));
  EXPECT_EQ(absent_, 0);
}

TEST_F(GroupWatchesTest, VersionThatReplacesAnotherIsReadWithoutAGap) {
  server_.serve(kOldPath, {"dataloads"});
  server_.put(kOldPath + "/dataloads", load("one"));
  start();
  ASSERT_TRUE(sink_.wait_told("all loads 1"));
  server_.serve(kNewPath, {"dataloads"});
  server_.put(kNewPath + "/dataloads", load("one"));
  server_.put(kNewPath + "/dataloads", load("two"));
  server_.serve(kOldPath, {});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (server_.requests(kNewPath + "/dataloads", false) == 0 && std::chrono::steady_clock::now() < end) {
    ASSERT_TRUE(looks_.step());
  }
  EXPECT_TRUE(sink_.wait_told("all loads 2"));
  EXPECT_THAT(sink_.told(), ::testing::Not(::testing::Contains("all loads 0")));
  EXPECT_EQ(absent_, 0);
}

// scheduler-plugins#967: objects of a kind whose definition came after the scheduler were never seen.
TEST_F(GroupWatchesTest, WhatIsInstalledLaterIsSeenChangedAndDeleted) {
  start();
  const auto looked = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (absent_ == 0 && std::chrono::steady_clock::now() < looked) std::this_thread::yield();
  server_.serve(kNewPath, {"dataloads"});
  ASSERT_TRUE(looks_.step());
  ASSERT_TRUE(sink_.wait_told("all loads 0"));
  server_.put(kNewPath + "/dataloads", load("warm"));
  EXPECT_TRUE(sink_.wait_told("load ns/warm"));
  server_.put(kNewPath + "/dataloads", load("warm"));
  EXPECT_TRUE(sink_.wait_told("load ns/warm", 2));
  server_.remove(kNewPath + "/dataloads", "ns/warm");
  EXPECT_TRUE(sink_.wait_told("load ns/warm gone"));
}

TEST_F(GroupWatchesTest, AbsenceIsToldOnce) {
  start();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(looks_.step());
  EXPECT_EQ(absent_, 1);
  EXPECT_TRUE(wait_status("data.fluid.io", true)) << "404 is an answer";
}

}  // namespace
}  // namespace berth::sources
