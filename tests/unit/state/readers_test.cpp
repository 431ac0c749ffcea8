// Who reads which dataset where; places, images and occupants of nodes.
#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using model::AllNodes;
using model::AllPods;
using model::DatasetGone;
using model::DatasetSet;
using model::FluidServed;
using model::NodeGone;
using std::chrono::milliseconds;
using Readers = Cluster::Readers;

struct Fluid : Cluster {
  Fluid() {
    tell(AllNodes{{node("a"), node("b")}}, AllPods{}, FluidServed{true}, DatasetSet{dataset("data")},
         DatasetSet{dataset("other")});
  }
};

TEST(Readers, AreBoundPodsThatHaveNotEnded) {
  Fluid fluid;
  const auto p = reader("p", 1, "data,other");
  fluid.set_pods(p, bound(reader("q", 0, "data"), "a"));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 1}}));
  fluid.set_pods(bound(p, "a"));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 2}}));
  EXPECT_EQ(fluid.readers("other"), (Readers{{"a", 1}}));
  fluid.set_pods(ended(bound(p, "a")));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 1}}));
  EXPECT_EQ(fluid.readers("other"), Readers{});
  fluid.remove_pod(reader("q", 0, "data"));
  EXPECT_EQ(fluid.readers("data"), Readers{});
}

TEST(Readers, AreThoseExpectedToo) {
  Fluid fluid;
  const auto p = reader("p", 1, "data");
  fluid.set_pods(p, nominated(reader("q", 1, "data"), "b"));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"b", 1}}));
  fluid.post({"p-uid", "a", 1});
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 1}, {"b", 1}}));
  fluid.post({"p-uid", "b", 1});
  EXPECT_EQ(fluid.readers("data"), (Readers{{"b", 2}}));
  fluid.set_pods(bound(p, "a"));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 1}, {"b", 1}})) << "once, where it is bound";
}

TEST(Readers, WithoutGpusHaveEntriesToo) {
  Fluid fluid;
  fluid.set_pods(reader("p", 0, "data"), nominated(reader("q", 0, "data"), "b"), nominated(pod("cpu", 0), "b"));
  fluid.post({"p-uid", "a", 0});
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 1}, {"b", 1}}));
  ASSERT_EQ(fluid.snapshot()->ledger->size(), 2U);
  EXPECT_EQ(fluid.snapshot()->entry("p-uid")->gpus, 0);
  EXPECT_EQ(fluid.at("a").soft, 0);
  EXPECT_EQ(fluid.at("b").firm, 0);
  fluid.pass(milliseconds(30'000));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"b", 1}})) << "a promise ends by time";
}

TEST(Readers, MayBeAskedAboutBeforeTheyAreSeen) {
  Fluid fluid;
  fluid.post({.uid = "p-uid", .winner = "a", .reads_data = true});
  EXPECT_NE(fluid.snapshot()->entry("p-uid"), nullptr);
  fluid.set_pods(reader("p", 0, "data"));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 1}}));
}

TEST(Readers, ReadWhatStandsBehindTheirClaims) {
  Fluid fluid;
  const auto p = bound(mounting(mounting(pod("p", 0), "pvc"), "plain"), "a");
  fluid.set_pods(p, nominated(mounting(pod("q", 0), "pvc"), "b"));
  EXPECT_EQ(fluid.readers("data"), Readers{});
  EXPECT_TRUE(fluid.snapshot()->ledger->empty());
  fluid.tell(model::ClaimSet{{"ns", "pvc", {"ns", "data"}}});
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 1}, {"b", 1}}));
  EXPECT_EQ(fluid.snapshot()->ledger->size(), 1U);
  fluid.tell(model::ClaimSet{{"ns", "pvc", {"ns", "other"}}});
  EXPECT_EQ(fluid.readers("data"), Readers{});
  EXPECT_EQ(fluid.readers("other"), (Readers{{"a", 1}, {"b", 1}}));
  fluid.tell(model::AllClaims{});
  EXPECT_EQ(fluid.readers("other"), Readers{});
  EXPECT_TRUE(fluid.snapshot()->ledger->empty());
}

