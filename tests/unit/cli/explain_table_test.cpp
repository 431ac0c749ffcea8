#include "berth/cli/explain_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ExplainTable, SaysWhyThereIsNoWinner) {
  model::Explanation told;
  told.pod = "team/train";
  told.gpus = 1;
  told.asked = 2;
  told.rejected.push_back({model::Reason::kDatasetNotCached, 2, {"a", "b"}});
  const std::string text = explain_table(told, 16);
  EXPECT_THAT(text, HasSubstr("pod       team/train   1 GPU\n"));
  EXPECT_THAT(text, HasSubstr("winner    none: no node of the request may take it\n"));
  EXPECT_THAT(text, HasSubstr("DATASET_NOT_CACHED    2: a, b\n"));
}

TEST(ExplainTable, PrintsTheBestAndCountsTheOthers) {
  model::Explanation told;
  told.pod = "team/train";
  told.candidate_count = 3;
  for (const char* node : {"a", "b", "c"}) told.candidates.emplace_back().node = node;
  const std::string text = explain_table(told, 2);
  EXPECT_THAT(text, HasSubstr("... and 1 more\n"));
  EXPECT_THAT(text, HasSubstr("   ?  -\n"));  // a node that the snapshot doesn't know
}

TEST(ExplainTable, ShowsGpusAndPartitions) {
  model::Explanation told;
  told.pod = "team/serve";
  told.candidate_count = 1;
  model::Candidate& node = told.candidates.emplace_back();
  node.node = "a";
  node.gpus_free = 2;
  node.gpu_set = model::mask({0, 1});
  node.mig_slots = {{6, 0, 4}, {7, 6, 1}};
  EXPECT_THAT(explain_table(told, 2), HasSubstr("  0,1 6:0:4,7:6:1\n"));
}

TEST(ExplainTable, SaysWhatFailuresCostANode) {
  model::Explanation told;
  told.candidate_count = 2;
  told.candidates.resize(2);
  told.candidates[0].node = "a";
  told.candidates[1].node = "b";
  told.candidates[1].parts.failures = 0.75;
  const std::string text = explain_table(told, 16);
  EXPECT_THAT(text, HasSubstr("b lost 75% of its total: pods could not run there lately\n"));
  EXPECT_THAT(text, Not(HasSubstr("a lost")));
}

TEST(ExplainTable, DataCarriesItsSourceAndItsAge) {
  using namespace std::chrono_literals;
  using model::CoverageSource;
  model::Explanation told;
  told.pod = "team/train";
  told.datasets = {"team/imagenet", "team/laion"};
  told.unknown_datasets = {"team/lion"};
  told.at = core::WallTime(10h);
  told.prioritized = true;
  told.candidate_count = 3;
  told.candidates.resize(3);
  model::Candidate& both = told.candidates[0];
  both.node = "both";
  both.gpus_free = 8;
  both.coverage = 0.874;
  both.load_seconds = 12.4;
  both.shares = {{0.9F, CoverageSource::kMeasured, core::WallTime(10h - 12s)},
                 {0.8F, CoverageSource::kUniform, core::WallTime(10h - 5min)}};
  model::Candidate& one = told.candidates[1];
  one.node = "one-of-them";
  one.gpus_free = 2;
  one.coverage = 0.5;
  one.load_seconds = 412;
  // A clock that is ahead of ours gives no negative age.
  one.shares = {{1, CoverageSource::kMeasured, core::WallTime(10h + 3s)}, {}};
  model::Candidate& none = told.candidates[2];
  none.node = "none";
  none.gpus_free = 2;
  none.load_seconds = 1000;
  none.shares.resize(2);
  const std::string text = explain_table(told, 16);
  EXPECT_THAT(text, HasSubstr("unknown   team/lion: no such dataset exists\n"));
  EXPECT_THAT(text,
              HasSubstr("NODE         SCORE  TOTAL  LOCALITY  TOPOLOGY  PACKING  DATA              LOAD  FREE  GPUS\n"
                        "both             0  0.000     0.000     0.000    0.000  87% uniform 5m     12s     8  -\n"
                        "one-of-them      0  0.000     0.000     0.000    0.000  50% measured 0s   412s     2  -\n"
                        "none             0  0.000     0.000     0.000    0.000  0%               1000s     2  -\n"));
}

TEST(ExplainTable, MembersOfAGangHaveTheirProximity) {
  model::Explanation told;
  told.pod = "team/train";
  told.gang = "team/train job";
  told.policy = "team/default";
  told.candidate_count = 1;
  told.candidates.emplace_back().node = "n";
  told.candidates[0].gpus_free = 8;
  told.candidates[0].parts.proximity = 0.6;
  const std::string text = explain_table(told, 16);
  EXPECT_THAT(text, HasSubstr("gang      team/train job\npolicy    team/default\n"));
  EXPECT_THAT(text, HasSubstr("PACKING  PROXIMITY  DATA   LOAD  FREE  GPUS\n"));
  EXPECT_THAT(text, HasSubstr("  0.000      0.600  -        0s     8  -\n"));
}

TEST(ExplainTable, ForeignTextDoesNotSteerTheTerminal) {
  model::Explanation told;
  told.pod = "team/train";
  told.error = "\x1b[2J\nspoofed";
  told.datasets = {"a\x07/b"};
  told.unknown_datasets = {"a/\x1b]0;b"};
  told.ignored_keys = {
      "berth.io/\xC2\x9B"
      "31m"};
  const std::string text = explain_table(told, 1);
  EXPECT_THAT(text, HasSubstr("winner    none: ?[2J?spoofed\n"));
  EXPECT_THAT(text, HasSubstr("datasets a?/b\n"));
  EXPECT_THAT(text, HasSubstr("unknown   a/?]0;b: "));
  EXPECT_THAT(text, HasSubstr("berth.io/?31m"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace berth::cli
