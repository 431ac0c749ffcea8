// Datasets from their objects, pods, labels and measurements to the placements of the snapshot.
#include <gtest/gtest.h>

#include "unit/state/fluid.h"

namespace berth::state {
namespace {

using model::AllDatasets;
using model::AllNodes;
using model::AllPods;
using model::DatasetGone;
using model::DatasetSet;
using model::FluidServed;
using model::kNoDataset;
using model::NodeGone;
using std::chrono::milliseconds;

TEST(Datasets, ExistOnceTheirObjectDoes) {
  Fluid fluid;
  EXPECT_EQ(fluid.snapshot()->dataset_id({"ns", "data"}), kNoDataset);
  fluid.set(dataset("data"));
  const auto* const placement = fluid.snapshot()->placement({"ns", "data"});
  ASSERT_NE(placement, nullptr);
  EXPECT_EQ(placement->ref.to_string(), "ns/data");
  EXPECT_EQ(placement->phase, "Bound");
  EXPECT_EQ(placement->runtime, "alluxio");
  EXPECT_EQ(placement->total_bytes, 100 * kGib);
  EXPECT_TRUE(placement->holders.empty());
  fluid.tell(DatasetGone{{"ns", "data"}});
  EXPECT_EQ(fluid.snapshot()->dataset_id({"ns", "data"}), kNoDataset);
  EXPECT_TRUE(fluid.snapshot()->dataset_names->empty());
}

TEST(Datasets, HaveHoldersWhereReadyWorkersAre) {
  Fluid fluid;
  fluid.set(dataset("data"));
  fluid.set_pods(worker("data", 0, "a"), worker("data", 1, "b"), worker("other", 0, "c"));
  EXPECT_EQ(fluid.told(), "a 0.250 assumed, b 0.250 assumed");
  EXPECT_EQ(fluid.snapshot()->placement({"ns", "data"})->ready_workers, 2);
  auto sick = worker("data", 1, "b");
  sick.cache->ready = false;
  fluid.set_pods(sick);
  EXPECT_EQ(fluid.told(), "a 0.500 assumed, b! 0.125 assumed") << "half of what a second worker would have";
  sick.deleting = true;
  fluid.set_pods(sick);
  EXPECT_EQ(fluid.told(), "a 0.500 assumed");
  fluid.remove_pod(worker("data", 0, "a"));
  EXPECT_EQ(fluid.told(), "");
}

TEST(Datasets, WorkersMayBeThereBeforeTheObjectAndTheNode) {
  Fluid fluid;
  fluid.set_pods(worker("data", 0, "a"), worker("data", 1, "new"));
  EXPECT_TRUE(fluid.snapshot()->dataset_names->empty());
  fluid.set(dataset("data"));
  EXPECT_EQ(fluid.told(), "a 0.250 assumed");
  fluid.set_nodes(node("new"));
  EXPECT_EQ(fluid.told(), "a 0.250 assumed, new 0.250 assumed");
  fluid.tell(NodeGone{"a"});
  EXPECT_EQ(fluid.told(), "new 0.250 assumed");
  fluid.set_nodes(node("z"));
  EXPECT_EQ(fluid.told(), "new 0.250 assumed") << "its slot was another's";
}

TEST(Datasets, CountOnlyWhileBound) {
  Fluid fluid;
  fluid.set_pods(worker("data", 0, "a"));
  auto failed = dataset("data");
  failed.phase = "Failed";
  fluid.set(failed);
  EXPECT_EQ(fluid.told(), "");
  EXPECT_NE(fluid.snapshot()->dataset_id({"ns", "data"}), kNoDataset);
  fluid.set(dataset("data"));
  EXPECT_EQ(fluid.told(), "a 0.500 assumed");
}

TEST(Datasets, NotInACompleteListAreGone) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, DatasetSet{dataset("other")}, model::PodSet{worker("data", 0, "a")});
  const auto id = fluid.snapshot()->dataset_id({"ns", "data"});
  fluid.tell(AllDatasets{{dataset("data"), dataset("third")}});
  EXPECT_EQ(fluid.snapshot()->dataset_names->size(), 2U);
  EXPECT_EQ(fluid.snapshot()->dataset_id({"ns", "data"}), id);
  EXPECT_EQ(fluid.told(), "a 0.500 assumed");
}

