// Fluid's objects and claims: what is watched when, and when DataListed comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "berth/sources/api_source.h"
#include "support/fake_api_server.h"
#include "support/gate.h"
#include "support/update_recorder.h"

namespace berth::sources {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::FakeApiServer;
using testing::kClaimsPath;
using testing::kDatasetsPath;
using testing::kFluidPath;
using testing::kPodsPath;

const std::string kLoadsPath = kFluidPath + "/dataloads";
const std::string kAlluxioPath = kFluidPath + "/alluxioruntimes";
const std::string kJuicePath = kFluidPath + "/juicefsruntimes";

json named(const std::string& ns, const std::string& name) {
  return {{"metadata", {{"name", name}, {"namespace", ns}, {"uid", "uid-" + name}}}};
}
// As Fluid makes it (pkg/utils/dataset/volume/create.go, 1.0.8).
json claim(const std::string& ns, const std::string& name) {
  json object = named(ns, name);
  object["metadata"]["labels"] = {{"fluid.io/s-" + ns + "-" + name, "true"}};
  return object;
}
json load_of(const std::string& ns, const std::string& name, const std::string& dataset) {
  json object = named(ns, name);
  object["spec"] = {{"dataset", {{"name", dataset}, {"namespace", ns}}}};
  return object;
}

class FluidWatchesTest : public ::testing::Test {
 protected:
  ~FluidWatchesTest() override { looks_.open(); }

  void start(milliseconds data_wait = std::chrono::hours(1)) {
    ApiSourceOptions options;
    options.data_wait = data_wait;
    options.reflector.wait = [](milliseconds) {};
    options.wait = [this](milliseconds) { looks_.wait(); };
    auto client = kube::ApiClient::create({.server = server_.url()}, clock_);
    ASSERT_TRUE(client);
    source_ = std::make_unique<ApiSource>(std::move(*client), sink_, options, clock_);
    ASSERT_TRUE(source_->start());
  }
  bool told(const std::string& what) {
    const auto all = sink_.told();
    return std::find(all.begin(), all.end(), what) != all.end();
  }
  std::size_t position(const std::string& what) {
    const auto all = sink_.told();
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), what) - all.begin());
  }
  // Looks again until this is told; false after 30 s.
  bool look_until(const std::string& what) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!told(what) && std::chrono::steady_clock::now() < end) {
      if (!looks_.step()) return false;
    }
    return told(what);
  }
  bool wait_connected() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!source_->connected() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return source_->connected();
  }
  // What is told of a failure may come after what it led to.
  bool wait_why(const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (source_->why_not_ready().find(text) == std::string::npos && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    return source_->why_not_ready().find(text) != std::string::npos;
  }
  // They are counted once the sink has them.
  bool wait_lists(const std::string& resource, std::uint64_t lists) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (counters(resource).lists < lists && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return counters(resource).lists == lists;
  }
  SourceCounters counters(const std::string& resource) {
    for (const SourceCounters& one : source_->counters()) {
      if (one.resource == resource) return one;
    }
    return {};
  }

  core::ManualClock clock_;
  FakeApiServer server_;
  testing::UpdateRecorder sink_;
  testing::Gate looks_;
  std::unique_ptr<ApiSource> source_;
};

TEST_F(FluidWatchesTest, ClusterWithoutFluidIsReadyAndSaysSoOnce) {
  start();
  ASSERT_TRUE(sink_.wait_told("data listed"));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(looks_.step());
  const auto all = sink_.told();
  EXPECT_EQ(std::count(all.begin(), all.end(), "no fluid"), 1);
  EXPECT_EQ(server_.requests(kFluidPath, false), 4U);
  EXPECT_EQ(server_.requests(kDatasetsPath, false), 0U);
  EXPECT_TRUE(wait_connected());
  EXPECT_EQ(source_->why_not_ready(), "");
  EXPECT_EQ(counters("data.fluid.io").failures, 0U) << "404 is an answer";
}

