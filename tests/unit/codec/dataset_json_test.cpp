#include "berth/codec/dataset_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::codec {
namespace {

using model::CoverageSource;
using nlohmann::json;
using namespace std::chrono_literals;

constexpr core::WallTime kNow{10h};

std::shared_ptr<model::DatasetPlacement> imagenet() {
  auto placement = std::make_shared<model::DatasetPlacement>();
  placement->ref = {"vision", "imagenet"};
  placement->phase = "Bound";
  placement->runtime = "alluxio";
  placement->total_bytes = 1000;
  placement->ready_workers = 2;
  placement->loading = true;
  placement->holders = {{0, 0.25F, CoverageSource::kMeasured, true, kNow - 90s, 250},
                        {1, 0.875F, CoverageSource::kMeasured, true, kNow - 12s, 875},
                        {2, 0.5F, CoverageSource::kUniform, false, kNow - 300s, -1}};
  return placement;
}

// Three nodes; vision/imagenet (id 0) with the alias team/images, and a label that no Dataset is known of (id 2).
model::Snapshot sample_cluster() {
  model::Snapshot snapshot;
  snapshot.ready = true;
  snapshot.index = std::make_shared<const model::NodeIndex>(std::vector<std::string>{"a", "b", "c"});
  auto label = std::make_shared<model::DatasetPlacement>();
  label->holders = {{2, 0.5F, CoverageSource::kLabel, true, kNow + 5s, -1}};
  snapshot.datasets = {imagenet(), nullptr, label};
  snapshot.dataset_names = std::make_shared<const model::DatasetNames>(
      model::DatasetNames{{"vision/imagenet", 0}, {"team/images", 0}, {"fluid.io/s-team-other", 2}});
  auto readers = std::make_shared<model::DatasetReaders>();
  readers->counts = {{1, 3}, {2, 1}};
  snapshot.readers = {readers, nullptr, nullptr};
  return snapshot;
}

TEST(DatasetJson, CachesThatNobodySharesAreWorthTheFullest) {
  auto snapshot = sample_cluster();
  auto placement = imagenet();
  placement->own_caches = true;
  snapshot.datasets[0] = placement;
  EXPECT_EQ(json::parse(*write_dataset(snapshot, kNow, {"vision", "imagenet"})).at("coverage"), 0.875);
}

TEST(DatasetJson, OneAsDocumented) {
  const auto text = write_dataset(sample_cluster(), kNow, {"vision", "imagenet"});
  ASSERT_TRUE(text.has_value());
  // Together 0.25 + 0.875, which is more than there is; the oldest figure that counts is 90 s old.
  EXPECT_EQ(json::parse(*text), json::parse(R"({
    "name": "vision/imagenet", "aliases": ["team/images"], "phase": "Bound", "runtime": "alluxio", "totalBytes": 1000,
    "readyWorkers": 2, "loading": true, "readers": 4, "coverage": 1, "source": "measured", "ageSeconds": 90,
    "holdingNodes": 2, "nodeCount": 3,
    "nodes": [
      {"node": "b", "coverage": 0.875, "source": "measured", "ageSeconds": 12, "bytes": 875, "holds": true, "readers": 3},
      {"node": "c", "coverage": 0.5, "source": "uniform", "ageSeconds": 300, "bytes": null, "holds": false, "readers": 1},
      {"node": "a", "coverage": 0.25, "source": "measured", "ageSeconds": 90, "bytes": 250, "holds": true,
       "readers": 0}]})"));
}

TEST(DatasetJson, AnAliasGivesThePhysicalDataset) {
  EXPECT_EQ(write_dataset(sample_cluster(), kNow, {"team", "images"}),
            write_dataset(sample_cluster(), kNow, {"vision", "imagenet"}));
}

TEST(DatasetJson, WhatDoesNotExistIsNone) {
  EXPECT_EQ(write_dataset(sample_cluster(), kNow, {"vision", "lost"}), std::nullopt);
}

TEST(DatasetJson, ALabelHasNoFigureButItsSource) {
  const auto text = write_dataset(sample_cluster(), kNow, {"team", "other"});
  ASSERT_TRUE(text.has_value());
  const auto one = json::parse(*text);
  EXPECT_EQ(one.at("name"), "fluid.io/s-team-other");
  EXPECT_EQ(one.at("totalBytes"), nullptr);
  EXPECT_EQ(one.at("source"), "label");
  // It was seen by a clock that is ahead of ours.
  EXPECT_EQ(one.at("ageSeconds"), 0);
  EXPECT_EQ(one.at("readers"), 0);
}

TEST(DatasetJson, NobodyHoldsIt) {
  auto snapshot = sample_cluster();
  auto empty = imagenet();
  empty->holders.clear();
  snapshot.datasets[0] = empty;
  const auto one = json::parse(*write_dataset(snapshot, kNow, {"vision", "imagenet"}));
  EXPECT_EQ(one.at("coverage"), 0);
  EXPECT_EQ(one.at("source"), "none");
  EXPECT_EQ(one.at("ageSeconds"), nullptr);
  EXPECT_EQ(one.at("nodes"), json::array());
}

TEST(DatasetJson, TheListIsByNameAndCountsWhatItLeavesOut) {
  const auto all = json::parse(write_datasets(sample_cluster(), kNow, {100, 2}));
  EXPECT_EQ(all.at("count"), 2);
  ASSERT_EQ(all.at("datasets").size(), 2U);
  EXPECT_EQ(all["datasets"][0].at("name"), "fluid.io/s-team-other");
  EXPECT_EQ(all["datasets"][1].at("nodes").size(), 2U);
  EXPECT_EQ(all["datasets"][1].at("nodeCount"), 3);
  const auto one = json::parse(write_datasets(sample_cluster(), kNow, {1, 2}));
  EXPECT_EQ(one.at("count"), 2);
  EXPECT_EQ(one.at("datasets").size(), 1U);
}

TEST(DatasetJson, EmptyCluster) {
  EXPECT_EQ(json::parse(write_datasets(model::Snapshot{}, kNow, {})), json::parse(R"({"count": 0, "datasets": []})"));
}

}  // namespace
}  // namespace berth::codec