TEST(Datasets, KeepTheirIdAndFreeItWhenTheyGo) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, DatasetSet{dataset("other")});
  const auto id = fluid.snapshot()->dataset_id({"ns", "data"});
  fluid.tell(DatasetGone{{"ns", "data"}});
  EXPECT_EQ(fluid.snapshot()->datasets[id], nullptr);
  fluid.set(dataset("third"));
  EXPECT_EQ(fluid.snapshot()->dataset_id({"ns", "third"}), id);
  EXPECT_EQ(fluid.snapshot()->readers.size(), fluid.snapshot()->datasets.size());
}

TEST(Datasets, OnlyChangedPlacementsAndNamesAreNew) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, DatasetSet{dataset("other")}, model::PodSet{worker("data", 0, "a")});
  const auto before = fluid.snapshot();
  fluid.set_pods(worker("other", 0, "a"));
  const auto after = fluid.snapshot();
  EXPECT_EQ(after->placement({"ns", "data"}), before->placement({"ns", "data"}));
  EXPECT_NE(after->placement({"ns", "other"}), before->placement({"ns", "other"}));
  EXPECT_EQ(after->dataset_names, before->dataset_names);
  EXPECT_EQ(after->claims, before->claims);
  EXPECT_EQ(after->places, before->places);
}

TEST(Datasets, SpreadWhatTheirStatusSaysOverThoseWhoWereThere) {
  Fluid fluid;
  fluid.tell(DatasetSet{with_cached(dataset("data"), 0.8)}, model::PodSet{worker("data", 0, "a")});
  EXPECT_EQ(fluid.told(), "a 0.000 new-worker") << "it came after the figure";
  fluid.set(with_cached(dataset("data"), 0.9));
  EXPECT_EQ(fluid.told(), "a 0.900 uniform");
  fluid.set_pods(worker("data", 1, "b"));
  EXPECT_EQ(fluid.told(), "a 0.900 uniform, b 0.000 new-worker");
  fluid.set(with_cached(dataset("data"), 0.92));
  EXPECT_EQ(fluid.told(), "a 0.460 uniform, b 0.460 uniform");
}

TEST(Datasets, AnotherRuntimeIsNotMeasuredByTheMasterOfTheLast) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, model::PodSet{worker("data", 0, "a")});
  fluid.measured({{"ip-of-a", 25 * kGib}}, second(100));
  EXPECT_EQ(fluid.told(), "a 0.250 measured");
  auto next = dataset("data");
  next.runtime = "jindo";
  auto its_worker = worker("data", 0, "b");
  its_worker.uid = "another";
  fluid.tell(model::PodSet{its_worker}, DatasetSet{next});
  EXPECT_EQ(fluid.told(), "b 0.500 assumed") << "nobody will ever measure it";
}

TEST(Datasets, OfAClientWithACacheOfItsOwnAreReadByNoOtherNode) {
  Fluid fluid;
  fluid.set(dataset("data"));
  fluid.set_pods(fuse("data", "a"));
  EXPECT_FALSE(fluid.snapshot()->placement({"ns", "data"})->own_caches);
  auto community = fuse("data", "b");
  community.cache->own_cache = true;
  fluid.set_pods(community);
  EXPECT_TRUE(fluid.snapshot()->placement({"ns", "data"})->own_caches);
  EXPECT_EQ(fluid.told(), "a! 0.025 fuse, b 0.500 assumed");
  fluid.remove_pod(community);
  EXPECT_FALSE(fluid.snapshot()->placement({"ns", "data"})->own_caches);
}

TEST(Datasets, AWorkerThatWasReadyBeforeStaysOldWhenItFalters) {
  Fluid fluid;
  fluid.tell(model::PodSet{worker("data", 0, "a")}, DatasetSet{with_cached(dataset("data"), 0.8)});
  auto sick = worker("data", 0, "a");
  sick.cache->ready = false;
  fluid.set_pods(sick);
  EXPECT_EQ(fluid.told(), "a! 0.400 uniform");
  fluid.set_pods(worker("data", 0, "a"));
  EXPECT_EQ(fluid.told(), "a 0.800 uniform");
}

TEST(Datasets, WorkersOfTheFirstListAreOldWhateverCameFirst) {
  Cluster cluster;
  cluster.tell(FluidServed{true}, AllDatasets{{with_cached(dataset("data"), 0.8)}}, AllNodes{{node("a")}},
               AllPods{{worker("data", 0, "a")}});
  EXPECT_FLOAT_EQ(cluster.holders("data").at("a").coverage, 0.8F);
}

