#include "berth/model/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/model/decision.h"
#include "berth/model/node.h"
#include "berth/model/snapshot.h"

namespace berth::model {
namespace {

constexpr const char* kUid = "3b1d0a52-6f0e-4a57-9d0c-2b8f0c1a7e11";

TEST(DatasetLabels, AreThoseThatFluidWrites) {
  const DatasetRef hbase{"default", "hbase"};
  EXPECT_EQ(worker_label(hbase, kUid), "fluid.io/s-default-hbase");
  EXPECT_EQ(runtime_label(hbase, kUid, "alluxio"), "fluid.io/s-alluxio-default-hbase");
  EXPECT_EQ(fuse_label(hbase, kUid), "fluid.io/f-default-hbase");
}

// pkg/utils/label.go of Fluid 1.0.5 and later: below 63 characters, prefix included, or the UID.
TEST(DatasetLabels, LongOnesCarryTheUid) {
  const DatasetRef longest{"team", std::string(46, 'd')};  // 11 + 4 + 1 + 46 = 62
  EXPECT_EQ(worker_label(longest, kUid), "fluid.io/s-team-" + longest.name);
  const DatasetRef longer{"team", std::string(47, 'd')};
  EXPECT_EQ(worker_label(longer, kUid), std::string("fluid.io/s-") + kUid);
  EXPECT_EQ(fuse_label(longer, kUid), std::string("fluid.io/f-") + kUid);
}

TEST(DatasetLabels, EachKeyIsMeasuredForItself) {
  const DatasetRef between{"team", std::string(40, 'd')};
  EXPECT_EQ(worker_label(between, kUid), "fluid.io/s-team-" + between.name);
  EXPECT_EQ(runtime_label(between, kUid, "alluxio"), std::string("fluid.io/s-alluxio-") + kUid);
}

TEST(Dataset, IsUsableWhileFluidServesIt) {
  Dataset dataset;
  for (const char* phase : {"Bound", "Updating", "DataMigrating"}) {
    dataset.phase = phase;
    EXPECT_TRUE(dataset.bound()) << phase;
  }
  for (const char* phase : {"", "Pending", "NotBound", "Failed"}) {
    dataset.phase = phase;
    EXPECT_FALSE(dataset.bound()) << phase;
  }
}

// A pod says "nginx" where kubelet lists "docker.io/library/nginx:latest" (distribution/reference,
// ParseNormalizedNamed).
TEST(ImageId, ShortNamesAreThoseThatKubeletLists) {
  EXPECT_EQ(image_id("nginx"), image_id("docker.io/library/nginx:latest"));
  EXPECT_EQ(image_id("library/nginx:latest"), image_id("nginx"));
  EXPECT_EQ(image_id("nvidia/cuda:12"), image_id("docker.io/nvidia/cuda:12"));
  EXPECT_EQ(image_id("localhost/a"), image_id("localhost/a:latest"));
  EXPECT_EQ(image_id("registry:5000/a"), image_id("registry:5000/a:latest"));
  EXPECT_NE(image_id("nginx:1"), image_id("nginx:2"));
  EXPECT_NE(image_id("a.example/nginx"), image_id("nginx"));
  EXPECT_NE(image_id("nginx@sha256:00"), image_id("nginx"));
  EXPECT_EQ(image_id("docker.io/nginx:1"), image_id("nginx:1"));
}

// Kubelet lists "NAME:TAG" and "NAME@DIGEST", never both in one.
TEST(ImageId, ATagBesideADigestSaysNothing) {
  EXPECT_EQ(image_id("registry:5000/a:2@sha256:00"), image_id("registry:5000/a@sha256:00"));
  EXPECT_EQ(image_id("nginx:2@sha256:00"), image_id("docker.io/library/nginx@sha256:00"));
  EXPECT_NE(image_id("registry:5000/a:2@sha256:00"), image_id("registry:5000/a:2"));
}

TEST(AgeText, AsMuchAsOneNeedsToKnow) {
  using std::chrono::hours;
  using std::chrono::seconds;
  constexpr core::WallTime kNow(hours(1'000));
  EXPECT_EQ(age_text(kNow, kNow), "0s");
  EXPECT_EQ(age_text(kNow + seconds(3), kNow), "0s") << "clocks of two machines differ";
  EXPECT_EQ(age_text(kNow - seconds(119), kNow), "119s");
  EXPECT_EQ(age_text(kNow - seconds(120), kNow), "2m");
  EXPECT_EQ(age_text(kNow - hours(3), kNow), "3h");
  EXPECT_EQ(age_text(kNow - hours(50), kNow), "2d");
}

TEST(Together, IsAsCertainAsTheLeastAndAsOldAsTheOldest) {
  const auto at = [](int second) { return core::WallTime(std::chrono::seconds(second)); };
  Candidate candidate;
  candidate.coverage = 0.5;
  EXPECT_FALSE(together(candidate).has_value());
  candidate.shares = {{0, CoverageSource::kAssumed, {}}};
  EXPECT_FALSE(together(candidate).has_value()) << "of a dataset of which nothing is known there";
  candidate.shares = {{0.75F, CoverageSource::kUniform, at(90)},
                      {0.25F, CoverageSource::kMeasured, at(60)},
                      {0, CoverageSource::kFuse, {}}};
  const auto all = together(candidate);
  ASSERT_TRUE(all.has_value());
  EXPECT_FLOAT_EQ(all->coverage, 0.5F);
  EXPECT_EQ(all->source, CoverageSource::kUniform);
  EXPECT_EQ(all->observed, at(60));
}

// team/imagenet, and team/view that refers to it; claim team/data stands before the view.
Snapshot two_names() {
  Snapshot snapshot;
  snapshot.ready = true;
  auto placement = std::make_shared<DatasetPlacement>();
  placement->ref = {"team", "imagenet"};
  snapshot.datasets = {placement};
  snapshot.dataset_names = std::make_shared<const DatasetNames>(DatasetNames{{"team/imagenet", 0}, {"team/view", 0}});
  snapshot.claims = std::make_shared<const ClaimMap>(ClaimMap{{"team/data", {"team", "view"}}});
  return snapshot;
}

PodRequest wanting(std::vector<WantedDataset> datasets, std::vector<std::string> claims) {
  PodRequest request;
  request.ns = "team";
  request.datasets = std::move(datasets);
  request.claims = std::move(claims);
  return request;
}

TEST(ResolveClaims, ADatasetStandsBehindAClaim) {
  PodRequest request = wanting({{{"team", "other"}, false}}, {"logs", "data"});
  resolve_claims(request, two_names());
  EXPECT_THAT(request.datasets,
              testing::ElementsAre(WantedDataset{{"team", "view"}, false}, WantedDataset{{"team", "other"}, false}));
  EXPECT_TRUE(request.claims.empty());
}

TEST(ResolveClaims, TwoNamesOfOneDatasetAreOneWish) {
  PodRequest request = wanting({{{"team", "imagenet"}, true}}, {"data"});
  resolve_claims(request, two_names());
  EXPECT_THAT(request.datasets, testing::ElementsAre(WantedDataset{{"team", "view"}, true}));
}

TEST(ResolveClaims, TheLabelOfAClaimRequiresItsDataset) {
  PodRequest request = wanting({}, {"data"});
  request.required_claims = {"data"};
  resolve_claims(request, two_names());
  EXPECT_TRUE(request.datasets.at(0).required);
}

TEST(ResolveClaims, BeforeReadinessAClaimMayBeAnyDatasets) {
  Snapshot snapshot = two_names();
  PodRequest request = wanting({}, {"logs"});
  snapshot.ready = false;
  resolve_claims(request, snapshot);
  EXPECT_TRUE(request.ours());
  snapshot.ready = true;
  resolve_claims(request, snapshot);
  EXPECT_FALSE(request.ours());
}

TEST(Snapshot, KnowsADatasetByNameOrByLabel) {
  Snapshot snapshot = two_names();
  EXPECT_EQ(snapshot.dataset_id({"team", "view"}), 0U);
  EXPECT_EQ(snapshot.dataset_id({"team", "nothing"}), kNoDataset);
  EXPECT_EQ(snapshot.placement({"team", "nothing"}), nullptr);
  snapshot.dataset_names = std::make_shared<const DatasetNames>(DatasetNames{{"fluid.io/s-team-imagenet", 0}});
  EXPECT_EQ(snapshot.dataset_id({"team", "imagenet"}), 0U);
}

}  // namespace
}  // namespace berth::model
