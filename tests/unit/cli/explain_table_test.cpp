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
  for (const char* node : {"a", "b", "c"}) told.candidates.push_back({node, {}, -1, 0, 0, 0});
  const std::string text = explain_table(told, 2);
  EXPECT_THAT(text, HasSubstr("... and 1 more\n"));
  EXPECT_THAT(text, HasSubstr("   ?  -\n"));  // a node that the snapshot doesn't know
}

TEST(ExplainTable, ForeignTextDoesNotSteerTheTerminal) {
  model::Explanation told;
  told.pod = "team/train";
  told.error = "\x1b[2J\nspoofed";
  told.datasets = {"a\x07/b"};
  told.ignored_keys = {
      "berth.io/\xC2\x9B"
      "31m"};
  const std::string text = explain_table(told, 1);
  EXPECT_THAT(text, HasSubstr("winner    none: ?[2J?spoofed\n"));
  EXPECT_THAT(text, HasSubstr("datasets a?/b\n"));
  EXPECT_THAT(text, HasSubstr("berth.io/?31m"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace berth::cli