TEST(Datasets, NoWorkerHasMoreThanItsQuota) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, model::PodSet{worker("data", 0, "a")},
             model::RuntimeSet{{{"ns", "data"}, "alluxio", 1, 20 * kGib}});
  EXPECT_EQ(fluid.told(), "a 0.200 assumed");
  fluid.tell(model::AllRuntimes{"juicefs", {}});
  EXPECT_EQ(fluid.told(), "a 0.200 assumed");
  fluid.tell(model::AllRuntimes{"alluxio", {}});
  EXPECT_EQ(fluid.told(), "a 0.500 assumed");
  fluid.tell(model::AllRuntimes{"alluxio", {{{"ns", "data"}, "alluxio", 1, 30 * kGib}}});
  EXPECT_EQ(fluid.told(), "a 0.300 assumed");
  fluid.tell(model::RuntimeGone{{"ns", "data"}, "alluxio"});
  EXPECT_EQ(fluid.told(), "a 0.500 assumed");
}

TEST(Datasets, AreLoadingWhileALoadRuns) {
  Fluid fluid;
  const auto loading = [&] { return fluid.snapshot()->placement({"ns", "data"})->loading; };
  fluid.set(dataset("data"));
  fluid.tell(model::DataLoadSet{{"ns", "warm", {"ns", "data"}, true}},
             model::DataLoadSet{{"ns", "again", {"ns", "data"}, false}});
  EXPECT_TRUE(loading());
  fluid.tell(model::DataLoadSet{{"ns", "again", {"ns", "data"}, true}});
  fluid.tell(model::DataLoadSet{{"ns", "warm", {"ns", "data"}, false}});
  EXPECT_TRUE(loading());
  fluid.tell(model::DataLoadGone{"ns", "again"});
  EXPECT_FALSE(loading());
  fluid.tell(model::AllDataLoads{{{"ns", "warm", {"ns", "data"}, true}}});
  EXPECT_TRUE(loading());
  fluid.tell(model::AllDataLoads{});
  EXPECT_FALSE(loading());
}

TEST(References, AreThePhysicalDataset) {
  Fluid fluid;
  fluid.tell(DatasetSet{referring("view", "data")}, model::PodSet{worker("data", 0, "a")});
  ASSERT_NE(fluid.snapshot()->dataset_id({"ns", "view"}), kNoDataset) << "known, and nowhere";
  EXPECT_EQ(fluid.told("view"), "");
  fluid.set(dataset("data"));
  EXPECT_EQ(fluid.told("view"), "a 0.500 assumed");
  EXPECT_EQ(fluid.snapshot()->dataset_id({"ns", "view"}), fluid.snapshot()->dataset_id({"ns", "data"}));
  EXPECT_EQ(fluid.snapshot()->placement({"ns", "view"})->ref.name, "data");
  fluid.tell(DatasetGone{{"ns", "data"}});
  EXPECT_NE(fluid.snapshot()->dataset_id({"ns", "view"}), kNoDataset);
  EXPECT_EQ(fluid.told("view"), "");
  fluid.tell(DatasetGone{{"ns", "view"}});
  EXPECT_EQ(fluid.snapshot()->dataset_id({"ns", "view"}), kNoDataset);
}

TEST(References, ToReferencesAndToThemselvesLeadNowhere) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, DatasetSet{referring("view", "data")}, DatasetSet{referring("far", "view")},
             DatasetSet{referring("self", "self")}, model::PodSet{worker("data", 0, "a")});
  EXPECT_EQ(fluid.told("view"), "a 0.500 assumed");
  for (const char* name : {"far", "self"}) {
    EXPECT_EQ(fluid.told(name), "");
    EXPECT_NE(fluid.snapshot()->dataset_id({"ns", name}), kNoDataset);
  }
  fluid.set(dataset("view"));  // now one of its own
  EXPECT_EQ(fluid.snapshot()->dataset_id({"ns", "far"}), fluid.snapshot()->dataset_id({"ns", "view"}));
}

TEST(Measurements, AreMatchedByHostThenPodThenName) {
  Fluid fluid;
  auto by_pod = worker("data", 1, "b");
  by_pod.cache->pod_ip = "10.2.0.7";
  fluid.tell(DatasetSet{dataset("data")}, model::PodSet{worker("data", 0, "a")}, model::PodSet{by_pod},
             model::PodSet{worker("data", 2, "c")});
  fluid.measured(
      {{"ip-of-a", 10 * kGib}, {"10.2.0.7", 20 * kGib}, {"c", 30 * kGib}, {"somewhere", 40 * kGib}, {"", 1}});
  EXPECT_EQ(fluid.told(), "a 0.100 measured, b 0.200 measured, c 0.300 measured");
  EXPECT_EQ(fluid.holders("data").at("a").observed, fluid.clock.wall());
  EXPECT_EQ(fluid.holders("data").at("a").bytes, 10 * kGib);
}

