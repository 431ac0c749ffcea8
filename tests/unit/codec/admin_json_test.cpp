#include "berth/codec/admin_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::codec {
namespace {

using namespace std::chrono_literals;

model::Explanation sample() {
  model::Explanation told;
  told.pod = "team/train";
  told.uid = "u1";
  told.gpus = 2;
  told.datasets = {"team/imagenet", "team/lion"};
  told.unknown_datasets = {"team/lion"};
  told.ignored_keys = {"berth.io/gang-topologie"};
  told.at = core::WallTime(951'868'800'250ms);  // 2000-03-01T00:00:00.250Z
  told.gang = "team/train job";
  told.policy = "team/default";
  told.attempt = 2;
  told.snapshot_version = 41;
  told.snapshot_age = 12ms;
  told.asked = 3;
  told.winner = "a";
  told.prioritized = true;
  told.candidate_count = 1;
  model::Candidate candidate;
  candidate.node = "a";
  candidate.parts = {1, 0.5, 0.25, 0.75};
  candidate.parts.proximity = 0.5;
  candidate.gpus_free = 8;
  candidate.gpu_set = model::mask({0, 3});
  candidate.coverage = 0.9375;
  candidate.load_seconds = 31.25;
  candidate.saved_seconds = 400;
  candidate.shares = {{0.9375F, model::CoverageSource::kMeasured, told.at - 12'500ms}, {}};
  candidate.score = 10;
  told.candidates.push_back(candidate);
  told.rejected.push_back({model::Reason::kOutranked, 2, {"b", "c"}});
  told.filter_took = 120us;
  told.prioritize_took = 30us;
  return told;
}

TEST(AdminJson, ExplanationAsDocumented) {
  const auto json = nlohmann::json::parse(write_explanation(sample()));
  EXPECT_EQ(json, nlohmann::json::parse(R"({
    "pod": "team/train", "uid": "u1", "gpus": 2, "datasets": ["team/imagenet", "team/lion"],
    "unknownDatasets": ["team/lion"], "ignoredAnnotations": ["berth.io/gang-topologie"],
    "gang": "team/train job", "policy": "team/default",
    "at": "2000-03-01T00:00:00.250Z", "attempt": 2,
    "snapshot": {"version": 41, "ageMilliseconds": 12}, "asked": 3, "winner": "a", "error": "", "prioritized": true,
    "tookMicroseconds": {"filter": 120, "prioritize": 30}, "candidateCount": 1,
    "candidates": [{"node": "a", "score": 10, "total": 0.75, "locality": 1.0, "topology": 0.5, "packing": 0.25, "proximity": 0.5, "failures": 0.0,
                    "loadSeconds": 31.3, "savedSeconds": 400.0, "coverage": 0.9375,
                    "datasets": [{"dataset": "team/imagenet", "coverage": 0.9375, "source": "measured",
                                  "ageSeconds": 12},
                                 {"dataset": "team/lion", "coverage": 0.0, "source": "none", "ageSeconds": null}],
                    "gpusFree": 8, "gpuSet": [0, 3]}],
    "rejected": [{"reason": "OUTRANKED", "count": 2, "nodes": ["b", "c"]}]})"));
}

TEST(AdminJson, ExplanationIsReadBack) {
  const auto back = read_explanation(write_explanation(sample()));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(write_explanation(*back), write_explanation(sample()));
}

TEST(AdminJson, PartitionsAreWrittenWhereThereAreAny) {
  auto told = sample();
  told.candidates[0].mig_slots = {{0, 4, 4}, {1, 6, 1}};
  const auto json = nlohmann::json::parse(write_explanation(told));
  EXPECT_EQ(json["candidates"][0].at("migSlots"), "0:4:4,1:6:1");
  const auto back = read_explanation(write_explanation(told));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->candidates[0].mig_slots, told.candidates[0].mig_slots);
}

TEST(AdminJson, AgesAreNeverNegative) {
  auto told = sample();
  told.candidates[0].shares[0].observed = told.at + 3s;
  const auto json = nlohmann::json::parse(write_explanation(told));
  EXPECT_EQ(json["candidates"][0]["datasets"][0].at("ageSeconds"), 0);
}

TEST(AdminJson, EverySourceIsReadBack) {
  using model::CoverageSource;
  for (const auto source : {CoverageSource::kMeasured, CoverageSource::kUniform, CoverageSource::kAssumed,
                            CoverageSource::kNewWorker, CoverageSource::kLabel, CoverageSource::kFuse}) {
    auto told = sample();
    told.candidates[0].shares[0].source = source;
    const auto back = read_explanation(write_explanation(told));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->candidates.at(0).shares.at(0).source, source);
    EXPECT_EQ(back->candidates[0].shares.at(1).observed, core::WallTime{});
  }
}

// A server of a later version, or one that lies.
TEST(AdminJson, SharesThatMakeNoSenseHoldNothing) {
  const auto back = read_explanation(
      R"({"pod":"a/b","at":"2000-03-01T00:00:00Z","datasets":["a/c"],"candidates":[{"node":"n","datasets":[
          {"coverage":1,"source":"divined","ageSeconds":3},{"coverage":1,"source":"measured","ageSeconds":1e300}]}]})");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->candidates.at(0).shares.at(0).observed, core::WallTime{});
  EXPECT_EQ(back->candidates.at(0).shares.at(1).observed, core::WallTime{});
}