TEST_F(FluidWatchesTest, WatchesTheKindsThatAreServedAndNoOthers) {
  server_.serve_fluid({"datasets", "dataloads", "alluxioruntimes", "databackups"});
  server_.put(kDatasetsPath, named("ns", "d"));
  server_.put(kLoadsPath, load_of("ns", "warm", "d"));
  server_.put(kAlluxioPath, named("ns", "d"));
  start();
  ASSERT_TRUE(sink_.wait_told("data listed"));
  ASSERT_TRUE(sink_.wait_told("all loads 1"));
  ASSERT_TRUE(sink_.wait_told("all alluxio runtimes 1"));
  EXPECT_LT(position("fluid served"), position("all datasets 1"));
  EXPECT_LT(position("all datasets 1"), position("data listed"));
  EXPECT_EQ(server_.requests(kJuicePath, false), 0U);
  EXPECT_EQ(server_.requests(kFluidPath + "/databackups", false), 0U);
}

TEST_F(FluidWatchesTest, EachKindsChangesArePushedOneByOne) {
  server_.serve_fluid({"datasets", "dataloads", "juicefsruntimes"});
  start();
  for (const std::string& path : {kClaimsPath, kDatasetsPath, kLoadsPath, kJuicePath}) {
    ASSERT_TRUE(server_.wait_for_requests(path, true, 1));
  }
  server_.put(kClaimsPath, claim("ns", "d"));
  server_.put(kDatasetsPath, named("ns", "d"));
  server_.put(kLoadsPath, load_of("ns", "warm", "d"));
  server_.put(kJuicePath, named("ns", "d"));
  for (const char* what : {"claim ns/d of ns/d", "dataset ns/d", "load ns/warm", "juicefs runtime ns/d"}) {
    EXPECT_TRUE(sink_.wait_told(what)) << what;
  }
  server_.remove(kClaimsPath, "ns/d");
  server_.remove(kDatasetsPath, "ns/d");
  server_.remove(kLoadsPath, "ns/warm");
  server_.remove(kJuicePath, "ns/d");
  for (const char* what : {"claim ns/d gone", "dataset ns/d gone", "load ns/warm gone", "juicefs runtime ns/d gone"}) {
    EXPECT_TRUE(sink_.wait_told(what)) << what;
  }
}

TEST_F(FluidWatchesTest, WhatIsInstalledLaterIsPickedUp) {
  start();
  ASSERT_TRUE(sink_.wait_told("no fluid"));
  server_.serve_fluid({"datasets"});
  server_.put(kDatasetsPath, named("ns", "d"));
  ASSERT_TRUE(looks_.step());
  EXPECT_TRUE(sink_.wait_told("fluid served"));
  EXPECT_TRUE(sink_.wait_told("all datasets 1"));
  server_.serve_fluid({"datasets", "juicefsruntimes"});
  ASSERT_TRUE(looks_.step());
  EXPECT_TRUE(sink_.wait_told("all juicefs runtimes 0"));
  EXPECT_EQ(server_.requests(kDatasetsPath, false), 1U) << "the first watch stays";
}

TEST_F(FluidWatchesTest, WhatIsRemovedIsEmptiedAndAskedForNoMore) {
  server_.serve_fluid({"datasets", "alluxioruntimes"});
  server_.put(kDatasetsPath, named("ns", "d"));
  server_.put(kAlluxioPath, named("ns", "d"));
  start();
  ASSERT_TRUE(sink_.wait_told("all datasets 1"));
  ASSERT_TRUE(sink_.wait_told("all alluxio runtimes 1"));
  server_.serve_fluid({});
  ASSERT_TRUE(look_until("no fluid"));
  ASSERT_TRUE(look_until("all alluxio runtimes 0"));
  EXPECT_LT(position("all datasets 0"), position("no fluid"));
  // A request that was under way may reach the server late, so it is the source that is asked.
  const SourceCounters before = counters("datasets");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(looks_.step());
  EXPECT_EQ(counters("datasets").watches, before.watches);
  EXPECT_EQ(counters("datasets").failures, before.failures);
  EXPECT_TRUE(wait_connected()) << source_->why_not_ready();
  EXPECT_EQ(counters("datasets").lists, 1U) << "counts of watches that ended stay";
}

TEST_F(FluidWatchesTest, OneKindRemovedLeavesTheOthers) {
  server_.serve_fluid({"datasets", "alluxioruntimes"});
  server_.put(kAlluxioPath, named("ns", "d"));
  start();
  ASSERT_TRUE(sink_.wait_told("all datasets 0"));
  ASSERT_TRUE(sink_.wait_told("all alluxio runtimes 1"));
  server_.serve_fluid({"datasets"});
  ASSERT_TRUE(look_until("all alluxio runtimes 0"));
  server_.put(kDatasetsPath, named("ns", "d"));
  EXPECT_TRUE(sink_.wait_told("dataset ns/d"));
  EXPECT_FALSE(told("no fluid"));
}

