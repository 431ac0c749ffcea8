#include "berth/codec/recommend_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::codec {
namespace {

using model::CoverageSource;
using nlohmann::json;
using namespace std::chrono_literals;

model::Recommendation sample_recommendation() {
  model::Recommendation advice;
  advice.at = core::WallTime(10h);
  advice.snapshot_version = 7;
  advice.gpus = 8;
  advice.datasets = {"vision/imagenet", "vision/lion"};
  advice.unknown_datasets = {"vision/lion"};
  advice.reason = model::Reason::kDatasetUnknown;
  advice.warm_nodes = 1;
  advice.candidate_count = 5;
  advice.nodes.resize(2);
  model::Candidate& best = advice.nodes[0].candidate;
  best.node = "a";
  best.score = 10;
  best.parts = {1, 0.5, 0.25, 0.75};
  best.gpus_free = 8;
  best.coverage = 0.5;
  best.load_seconds = 20;
  best.saved_seconds = 300.06;
  best.shares = {{0.5F, CoverageSource::kUniform, advice.at - 70s}, {}};
  advice.nodes[0].slurm_name = "gpu001";
  advice.nodes[0].fits = true;
  advice.nodes[0].weight = 100;
  advice.nodes[1].candidate.node = "b";
  advice.nodes[1].slurm_name = "b";
  advice.rejected.push_back({model::Reason::kGpuMemoryTooSmall, 3, {}});
  advice.slurm_node_list = "gpu001";
  return advice;
}

model::WarmAdvice warm() {
  model::WarmAdvice advice;
  advice.dataset = {"vision", "imagenet"};
  advice.exists = true;
  advice.bound = true;
  advice.runtime = "alluxio";
  advice.ready_workers = 2;
  advice.node_count = 9;
  advice.nodes.resize(2);
  advice.nodes[0] = {"a",
                     "gpu001",
                     8,
                     0s,
                     model::StartUnknown::kNone,
                     true,
                     {0.25F, CoverageSource::kMeasured, core::WallTime(10h - 5s)}};
  advice.nodes[1].node = "b";
  advice.nodes[1].slurm_name = "b";
  advice.nodes[1].unknown = model::StartUnknown::kNobodySays;
  advice.worker_near = true;
  advice.load = model::LoadOrder{{"vision", "imagenet"}, "imagenet-warm", 2};
  return advice;
}

TEST(RecommendJson, AsDocumented) {
  EXPECT_EQ(json::parse(write_recommendation(sample_recommendation())), json::parse(R"({
    "gpus": 8, "datasets": ["vision/imagenet", "vision/lion"], "unknownDatasets": ["vision/lion"],
    "ignoredAnnotations": [], "snapshotVersion": 7, "reason": "DATASET_UNKNOWN", "warmNodes": 1, "candidateCount": 5,
    "nodes": [
      {"node": "a", "score": 10, "total": 0.75, "locality": 1.0, "topology": 0.5, "packing": 0.25, "failures": 0.0,
       "loadSeconds": 20.0, "savedSeconds": 300.1, "coverage": 0.5,
       "datasets": [{"dataset": "vision/imagenet", "coverage": 0.5, "source": "uniform", "ageSeconds": 70},
                    {"dataset": "vision/lion", "coverage": 0.0, "source": "none", "ageSeconds": null}],
       "gpusFree": 8, "gpuSet": [], "fits": true, "slurmName": "gpu001"},
      {"node": "b", "score": 0, "total": 0.0, "locality": 0.0, "topology": 0.0, "packing": 0.0, "failures": 0.0,
       "loadSeconds": 0.0, "savedSeconds": 0.0, "coverage": 0.0, "datasets": [], "gpusFree": -1, "gpuSet": [], "fits": false,
       "slurmName": "b"}],
    "rejected": [{"reason": "GPU_MEMORY_TOO_SMALL", "count": 3}],
    "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
      {"weight": 100, "preference": {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}},
      {"weight": 1, "preference": {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}}]},
    "requiredNodeAffinity": null, "slurmNodeList": "gpu001", "warm": null})"));
}