TEST(Measurements, OfTwoWorkersOfANodeAddUp) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, model::PodSet{worker("data", 0, "a")}, model::PodSet{worker("data", 1, "a")});
  fluid.measured({{"ip-of-a", 10 * kGib}, {"ip-of-a", 20 * kGib}, {"ip-of-a", 5 * kGib}});
  EXPECT_EQ(fluid.told(), "a 0.350 measured");
}

TEST(Measurements, DoNotPassToAReplacedWorker) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, model::PodSet{worker("data", 0, "a")}, model::PodSet{worker("data", 1, "b")});
  fluid.measured({{"ip-of-a", 10 * kGib}, {"ip-of-b", 20 * kGib}});
  auto young = worker("data", 0, "a");
  young.uid = "young";
  young.cache->started = fluid.clock.wall() + milliseconds(5'000);
  fluid.set_pods(young);
  EXPECT_EQ(fluid.told(), "a 0.000 new-worker, b 0.200 measured");
  fluid.measured({{"ip-of-a", 10 * kGib}, {"ip-of-b", 20 * kGib}});
  EXPECT_EQ(fluid.told(), "a 0.000 new-worker, b 0.200 measured") << "asked before the new pod began";
  fluid.clock.advance(milliseconds(20'000));
  fluid.measured({{"ip-of-a", 1 * kGib}, {"ip-of-b", 20 * kGib}});
  EXPECT_EQ(fluid.told(), "a 0.010 measured, b 0.200 measured");
}

TEST(Measurements, LeaveOutWhoLostHisCache) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, model::PodSet{worker("data", 0, "a")}, model::PodSet{worker("data", 1, "b")});
  fluid.measured({{"ip-of-a", 10 * kGib}, {"ip-of-b", 20 * kGib}});
  fluid.measured({{"ip-of-a", 10 * kGib}});
  EXPECT_EQ(fluid.told(), "a 0.100 measured, b 0.000 new-worker");
}

TEST(Measurements, OfADeadMasterStayWithTheirAge) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, model::PodSet{worker("data", 0, "a")});
  const auto then = fluid.clock.wall();
  fluid.measured({{"ip-of-a", 10 * kGib}});
  fluid.pass(milliseconds(3'600'000));
  fluid.measured({{"ip-of-a", 90 * kGib}}, then - milliseconds(1));  // comes late, and is older
  EXPECT_EQ(fluid.told(), "a 0.100 measured");
  EXPECT_EQ(fluid.holders("data").at("a").observed, then);
}

TEST(Measurements, AreForgottenWithTheDataset) {
  Fluid fluid;
  fluid.tell(DatasetSet{dataset("data")}, model::PodSet{worker("data", 0, "a")});
  fluid.measured({{"ip-of-a", 10 * kGib}});
  auto again = dataset("data");
  again.uid = "another";
  fluid.set(again);
  EXPECT_EQ(fluid.told(), "a 0.500 assumed");
  fluid.tell(DatasetGone{{"ns", "data"}});
  fluid.measured({{"ip-of-a", 10 * kGib}});
  fluid.set(again);
  EXPECT_EQ(fluid.told(), "a 0.500 assumed");
}

TEST(Masters, AreAskedWhereTheyListen) {
  Fluid fluid;
  const auto master = [&](const std::string& name, const std::string& ip) {
    auto made = worker("data", 0, "a");
    made.name = name;
    made.uid = name + "-uid";
    made.cache->role = model::CacheRole::kMaster;
    made.cache->pod_ip = ip;
    made.cache->web_port = 19999;
    return made;
  };
  const auto told = [&] { return fluid.snapshot()->placement({"ns", "data"})->master; };
  fluid.set(dataset("data"));
  EXPECT_EQ(told(), "");
  fluid.set_pods(master("data-master-2", "10.0.0.2"), master("data-master-1", "fd00::1"));
  EXPECT_EQ(told(), "[fd00::1]:19999");
  auto first = master("data-master-0", "10.0.0.3");
  fluid.set_pods(first, master("a-master", "10.0.0.9"));
  EXPECT_EQ(told(), "10.0.0.3:19999");
  first.cache->ready = false;
  fluid.set_pods(first);
  EXPECT_EQ(told(), "10.0.0.9:19999") << "the lowest name";
  EXPECT_EQ(fluid.told(), "") << "a master holds nothing";
}

}  // namespace
}  // namespace berth::state