TEST_F(FluidWatchesTest, RemovedAndInstalledAgain) {
  server_.serve_fluid({"datasets"});
  start();
  ASSERT_TRUE(sink_.wait_told("all datasets 0"));
  ASSERT_TRUE(server_.wait_for_requests(kDatasetsPath, true, 1));
  server_.serve_fluid({});
  ASSERT_TRUE(look_until("no fluid"));
  server_.serve_fluid({"datasets"});
  server_.put(kDatasetsPath, named("ns", "d"));
  ASSERT_TRUE(looks_.step());
  EXPECT_TRUE(sink_.wait_told("fluid served", 2));
  EXPECT_TRUE(sink_.wait_told("all datasets 1"));
  EXPECT_TRUE(wait_lists("datasets", 2));
}

// As an API server does that has just started.
TEST_F(FluidWatchesTest, KindThatIsNotListedWhileItsWatchLivesStays) {
  server_.serve_fluid({"datasets"});
  server_.put(kDatasetsPath, named("ns", "d"));
  start();
  ASSERT_TRUE(sink_.wait_told("all datasets 1"));
  ASSERT_TRUE(server_.wait_for_requests(kDatasetsPath, true, 1));
  server_.fail_next(kFluidPath, {.status = 404}, false);
  ASSERT_TRUE(looks_.step());
  EXPECT_FALSE(told("all datasets 0"));
  EXPECT_FALSE(told("no fluid"));
  EXPECT_EQ(server_.requests(kDatasetsPath, false), 1U);
}

TEST_F(FluidWatchesTest, ForbiddenKindIsShownAndBlocksNoOther) {
  server_.serve_fluid({"datasets", "dataloads"});
  server_.fail_always(kLoadsPath, testing::ApiFault{.status = 403});
  start();
  ASSERT_TRUE(sink_.wait_told("data listed"));
  ASSERT_TRUE(server_.wait_for_requests(kLoadsPath, false, 3));
  EXPECT_TRUE(wait_why("dataloads: not listed yet"));
  EXPECT_FALSE(source_->connected());
  EXPECT_TRUE(wait_why("403"));
  EXPECT_GE(counters("dataloads").failures, 2U);
  server_.fail_always(kLoadsPath, std::nullopt);
  EXPECT_TRUE(sink_.wait_told("all loads 0"));
  EXPECT_TRUE(wait_connected());
}

TEST_F(FluidWatchesTest, ForbiddenDatasetsLeaveItToTheLabels) {
  server_.serve_fluid({"datasets"});
  server_.fail_always(kDatasetsPath, testing::ApiFault{.status = 403});
  start(milliseconds(1));
  ASSERT_TRUE(sink_.wait_told("data listed"));
  EXPECT_FALSE(told("fluid served"));
  EXPECT_TRUE(wait_why("datasets: not listed yet"));
  server_.fail_always(kDatasetsPath, std::nullopt);
  EXPECT_TRUE(sink_.wait_told("fluid served"));
  EXPECT_TRUE(sink_.wait_told("all datasets 0"));
}

TEST_F(FluidWatchesTest, ForbiddenClaimsDelayReadinessNoLongerThanTheWait) {
  server_.fail_always(kClaimsPath, testing::ApiFault{.status = 403});
  start(milliseconds(1));
  ASSERT_TRUE(sink_.wait_told("data listed"));
  EXPECT_LT(position("all nodes 0"), position("data listed"));
  EXPECT_LT(position("all pods 0"), position("data listed"));
  EXPECT_TRUE(wait_why("persistentvolumeclaims: not listed yet"));
  EXPECT_FALSE(source_->connected());
}

TEST_F(FluidWatchesTest, ClaimsAreAwaited) {
  server_.fail_always(kClaimsPath, testing::ApiFault{.status = 503});
  start();
  ASSERT_TRUE(sink_.wait_told("all nodes 0"));
  ASSERT_TRUE(sink_.wait_told("all pods 0"));
  ASSERT_TRUE(sink_.wait_told("no fluid"));
  ASSERT_TRUE(server_.wait_for_requests(kClaimsPath, false, 3));
  EXPECT_FALSE(told("data listed"));
  EXPECT_FALSE(source_->synced());
  server_.fail_always(kClaimsPath, std::nullopt);
  EXPECT_TRUE(sink_.wait_told("data listed"));
  EXPECT_LT(position("all claims 0"), position("data listed"));
}