TEST(RecommendJson, RequiredNodesAreTermsOfWhichOneMustHold) {
  auto advice = sample_recommendation();
  advice.required = true;
  EXPECT_EQ(json::parse(write_recommendation(advice)).at("requiredNodeAffinity"), json::parse(R"({
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]},
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]}})"));
}

// kube-apiserver refuses a required selector without terms.
TEST(RecommendJson, NoNodeNoRequirement) {
  auto advice = sample_recommendation();
  advice.required = true;
  advice.nodes.clear();
  const auto text = json::parse(write_recommendation(advice));
  EXPECT_EQ(text.at("requiredNodeAffinity"), nullptr);
  EXPECT_EQ(text.at("nodeAffinity"), json::parse(R"({"preferredDuringSchedulingIgnoredDuringExecution": []})"));
}

TEST(RecommendJson, WarmingAsDocumented) {
  auto advice = sample_recommendation();
  advice.warm = warm();
  EXPECT_EQ(json::parse(write_recommendation(advice)).at("warm"), json::parse(R"({
    "dataset": "vision/imagenet", "reason": "", "runtime": "alluxio", "readyWorkers": 2, "loading": false,
    "nodeCount": 9,
    "nodes": [
      {"node": "a", "slurmName": "gpu001", "gpusFree": 8, "startsInSeconds": 0, "why": "", "readyWorker": true,
       "coverage": 0.25, "source": "measured", "ageSeconds": 5},
      {"node": "b", "slurmName": "b", "gpusFree": 0, "startsInSeconds": null,
       "why": "what runs there has neither activeDeadlineSeconds nor berth.io/expected-duration",
       "readyWorker": false, "coverage": 0.0, "source": "none", "ageSeconds": null}],
    "dataLoad": {"apiVersion": "data.fluid.io/v1alpha1", "kind": "DataLoad",
                 "metadata": {"namespace": "vision", "name": "imagenet-warm"},
                 "spec": {"dataset": {"namespace": "vision", "name": "imagenet"}, "loadMetadata": true,
                          "target": [{"path": "/", "replicas": 2}]}},
    "datasetNodeAffinity": null, "notes": []})"));
}

std::string notes(const model::WarmAdvice& advice) {
  auto whole = sample_recommendation();
  whole.warm = advice;
  return json::parse(write_recommendation(whole)).at("warm").at("notes").dump();
}

TEST(RecommendJson, NotesSayWhatStandsInTheWay) {
  auto advice = warm();
  advice.bound = false;
  advice.loading = true;
  EXPECT_EQ(notes(advice), R"(["the dataset is not Bound: Fluid loads nothing before it is",)"
                           R"("a DataLoad of this dataset is running already"])");
  advice = warm();
  advice.load.reset();
  advice.runtime = "thin";
  EXPECT_EQ(notes(advice), R"(["Fluid has no DataLoad for the runtime thin"])");
  advice = warm();
  advice.exists = false;
  EXPECT_EQ(notes(advice), R"(["no such dataset exists: create it first"])");
}

TEST(RecommendJson, WorkersAreWantedWhereTheJobCouldStart) {
  auto advice = sample_recommendation();
  advice.warm = warm();
  advice.warm->worker_near = false;
  const auto text = json::parse(write_recommendation(advice)).at("warm");
  EXPECT_EQ(text.at("datasetNodeAffinity"), json::parse(R"({"required": {"nodeSelectorTerms": [
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]},
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]}})"));
  EXPECT_EQ(text.at("notes").size(), 1U);
}

TEST(RecommendJson, AnUnknownDatasetToWarm) {
  auto advice = sample_recommendation();
  advice.warm.emplace();
  advice.warm->dataset = {"vision", "lost"};
  const auto text = json::parse(write_recommendation(advice)).at("warm");
  EXPECT_EQ(text.at("reason"), "DATASET_UNKNOWN");
  EXPECT_EQ(text.at("dataLoad"), nullptr);
}

}  // namespace
}  // namespace berth::codec
