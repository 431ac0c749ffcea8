#include "berth/policy/recommend.h"
#include "unit/policy/policy_fixture.h"

namespace berth::policy {
namespace {

using model::CoverageSource;
using model::Occupant;
using model::StartUnknown;
using namespace std::chrono_literals;

constexpr core::WallTime kWarmedAt{100h};
constexpr core::WallTime kNever = core::WallTime::max();

// A snapshot that can be changed by hand.
class Cluster {
 public:
  explicit Cluster(const SnapshotBuilder& builder) : snapshot_(*builder.build()) {}

  // Pods on the node `slot`, whose GPUs the builder has taken.
  Cluster& occupants(model::Slot slot, std::vector<Occupant> pods) {
    auto block = std::make_shared<model::NodeBlock>(*snapshot_.blocks[0]);
    (*block)[slot].occupants = std::make_shared<const std::vector<Occupant>>(std::move(pods));
    snapshot_.blocks[0] = block;
    return *this;
  }
  template <class Change>
  Cluster& dataset(Change change) {
    auto placement = std::make_shared<model::DatasetPlacement>(*snapshot_.datasets.at(0));
    change(*placement);
    snapshot_.datasets[0] = placement;
    return *this;
  }
  [[nodiscard]] model::WarmAdvice advise(const model::PodRequest& pod, std::size_t nodes = 10,
                                         const char* dataset = "imagenet") const {
    return advise_warming({snapshot_, pod, nodes, std::nullopt, kWarmedAt}, {"team", dataset});
  }