TEST_F(FluidWatchesTest, DatasetsAreAwaitedWhereTheyAreServed) {
  server_.serve_fluid({"datasets"});
  server_.fail_always(kDatasetsPath, testing::ApiFault{.status = 503});
  start();
  ASSERT_TRUE(sink_.wait_told("all claims 0"));
  ASSERT_TRUE(server_.wait_for_requests(kDatasetsPath, false, 3));
  EXPECT_FALSE(told("data listed"));
  server_.fail_always(kDatasetsPath, std::nullopt);
  EXPECT_TRUE(sink_.wait_told("data listed"));
}

TEST_F(FluidWatchesTest, NodesAndPodsAreAwaitedHoweverLong) {
  server_.fail_always(kPodsPath, testing::ApiFault{.status = 503});
  server_.fail_always(kClaimsPath, testing::ApiFault{.status = 403});
  start(milliseconds(1));
  ASSERT_TRUE(sink_.wait_told("no fluid"));
  ASSERT_TRUE(server_.wait_for_requests(kPodsPath, false, 3));
  EXPECT_FALSE(told("data listed"));
  server_.fail_always(kPodsPath, std::nullopt);
  EXPECT_TRUE(sink_.wait_told("data listed"));
}

TEST_F(FluidWatchesTest, GroupThatCannotBeAskedIsNoClusterWithoutFluid) {
  server_.serve_fluid({"datasets"});
  server_.fail_next(kFluidPath, {.status = 503}, false);
  server_.fail_next(kFluidPath, {.status = 200, .body = "<html>Sign in</html>"}, false);
  start();
  ASSERT_TRUE(sink_.wait_told("all claims 0"));
  ASSERT_TRUE(looks_.step());
  EXPECT_FALSE(told("no fluid"));
  EXPECT_FALSE(told("data listed"));
  EXPECT_TRUE(wait_why("data.fluid.io: not listed yet"));
  EXPECT_EQ(counters("data.fluid.io").failures, 2U);
  ASSERT_TRUE(looks_.step());
  EXPECT_TRUE(sink_.wait_told("data listed"));
  EXPECT_EQ(counters("data.fluid.io").lists, 1U);
}

TEST_F(FluidWatchesTest, WatchThatEndsIsResumedWithoutALoss) {
  server_.serve_fluid({"datasets"});
  start();
  ASSERT_TRUE(server_.wait_for_requests(kDatasetsPath, true, 1));
  server_.end_watches(kDatasetsPath);
  server_.put(kDatasetsPath, named("ns", "d"));
  EXPECT_TRUE(sink_.wait_told("dataset ns/d"));
  EXPECT_EQ(server_.requests(kDatasetsPath, false), 1U);
}

TEST_F(FluidWatchesTest, PodsComeAndGoWithoutARequestForDatasets) {
  server_.serve_fluid({"datasets"});
  start();
  for (const std::string& path : {kPodsPath, kClaimsPath, kDatasetsPath}) {
    ASSERT_TRUE(server_.wait_for_requests(path, true, 1));
  }
  for (int i = 0; i < 500; ++i) {
    server_.put(kPodsPath, testing::make_pod("ns", "p" + std::to_string(i)));
  }
  ASSERT_TRUE(sink_.wait([](const auto&, const auto& pods) { return pods.size() == 500; }));
  for (const std::string& path : {kClaimsPath, kDatasetsPath}) {
    EXPECT_EQ(server_.requests(path, false), 1U) << path;
    EXPECT_EQ(server_.requests(path, true), 1U) << path;
  }
  EXPECT_EQ(server_.requests(kFluidPath, false), 1U);
}

TEST_F(FluidWatchesTest, StopsAtOnceWhateverIsAsked) {
  server_.serve_fluid({"datasets"});
  server_.fail_always(kFluidPath, testing::ApiFault{.silent = true});
  server_.fail_always(kClaimsPath, testing::ApiFault{.silent = true});
  start();
  ASSERT_TRUE(server_.wait_for_requests(kFluidPath, false, 1));
  ASSERT_TRUE(server_.wait_for_requests(kClaimsPath, false, 1));
  looks_.open();
  source_->stop();
  EXPECT_FALSE(told("data listed"));
}

}  // namespace
}  // namespace berth::sources