TEST(Readers, MayBeThereBeforeTheirDataset) {
  Fluid fluid;
  fluid.set_pods(bound(reader("p", 0, "late"), "a"));
  fluid.tell(DatasetSet{dataset("late")});
  EXPECT_EQ(fluid.readers("late"), (Readers{{"a", 1}}));
  fluid.tell(DatasetGone{{"ns", "late"}}, DatasetSet{dataset("next")});
  EXPECT_EQ(fluid.readers("next"), Readers{}) << "whose id it is now";
  fluid.tell(DatasetSet{dataset("late")});
  EXPECT_EQ(fluid.readers("late"), (Readers{{"a", 1}}));
}

TEST(Readers, ReadADatasetOnceWhateverItIsCalled) {
  Fluid fluid;
  fluid.tell(DatasetSet{referring("view", "data")}, model::ClaimSet{{"ns", "pvc", {"ns", "view"}}});
  fluid.set_pods(bound(mounting(reader("p", 0, "data,view"), "pvc"), "a"));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 1}}));
  EXPECT_EQ(fluid.readers("view"), (Readers{{"a", 1}}));
}

TEST(Readers, AreFoundAgainByANodeThatComesBack) {
  Fluid fluid;
  fluid.set_pods(bound(reader("p", 0, "data"), "a"), bound(reader("q", 0, "data"), "new"));
  fluid.tell(NodeGone{"a"});
  EXPECT_EQ(fluid.readers("data"), Readers{});
  fluid.set_nodes(node("new"));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"new", 1}}));
  fluid.set_nodes(node("a"));
  EXPECT_EQ(fluid.readers("data"), (Readers{{"a", 1}, {"new", 1}}));
}

TEST(Readers, OfLabelsCountWhereFluidIsNotServed) {
  Cluster cluster;
  cluster.set_pods(bound(reader("p", 0, "data"), "a"));
  cluster.set_nodes(node("a", 8, kH100, {"fluid.io/s-ns-data"}));
  EXPECT_EQ(cluster.readers("data"), (Readers{{"a", 1}}));
  cluster.set_nodes(node("a"));
  EXPECT_EQ(cluster.readers("data"), Readers{});
}

TEST(Readers, OnlyTouchedOnesAreNew) {
  Fluid fluid;
  fluid.set_pods(bound(reader("p", 0, "data"), "a"), bound(reader("q", 0, "other"), "a"));
  const auto before = fluid.snapshot();
  fluid.set_pods(bound(reader("r", 0, "data"), "b"));
  const auto now = fluid.snapshot();
  const auto id = [&](const char* name) { return now->dataset_id({"ns", name}); };
  EXPECT_NE(now->readers[id("data")], before->readers[id("data")]);
  EXPECT_EQ(now->readers[id("other")], before->readers[id("other")]);
  EXPECT_EQ(now->datasets[id("data")], before->datasets[id("data")]);
  EXPECT_EQ(before->readers[id("data")]->counts.size(), 1U) << "what was published never changes";
}

model::Node standing(std::string name, std::string zone, std::string rack) {
  model::Node made = node(std::move(name));
  made.zone = std::move(zone);
  made.rack = std::move(rack);
  return made;
}

TEST(Places, AreRacksOfZones) {
  Cluster cluster;
  cluster.set_nodes(standing("a", "z1", "r1"), standing("b", "z1", "r1"), standing("c", "z1", "r2"),
                    standing("d", "z2", "r1"), standing("e", "z1", ""), standing("f", "", "r1"), standing("g", "", ""));
  const auto place = [&](const char* name) { return (*cluster.snapshot()->places)[cluster.at(name).place]; };
  EXPECT_EQ(cluster.at("a").place, cluster.at("b").place);
  for (const char* other : {"c", "d", "e", "f", "g"}) EXPECT_NE(cluster.at("a").place, cluster.at(other).place);
  EXPECT_EQ(place("a").zone, place("c").zone);
  EXPECT_EQ(place("a").zone, place("e").zone);
  EXPECT_NE(place("a").zone, place("d").zone);
  EXPECT_EQ(place("f").zone, place("g").zone) << "nodes without a zone share one";
  EXPECT_TRUE(place("a").rack);
  EXPECT_FALSE(place("e").rack);
  EXPECT_TRUE(place("f").rack);
  EXPECT_FALSE(place("g").rack);
}