 private:
  model::Snapshot snapshot_;
};

Occupant holds(std::int32_t gpus, core::WallTime ends) { return {.gpus = gpus, .ends = ends}; }

// "free:0", "busy:3600", "dark:?"
std::vector<std::string> starts(const model::WarmAdvice& advice) {
  std::vector<std::string> text;
  for (const auto& node : advice.nodes) {
    text.push_back(node.node + ":" + (node.starts_in ? std::to_string(node.starts_in->count()) : "?"));
  }
  return text;
}

TEST(AdviseWarming, FreeNodesThenThoseThatStateTheirEndThenTheOthers) {
  SnapshotBuilder builder;
  builder.node("dark", 8, 8).node("late", 8, 8).node("soon", 8, 8).node("free").holds("team", "imagenet");
  Cluster cluster(builder);
  cluster.occupants(0, {holds(8, kNever)})
      .occupants(1, {holds(8, kWarmedAt + 2h)})
      .occupants(2, {holds(8, kWarmedAt + 90min)});
  const auto advice = cluster.advise(request(8));
  EXPECT_THAT(starts(advice), ElementsAre("free:0", "soon:5400", "late:7200", "dark:?"));
  EXPECT_EQ(advice.nodes[3].unknown, StartUnknown::kNobodySays);
  EXPECT_EQ(advice.node_count, 4U);
}

TEST(AdviseWarming, GpusAddUpInTheOrderInWhichTheyAreFreed) {
  SnapshotBuilder builder;
  builder.node("a", 8, 7).holds("team", "imagenet");
  Cluster cluster(builder);
  cluster.occupants(0, {holds(2, kWarmedAt + 3h), holds(1, kWarmedAt + 1h), holds(4, kWarmedAt + 2h)});
  EXPECT_THAT(starts(cluster.advise(request(1))), ElementsAre("a:0"));
  EXPECT_THAT(starts(cluster.advise(request(2))), ElementsAre("a:3600"));
  EXPECT_THAT(starts(cluster.advise(request(6))), ElementsAre("a:7200"));
  EXPECT_THAT(starts(cluster.advise(request(8))), ElementsAre("a:10800"));
}

TEST(AdviseWarming, AFractionOfASecondIsASecond) {
  SnapshotBuilder builder;
  builder.node("a", 8, 8).holds("team", "imagenet");
  Cluster cluster(builder);
  cluster.occupants(0, {holds(8, kWarmedAt + 1500ms)});
  EXPECT_THAT(starts(cluster.advise(request(8))), ElementsAre("a:2"));
}

TEST(AdviseWarming, OneThatStatesNoEndKeepsItsGpusForEver) {
  SnapshotBuilder builder;
  builder.node("a", 8, 8).holds("team", "imagenet");
  Cluster cluster(builder);
  cluster.occupants(0, {holds(6, kWarmedAt + 1h), holds(2, kNever)});
  EXPECT_THAT(starts(cluster.advise(request(6))), ElementsAre("a:3600"));
  EXPECT_THAT(starts(cluster.advise(request(7))), ElementsAre("a:?"));
}

TEST(AdviseWarming, AnEndThatHasPassedTellsNothing) {
  SnapshotBuilder builder;
  builder.node("a", 8, 8).holds("team", "imagenet");
  Cluster cluster(builder);
  cluster.occupants(0, {holds(8, kWarmedAt - 1h)});
  const auto advice = cluster.advise(request(8));
  EXPECT_THAT(starts(advice), ElementsAre("a:?"));
  EXPECT_EQ(advice.nodes[0].unknown, StartUnknown::kOverdue);
}

TEST(AdviseWarming, PromisedGpusAreNotFree) {
  SnapshotBuilder builder;
  builder.node("a", 8, 4).holds("team", "imagenet").promised("other", 4, model::EntryKind::kSoft);
  builder.node("b", 8, 4).promised("another", 4, model::EntryKind::kFirm);
  const auto advice = Cluster(builder).advise(request(4));
  EXPECT_THAT(starts(advice), ElementsAre("a:?", "b:?"));
  EXPECT_EQ(advice.nodes[0].unknown, StartUnknown::kPromised);
  EXPECT_EQ(advice.nodes[0].gpus_free, 0);
}

TEST(AdviseWarming, NodesThatCouldNeverRunTheJobAreLeftOut) {
  SnapshotBuilder builder;
  builder.node("small", 4).node("old", 8, 0, tests::kV100, 32768).node("good").holds("team", "imagenet");
  EXPECT_THAT(starts(Cluster(builder).advise(request(8, {{"min-gpu-memory", "80"}}))), IsEmpty());
  EXPECT_THAT(starts(Cluster(builder).advise(request(8, {{"min-gpu-memory", "40"}}))), ElementsAre("good:0"));
}

// Nobody knows which GPUs will be freed, so only a node that is empty by then is sure to have connected ones.
TEST(AdviseWarming, ARestrictedJobWaitsForTheWholeNode) {
  SnapshotBuilder builder;
  builder.node("a", 8, 8, tests::kV100, 32768).holds("team", "imagenet");
  Cluster cluster(builder);
  cluster.occupants(0, {holds(4, kWarmedAt + 1h), holds(4, kWarmedAt + 2h)});
  EXPECT_THAT(starts(cluster.advise(request(4))), ElementsAre("a:3600"));
  EXPECT_THAT(starts(cluster.advise(request(4, {{"topology-policy", "restricted"}}))), ElementsAre("a:7200"));
}

TEST(AdviseWarming, OfEqualTimesTheNodeWithAWorkerComesFirst) {
  SnapshotBuilder builder;
  builder.node("a").node("b").holds("team", "imagenet", 0.25F).node("c").holds("team", "imagenet", 0.5F);
  const auto advice = Cluster(builder).advise(request(8));
  EXPECT_THAT(starts(advice), ElementsAre("c:0", "b:0", "a:0"));
  EXPECT_TRUE(advice.nodes[0].worker);
  EXPECT_FLOAT_EQ(advice.nodes[0].share.coverage, 0.5F);
  EXPECT_FALSE(advice.nodes[2].worker);
  EXPECT_TRUE(advice.worker_near);
}

TEST(AdviseWarming, AClientWithACacheOfItsOwnIsNoWorker) {
  SnapshotBuilder builder;
  builder.node("client").holds("team", "imagenet", 0.5F, CoverageSource::kUniform);
  builder.node("worker").holds("team", "imagenet", 0);
  Cluster cluster(builder);
  cluster.dataset([](model::DatasetPlacement& placement) { placement.holders[0].worker = false; });
  const auto advice = cluster.advise(request(8));
  EXPECT_THAT(starts(advice), ElementsAre("worker:0", "client:0"));
  EXPECT_TRUE(advice.nodes[0].worker);
  EXPECT_FALSE(advice.nodes[1].worker);
  EXPECT_TRUE(advice.worker_near);
}

TEST(AdviseWarming, AWorkerWhereNobodyKnowsTheTimeIsNotNear) {
  SnapshotBuilder builder;
  builder.node("free").node("busy", 8, 8).holds("team", "imagenet");
  EXPECT_FALSE(Cluster(builder).advise(request(8)).worker_near);
}

TEST(AdviseWarming, TheLoadIsOfThePhysicalDataset) {
  SnapshotBuilder builder;
  builder.node("a").holds("team", "imagenet");
  Cluster cluster(builder);
  cluster.dataset([](model::DatasetPlacement& placement) {
    placement.ref = {"vision", "pictures"};
    placement.phase = "Bound";
    placement.runtime = "alluxio";
    placement.ready_workers = 3;
  });
  const auto advice = cluster.advise(request(8));
  EXPECT_TRUE(advice.exists);
  EXPECT_TRUE(advice.bound);
  ASSERT_TRUE(advice.load.has_value());
  EXPECT_EQ(advice.load->dataset, (model::DatasetRef{"vision", "pictures"}));
  EXPECT_EQ(advice.load->name, "pictures-warm");
  EXPECT_EQ(advice.load->copies, 1);
}

struct CacheRoom {
  const char* runtime;
  std::int64_t total;
  std::int64_t per_worker;
  std::int32_t workers;
  std::int32_t copies;
};

TEST(AdviseWarming, AsManyCopiesAsThereIsRoomFor) {
  for (const CacheRoom& room :
       {CacheRoom{"alluxio", 100, 50, 5, 2}, CacheRoom{"jindo", 100, 500, 3, 3}, CacheRoom{"goosefs", 100, 10, 3, 1},
        CacheRoom{"alluxio", 0, 500, 3, 1}, CacheRoom{"alluxio", 100, 0, 3, 1}, CacheRoom{"alluxio", 100, 500, 0, 1},
        CacheRoom{"juicefs", 100, 500, 3, 1}}) {
    SnapshotBuilder builder;
    builder.node("a").holds("team", "imagenet");
    Cluster cluster(builder);
    cluster.dataset([&](model::DatasetPlacement& placement) {
      placement.runtime = room.runtime;
      placement.total_bytes = room.total;
      placement.worker_bytes = room.per_worker;
      placement.ready_workers = room.workers;
    });
    EXPECT_EQ(cluster.advise(request(8)).load->copies, room.copies) << room.runtime << " " << room.per_worker;
  }
}

TEST(AdviseWarming, ADatasetThatIsNotBoundCannotBeLoadedYet) {
  SnapshotBuilder builder;
  builder.node("a").holds("team", "imagenet");
  Cluster cluster(builder);
  cluster.dataset([](model::DatasetPlacement& placement) { placement.phase = "NotBound"; });
  EXPECT_FALSE(cluster.advise(request(8)).bound);
}

TEST(AdviseWarming, RuntimesWithoutDataLoad) {
  for (const char* runtime : {"thin", "efc", "vineyard"}) {
    SnapshotBuilder builder;
    builder.node("a").holds("team", "imagenet");
    Cluster cluster(builder);
    cluster.dataset([&](model::DatasetPlacement& placement) { placement.runtime = runtime; });
    EXPECT_FALSE(cluster.advise(request(8)).load.has_value()) << runtime;
  }
}

TEST(AdviseWarming, WhatDoesNotExistIsSaidAndHasNoLoad) {
  SnapshotBuilder builder;
  builder.node("a");
  const auto advice = Cluster(builder).advise(request(8), 10, "lost");
  EXPECT_FALSE(advice.exists);
  EXPECT_FALSE(advice.load.has_value());
  EXPECT_THAT(starts(advice), ElementsAre("a:0"));
}

// Helm takes 53 characters of the release "<name>-loader".
TEST(AdviseWarming, LongNamesAreCutAndStayApart) {
  const std::string first(60, 'a');
  SnapshotBuilder builder;
  builder.node("a").holds("team", first).holds("team", first + "b");
  const auto snapshot = builder.build();
  const auto pod = request(1);
  const auto name = [&](const std::string& dataset) {
    return advise_warming({*snapshot, pod, 10, std::nullopt, kWarmedAt}, {"team", dataset}).load->name;
  };
  EXPECT_LE(name(first).size(), 46U);
  EXPECT_TRUE(name(first).ends_with("-warm"));
  EXPECT_NE(name(first), name(first + "b"));
}

TEST(AdviseWarming, AJobWithoutGpusStartsAtOnce) {
  SnapshotBuilder builder;
  builder.node("a", 8, 8).holds("team", "imagenet");
  EXPECT_THAT(starts(Cluster(builder).advise(request(0))), ElementsAre("a:0"));
}

TEST(AdviseWarming, GivesNoMoreNodesThanAskedForAndCountsAll) {
  SnapshotBuilder builder;
  builder.node("a").node("b").node("c").holds("team", "imagenet");
  const auto advice = Cluster(builder).advise(request(8), 2);
  EXPECT_THAT(starts(advice), ElementsAre("c:0", "a:0"));
  EXPECT_EQ(advice.node_count, 3U);
}

}  // namespace
}  // namespace berth::policy