TEST(AdminJson, ForeignAnswersAreErrors) {
  for (const char* text : {"", "[]", "{}", "{\"pod\":3}", "{\"pod\":\"a/b\",\"candidates\":3}", "<html>"}) {
    EXPECT_FALSE(read_explanation(text).has_value()) << text;
  }
}

TEST(AdminJson, DecisionsLeaveTheNamesOfRejectedNodesOut) {
  const auto told = sample();
  const auto json = nlohmann::json::parse(write_decisions({&told, 1}));
  ASSERT_EQ(json.at("decisions").size(), 1U);
  EXPECT_EQ(json["decisions"][0].at("winner"), "a");
  EXPECT_EQ(json["decisions"][0].at("rejected"), nlohmann::json::parse(R"([{"reason":"OUTRANKED","count":2}])"));
  EXPECT_FALSE(json["decisions"][0].contains("candidates"));
}

TEST(AdminJson, NamesThatAreNotUtf8AreReplaced) {
  auto told = sample();
  told.winner = "\xff";
  EXPECT_EQ(nlohmann::json::parse(write_explanation(told)).at("winner"), "\xEF\xBF\xBD");
}

TEST(AdminJson, Summary) {
  model::Snapshot snapshot;
  snapshot.version = 5;
  snapshot.ready = true;
  snapshot.gpus = 64;
  snapshot.gpus_used = 12;
  model::FreeGpus free{.whole = 5, .milli = 6000, .largest_request = 3, .fragmented_milli = 2000};
  free.by_island[2] = 2;
  free.by_island[3] = 3;
  const auto json = nlohmann::json::parse(write_summary({"0.1.0", &snapshot, 7ms, 3, "file cluster.json", true, free}));
  EXPECT_EQ(json.at("gpus"), nlohmann::json::parse(R"({"capacity":64,"used":12})"));
  EXPECT_EQ(json.at("freeGpus"), nlohmann::json::parse(R"({"whole":5,"milli":6000,"largestRequest":3,
                                                          "fragmentation":0.3333,"byIsland":{"2":2,"3":3}})"));
  EXPECT_EQ(json.at("snapshot"), nlohmann::json::parse(R"({"version":5,"ageMilliseconds":7})"));
  EXPECT_EQ(json.at("source"), nlohmann::json::parse(R"({"name":"file cluster.json","connected":true})"));
  EXPECT_EQ(json.at("decisions"), 3);
  EXPECT_EQ(json.at("policies"), 0);
}

}  // namespace
}  // namespace berth::codec
