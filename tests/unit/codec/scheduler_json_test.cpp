// What is written here is read by the readers that take kube-scheduler's requests, and the other way round.
#include "berth/codec/scheduler_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "berth/codec/admin_json.h"
#include "berth/codec/extender_request.h"
#include "berth/codec/extender_response.h"

namespace berth::codec {
namespace {

using testing::ElementsAre;

TEST(SchedulerJson, ArgsAreReadAsWritten) {
  std::string body = write_extender_args(R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{}})",
                                         quoted("a") + "," + quoted("b"));
  ExtenderReader reader;
  const auto request = reader.read(body, {});
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ((*request)->pod.uid, "u");
  EXPECT_FALSE((*request)->whole_nodes);
  EXPECT_THAT((*request)->names, ElementsAre("a", "b"));
}

TEST(SchedulerJson, FilterAnswersAreRead) {
  std::string body;
  const std::array<std::string_view, 2> names = {"a", "b"};
  write_filter_answer(body, {false, names, {}, {}});
  EXPECT_THAT(read_filter_answer(body)->nodes, ElementsAre("a", "b"));
  EXPECT_EQ(read_filter_answer(body)->error, "");
  body.clear();
  write_filter_error(body, "not ready");
  EXPECT_THAT(read_filter_answer(body)->nodes, ElementsAre());
  EXPECT_EQ(read_filter_answer(body)->error, "not ready");
  EXPECT_FALSE(read_filter_answer("{"));
}

TEST(SchedulerJson, PrioritiesAreRead) {
  std::string body;
  const std::array<HostScore, 2> scores = {{{"a", 10}, {"b", 9}}};
  write_priorities(body, scores);
  const auto read = read_priorities(body);
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[1].node, "b");
  EXPECT_EQ((*read)[1].score, 9);
  EXPECT_TRUE(read_priorities("null")->empty());
  EXPECT_FALSE(read_priorities(R"([{"Host":"a"}])"));
}

TEST(SchedulerJson, BindIsReadAsWritten) {
  std::string body = write_bind_request({.ns = "n", .pod = "p", .uid = "u", .node = "a"});
  const auto request = read_bind_request(body);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(*request, (BindRequest{.ns = "n", .pod = "p", .uid = "u", .node = "a"}));
  std::string answer;
  write_bind_answer(answer, "no room");
  EXPECT_EQ(*read_bind_answer(answer), "no room");
}

TEST(SchedulerJson, SummaryHasItsCounts) {
  model::Snapshot snapshot;
  snapshot.version = 4;
  snapshot.pods = 3;
  snapshot.bound_pods = 2;
  const auto counts = read_summary(write_summary({.version = "1", .snapshot = &snapshot, .source = "file f"}));
  ASSERT_TRUE(counts) << counts.error().to_string();
  EXPECT_EQ(counts->snapshot, 4U);
  EXPECT_EQ(counts->pods, 3U);
  EXPECT_EQ(counts->bound_pods, 2U);
  EXPECT_EQ(counts->ledger_entries, 0U);
}

}  // namespace
}  // namespace berth::codec
