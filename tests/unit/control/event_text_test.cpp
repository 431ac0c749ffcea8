#include "../src/control/event_text.h"

#include <gtest/gtest.h>

#include "support/snapshot_builder.h"

namespace berth::control {
namespace {

using model::CoverageSource;
using tests::SnapshotBuilder;

constexpr core::WallTime kToldAt{std::chrono::hours(10)};

core::WallTime ago(std::chrono::seconds age) { return kToldAt - age; }

HeldDataset held(const std::string& name, float coverage, CoverageSource source, std::chrono::seconds age) {
  return {{"vision", name}, {coverage, source, ago(age)}, 0};
}
HeldDataset nothing(const std::string& name) { return {{"vision", name}, {}, 0}; }

model::Candidate candidate(const std::string& node, double coverage, model::ScoreParts parts, std::int32_t free = 8) {
  model::Candidate made;
  made.node = node;
  made.coverage = coverage;
  made.parts = parts;
  made.gpus_free = free;
  if (coverage > 0) {
    made.shares = {{static_cast<float>(coverage), CoverageSource::kMeasured, ago(std::chrono::seconds(12))}};
  }
  return made;
}

TEST(BoundText, SaysWhatIsThereAndWhyTheRunnerUpLost) {
  const Choice choice{candidate("h100-001", 0.87, {0.9, 0.8, 0.2, 0.7}),
                      candidate("h100-002", 0.40, {0.8, 0.1, 0.9, 0.5})};
  // Weighted 4, 2, 1: locality 0.4, topology 1.4, packing -0.7.
  EXPECT_EQ(bound_text("h100-001",
                       std::vector{held("imagenet", 0.87F, CoverageSource::kMeasured, std::chrono::seconds(12)),
                                   nothing("extra")},
                       &choice, 8, kToldAt),
            "node h100-001 has 87 % of vision/imagenet (measured 12s ago) and none of vision/extra; runner-up h100-002 "
            "has 40 % (measured 12s ago): it lost on topology");
}

TEST(BoundText, SourceOfAFigureThatWasNotMeasuredIsNamed) {
  EXPECT_EQ(bound_text("n", std::vector{held("a", 0.005F, CoverageSource::kUniform, std::chrono::seconds(300))},
                       nullptr, 1, kToldAt),
            "node n has under 1 % of vision/a (uniform, as of 5m ago)");
}

TEST(BoundText, NewWorkerHoldsNothingYet) {
  EXPECT_EQ(bound_text("n", std::vector{held("a", 0, CoverageSource::kNewWorker, std::chrono::seconds(5))}, nullptr, 1,
                       kToldAt),
            "node n has none of vision/a (new-worker, as of 5s ago)");
}

TEST(BoundText, RunnerUpThatIsFullOrPromisedLostForThat) {
  const std::vector there{held("a", 1, CoverageSource::kMeasured, std::chrono::seconds(1))};
  const Choice full{candidate("x", 1, {1, 1, 1, 1}), candidate("y", 0, {1, 1, 1, 1}, 3)};
  EXPECT_EQ(bound_text("x", there, &full, 4, kToldAt),
            "node x has 100 % of vision/a (measured 1s ago); runner-up y has none: too few GPUs are free there");
  const Choice promised{candidate("x", 1, {1, 0, 0, 0.5}), candidate("y", 0, {1, 1, 1, 1})};
  EXPECT_EQ(bound_text("x", there, &promised, 4, kToldAt),
            "node x has 100 % of vision/a (measured 1s ago); runner-up y has none: its free GPUs are promised to other "
            "pods");
  const Choice equal{candidate("x", 1, {1, 1, 1, 1}), candidate("y", 1, {1, 1, 1, 1})};
  EXPECT_EQ(bound_text("x", there, &equal, 4, kToldAt),
            "node x has 100 % of vision/a (measured 1s ago); runner-up y has 100 % (measured 12s ago): it scored the "
            "same");
}

TEST(BoundText, SaysWhenTheSchedulerChoseAnotherNode) {
  const Choice choice{candidate("h100-001", 0.87, {1, 1, 1, 1}), std::nullopt};
  EXPECT_EQ(bound_text("h100-003", std::vector{nothing("imagenet")}, &choice, 1, kToldAt),
            "kube-scheduler chose h100-003 over Berth's h100-001, which has 87 % (measured 12s ago) of its data; "
            "h100-003 has none of vision/imagenet");
}

RejectedCounts rejected(std::uint32_t not_cached, std::uint32_t reserved = 0) {
  RejectedCounts counts{};
  counts[static_cast<std::size_t>(model::Reason::kDatasetNotCached)] = not_cached;
  counts[static_cast<std::size_t>(model::Reason::kReserved)] = reserved;
  return counts;
}

model::PodRequest wants(const std::string& datasets, std::int64_t gpus = 1) {
  return tests::request(gpus, {{"datasets", datasets}});
}

TEST(PendingText, SaysWhereTheDataIsAndThatNoGpuIsFreeThere) {
  const auto cluster = SnapshotBuilder()
                           .node("n1", 8, 8)
                           .holds("team", "a", 0.5F)
                           .node("n2", 8, 8)
                           .holds("team", "a", 1)
                           .node("n3")
                           .build();
  EXPECT_EQ(pending_text(wants("a"), *cluster, nullptr), "its data is on n2 and n1; no free GPU there");
  const auto counts = rejected(1);
  EXPECT_EQ(pending_text(wants("a"), *cluster, &counts),
            "its data is on n2 and n1; no free GPU there: 1 node DATASET_NOT_CACHED");
}

TEST(PendingText, AClientIsNoPlaceOfItsData) {
  const auto cluster = SnapshotBuilder()
                           .node("n1", 8, 8)
                           .holds("team", "a", 0.5F)
                           .node("n2")
                           .hints("team", "a", 0.025F, CoverageSource::kFuse)
                           .build();
  EXPECT_EQ(pending_text(wants("a"), *cluster, nullptr), "its data is on n1; no free GPU there");
}

TEST(PendingText, SaysHowManyGpusAreFreeWhereTheDataIs) {
  SnapshotBuilder cluster;
  for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) cluster.node(name, 8, 6).holds("team", "a");
  EXPECT_EQ(pending_text(wants("a", 4), *cluster.build(), nullptr),
            "its data is on n1, n2, n3 and 2 more; at most 2 of the 4 GPUs that it asks for are free on any of them");
}

TEST(PendingText, SaysThatNoNodeHoldsAllOfIt) {
  const auto cluster = SnapshotBuilder().node("n1").holds("team", "a").node("n2").holds("team", "b").node("n3").build();
  const auto counts = rejected(12, 1);
  EXPECT_EQ(pending_text(wants("a,b"), *cluster, &counts),
            "no node holds team/a and team/b: 12 nodes DATASET_NOT_CACHED, 1 node RESERVED");
}

TEST(PendingText, WithoutDataTheReasonsAreAllThereIs) {
  const auto cluster = SnapshotBuilder().node("n1").build();
  const auto counts = rejected(0, 2);
  EXPECT_EQ(pending_text(tests::request(8), *cluster, &counts), "no node takes it: 2 nodes RESERVED");
  EXPECT_EQ(pending_text(tests::request(8), *cluster, nullptr), "");
}

TEST(UnknownText, GuessesWhatWasMeant) {
  const auto cluster = SnapshotBuilder().node("n1").holds("vision", "imagenet").build();
  EXPECT_EQ(unknown_text({"vision/imagnet"}, *cluster, true),
            "no dataset vision/imagnet (did you mean vision/imagenet?) exists; it is required, so no node is taken");
  EXPECT_EQ(unknown_text({"x/y", "z/w"}, *cluster, false),
            "no dataset x/y and z/w exists; the pod is placed without regard to it");
}

}  // namespace
}  // namespace berth::control
