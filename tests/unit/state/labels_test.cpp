// Node labels of datasets, claims, and when the snapshot is ready with them.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "unit/state/fluid.h"

namespace berth::state {
namespace {

using model::AllNodes;
using model::DatasetGone;
using model::DatasetSet;
using model::FluidServed;
using model::kNoDataset;
using std::chrono::milliseconds;

const char* const kData = "fluid.io/s-ns-data";
const char* const kClient = "fluid.io/f-ns-data";

TEST(Labels, WithoutAWorkerCountForAMinute) {
  Fluid fluid;
  fluid.set(dataset("data"));
  fluid.set_nodes(node("a", 8, kH100, {kData}), node("b", 8, kH100, {"fluid.io/s-alluxio-ns-data"}));
  EXPECT_EQ(fluid.told(), "a! 0.250 label, b! 0.250 label");
  const auto since = fluid.clock.wall();
  fluid.pass(milliseconds(59'999));
  EXPECT_EQ(fluid.told(), "a! 0.250 label, b! 0.250 label");
  EXPECT_EQ(fluid.holders("data").at("a").observed, since);
  fluid.pass(milliseconds(1));
  EXPECT_EQ(fluid.told(), "");
  fluid.set(with_cached(dataset("data"), 0.5));
  EXPECT_EQ(fluid.told(), "") << "a change elsewhere is no new beginning";
}

TEST(Labels, CountAgainFromWhenTheWorkerWentAway) {
  Fluid fluid;
  fluid.set(dataset("data"));
  fluid.set_nodes(node("a", 8, kH100, {kData}));
  fluid.set_pods(worker("data", 0, "a"));
  fluid.pass(milliseconds(300'000));
  EXPECT_EQ(fluid.told(), "a 0.500 assumed");
  fluid.remove_pod(worker("data", 0, "a"));
  EXPECT_EQ(fluid.told(), "a! 0.500 label");
  fluid.pass(milliseconds(60'000));
  EXPECT_EQ(fluid.told(), "");
}

TEST(Labels, TheThreadEndsThemByItself) {
  StateOptions options;
  options.coverage.label_grace = milliseconds(20);
  core::SystemClock clock;
  ClusterState state(options, clock);
  state.push(AllNodes{{node("a", 8, kH100, {kData})}});
  state.push(FluidServed{true});
  state.push(DatasetSet{dataset("data")});
  state.start();
  const auto deadline = clock.now() + std::chrono::seconds(30);
  const auto over = [&] {
    const auto snapshot = state.snapshots().load();
    const auto* const placement = snapshot->placement({"ns", "data"});
    return placement != nullptr && placement->holders.empty();
  };
  while (!over() && clock.now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(over());
  state.stop();
}

TEST(Labels, OfAClientAreAHint) {
  Fluid fluid;
  fluid.set(dataset("data"));
  fluid.set_nodes(node("a", 8, kH100, {kClient}));
  fluid.set_pods(fuse("data", "b"));
  EXPECT_EQ(fluid.told(), "a! 0.025 fuse, b! 0.025 fuse");
  fluid.pass(milliseconds(3'600'000));
  EXPECT_EQ(fluid.told(), "a! 0.025 fuse, b! 0.025 fuse");
}

TEST(Labels, OfLongNamesHaveTheUid) {
  Fluid fluid;
  const std::string name(60, 'x');
  auto object = dataset(name);
  object.uid = "1234";
  fluid.set(object);
  fluid.set_nodes(node("a", 8, kH100, {"fluid.io/s-1234"}), node("b", 8, kH100, {"fluid.io/s-alluxio-1234"}),
                  node("c", 8, kH100, {"fluid.io/f-1234"}));
  EXPECT_EQ(fluid.told(name), "a! 0.250 label, b! 0.250 label, c! 0.025 fuse");
}

TEST(Labels, ThatMayMeanTwoDatasetsAreReadForBoth) {
  Fluid fluid;
  auto other = dataset("c");
  other.ref = {"ns-b", "c"};
  fluid.tell(DatasetSet{dataset("b-c")}, DatasetSet{other});
  fluid.set_nodes(node("a", 8, kH100, {"fluid.io/s-ns-b-c"}));
  EXPECT_EQ(fluid.told("b-c"), "a! 0.500 label");
  EXPECT_EQ(fluid.snapshot()->placement({"ns-b", "c"})->holders.size(), 1U);
}

// fluid#553, #574: labels are left when a dataset is deleted.
TEST(Labels, OfADatasetThatIsGoneSayNothing) {
  Fluid fluid;
  fluid.set_nodes(node("a", 8, kH100, {kClient, kData}));
  EXPECT_TRUE(fluid.snapshot()->dataset_names->empty());
  fluid.set(dataset("data"));
  fluid.tell(DatasetGone{{"ns", "data"}});
  EXPECT_EQ(fluid.told(), "");
  EXPECT_EQ(fluid.snapshot()->dataset_id({"ns", "data"}), kNoDataset);
}

TEST(Labels, AreAllThatTellsWhereFluidIsNotServed) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, model::PodSet{worker("data", 0, "b")});
  fluid.set_nodes(node("a", 8, kH100, {kClient, kData}));
  EXPECT_EQ(fluid.told(), "a! 0.250 label, b 0.500 assumed");
  fluid.tell(FluidServed{false});
  EXPECT_EQ(fluid.told(), "a 1.000 label");
  EXPECT_TRUE(fluid.snapshot()->dataset_names->contains(kData));
  EXPECT_EQ(fluid.snapshot()->dataset_names->size(), 1U);
  EXPECT_EQ(fluid.snapshot()->placement({"ns", "data"})->ref.name, "");
  fluid.pass(milliseconds(3'600'000));
  EXPECT_EQ(fluid.told(), "a 1.000 label");
  fluid.tell(FluidServed{true});
  EXPECT_EQ(fluid.told(), "a! 0.250 label, b 0.500 assumed") << "the minute begins anew";
  EXPECT_FALSE(fluid.snapshot()->dataset_names->contains(kData));
}

TEST(Claims, AreThoseWithADataset) {
  Fluid fluid;
  fluid.tell(model::ClaimSet{{"ns", "pvc", {"ns", "data"}}}, model::ClaimSet{{"ns", "plain", {}}});
  ASSERT_EQ(fluid.snapshot()->claims->size(), 1U);
  EXPECT_EQ(fluid.snapshot()->claims->at("ns/pvc").to_string(), "ns/data");
  const auto before = fluid.snapshot()->claims;
  fluid.tell(model::ClaimSet{{"ns", "pvc", {"ns", "data"}}});
  EXPECT_EQ(fluid.snapshot()->claims, before);
  fluid.tell(model::AllClaims{{{"ns", "other", {"ns", "data"}}}});
  EXPECT_EQ(fluid.snapshot()->claims->size(), 1U);
  EXPECT_TRUE(fluid.snapshot()->claims->contains("ns/other"));
  fluid.tell(model::ClaimSet{{"ns", "other", {}}});
  EXPECT_TRUE(fluid.snapshot()->claims->empty());
}

TEST(Ready, NotBeforeDatasetsAndClaimsIfTheyAreAwaited) {
  StateOptions options;
  options.await_data = true;
  Fluid fluid(options);
  EXPECT_FALSE(fluid.snapshot()->ready);
  EXPECT_EQ(fluid.snapshot()->not_ready_why, "waiting for the first list of datasets and claims");
  fluid.tell(model::DataListed{});
  EXPECT_TRUE(fluid.snapshot()->ready);
}

}  // namespace
}  // namespace berth::state