TEST(Places, AreGivenUpAndTakenAgain) {
  Cluster cluster;
  cluster.set_nodes(node("a"));
  EXPECT_EQ(cluster.snapshot()->places->size(), 1U);
  for (int i = 0; i < 10; ++i) cluster.set_nodes(standing("a", "z" + std::to_string(i), "r" + std::to_string(i)));
  EXPECT_LE(cluster.snapshot()->places->size(), 3U);
  const auto places = cluster.snapshot()->places;
  cluster.set_nodes(node("b"));
  EXPECT_EQ(cluster.snapshot()->places, places);
}

model::Node with_images(std::string name, std::vector<model::NodeImage> images) {
  model::Node made = node(std::move(name));
  made.images = std::move(images);
  return made;
}

TEST(Images, AreWhereTheNodesSay) {
  Cluster cluster;
  cluster.set_nodes(with_images("a", {{7, 100}, {8, 50}, {263, 1}}), with_images("b", {{7, 120}}));
  const auto first = cluster.snapshot();
  ASSERT_NE(first->images.find(7), nullptr);
  EXPECT_EQ(first->images.find(7)->bytes, 120);
  EXPECT_EQ(first->images.find(7)->holders, (std::vector<model::Slot>{0, 1}));
  EXPECT_EQ(first->images.find(263)->holders, (std::vector<model::Slot>{0})) << "of the same shard as 7";
  EXPECT_EQ(first->images.find(9), nullptr);

  cluster.set_nodes(with_images("b", {{9, 10}}));
  const auto second = cluster.snapshot();
  EXPECT_EQ(second->images.find(7)->bytes, 100);
  EXPECT_EQ(second->images.find(9)->holders, (std::vector<model::Slot>{1}));
  EXPECT_EQ(second->images.shards[8], first->images.shards[8]);
  EXPECT_EQ(second->images.find(263), first->images.find(263));

  cluster.tell(NodeGone{"a"}, model::NodeSet{node("c")});
  EXPECT_EQ(cluster.snapshot()->find("c"), 0U);
  EXPECT_EQ(cluster.snapshot()->images.find(7), nullptr);
  EXPECT_EQ(cluster.snapshot()->images.shards[8], nullptr);
}

TEST(Occupants, TellWhenGpusGetFree) {
  Cluster cluster;
  cluster.set_nodes(node("a"), node("b"));
  auto limited = bound(born(pod("p", 2), 100), "a");
  limited.deadline_seconds = 60;
  auto expected = bound(born(pod("q", 1), 100), "a");
  expected.annotations.push_back({"berth.io/expected-duration", "30s"});
  auto absurd = bound(born(pod("r", 4), 100), "a");
  absurd.deadline_seconds = INT64_MAX;
  cluster.set_pods(limited, expected, absurd);
  // GPUs and when they get free.
  using Ends = std::vector<std::pair<int, core::WallTime>>;
  const auto ends = [&] {
    Ends all;
    for (const auto& one : *cluster.at("a").occupants) all.emplace_back(one.gpus, one.ends);
    return all;
  };
  ASSERT_NE(cluster.at("a").occupants, nullptr);
  EXPECT_EQ(ends(), (Ends{{1, second(130)}, {2, second(160)}, {4, core::WallTime::max()}}));
  EXPECT_EQ(cluster.at("b").occupants, nullptr);
  limited.started = second(110);
  cluster.set_pods(limited, ended(expected), ended(absurd));
  EXPECT_EQ(ends(), (Ends{{2, second(170)}}));
  EXPECT_EQ(model::count(cluster.at("a").free), 6);
}

}  // namespace
}  // namespace berth::state
