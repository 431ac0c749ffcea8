#include "berth/codec/preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/codec/test_data.h"

namespace berth::codec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PreemptionRequest read_preemption(std::string body) {
  const auto request = read_preemption_request(body, {});
  EXPECT_TRUE(request) << request.error().to_string();
  return request.value_or(PreemptionRequest{});
}

model::Victim by_uid(std::string uid) { return {std::move(uid), false, {}, 0, {}}; }

// As kube-scheduler v1.37 sends it with nodeCacheCapable: true.
TEST(PreemptionRead, UidsByNode) {
  const auto request =
      read_preemption(R"({"Pod":{"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{"priority":100,
      "containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"2"}}}]}},"NodeNameToVictims":null,
      "NodeNameToMetaVictims":{"n2":{"Pods":[{"UID":"a"},{"UID":"b"}],"NumPDBViolations":1},
      "n1":{"Pods":[{"UID":"c"}],"NumPDBViolations":0}}})");
  EXPECT_EQ(request.pod.name, "p");
  EXPECT_EQ(request.pod.priority, 100);
  EXPECT_EQ(request.pod.gpus, 2);
  EXPECT_THAT(request.candidates, ElementsAre(model::PreemptionCandidate{"n2", {by_uid("a"), by_uid("b")}, 1},
                                              model::PreemptionCandidate{"n1", {by_uid("c")}, 0}));
}

// With nodeCacheCapable: false.
TEST(PreemptionRead, WholePodsTellMore) {
  const auto request =
      read_preemption(R"({"Pod":{"metadata":{"name":"p"}},"NodeNameToMetaVictims":null,"NodeNameToVictims":{
      "n1":{"Pods":[{"metadata":{"uid":"a"},"spec":{"nodeName":"n9","priority":-5},
      "status":{"startTime":"1970-01-01T00:01:00Z"}}],"NumPDBViolations":0}}})");
  EXPECT_THAT(request.candidates, ElementsAre(model::PreemptionCandidate{
                                      "n1", {{"a", true, "n9", -5, core::WallTime(std::chrono::seconds(60))}}, 0}));
}

TEST(PreemptionRead, MatchesKeysWithoutRegardToCaseAndTakesNullForAbsent) {
  for (const char* body : {R"({"pod":{},"nodenametometavictims":{"N":{"pods":[{"uid":"a"}],"numpdbviolations":2}}})",
                           R"({"POD":{},"nodeNameToMetaVictims":{"N":{"PODS":[{"Uid":"a"}],"numPDBViolations":2}}})"}) {
    EXPECT_THAT(read_preemption(body).candidates, ElementsAre(model::PreemptionCandidate{"N", {by_uid("a")}, 2}))
        << body;
  }
  EXPECT_THAT(read_preemption(R"({"Pod":{},"NodeNameToMetaVictims":{"a":null,"b":{"Pods":null}}})").candidates,
              ElementsAre(model::PreemptionCandidate{"a", {}, 0}, model::PreemptionCandidate{"b", {}, 0}));
  EXPECT_THAT(read_preemption(R"({"Pod":{},"NodeNameToMetaVictims":null,"NodeNameToVictims":null})").candidates,
              IsEmpty());
  EXPECT_THAT(read_preemption(R"({"Pod":{}})").candidates, IsEmpty());
}

TEST(PreemptionRead, UidsWinOverWholePods) {
  EXPECT_THAT(read_preemption(R"({"Pod":{},"NodeNameToVictims":{"a":{}},"NodeNameToMetaVictims":{"b":{}}})").candidates,
              ElementsAre(model::PreemptionCandidate{"b", {}, 0}));
}

struct RefusedPreemption {
  const char* name;
  const char* body;
  const char* where;
};
class PreemptionRefused : public testing::TestWithParam<RefusedPreemption> {};
INSTANTIATE_TEST_SUITE_P(
    Bodies, PreemptionRefused,
    testing::Values(
        RefusedPreemption{"no_pod", R"({"NodeNameToMetaVictims":{}})", "Pod"},
        RefusedPreemption{"pod_null", R"({"Pod":null})", "Pod"},
        RefusedPreemption{"key_twice", R"({"Pod":{},"NodeNameToMetaVictims":{},"nodenametometavictims":{}})",
                          "NodeNameToMetaVictims"},
        RefusedPreemption{"node_twice", R"({"Pod":{},"NodeNameToMetaVictims":{"n":{},"n":{}}})",
                          "NodeNameToMetaVictims.n"},
        RefusedPreemption{"node_without_name", R"({"Pod":{},"NodeNameToMetaVictims":{"":{}}})",
                          "NodeNameToMetaVictims"},
        RefusedPreemption{"victims_no_object", R"({"Pod":{},"NodeNameToMetaVictims":{"n":[]}})",
                          "NodeNameToMetaVictims.n"},
        RefusedPreemption{"pods_no_list", R"({"Pod":{},"NodeNameToMetaVictims":{"n":{"Pods":{}}}})",
                          "NodeNameToMetaVictims.n.Pods"},
        RefusedPreemption{"uid_missing", R"({"Pod":{},"NodeNameToMetaVictims":{"n":{"Pods":[{"UID":"a"},{}]}}})",
                          "NodeNameToMetaVictims.n.Pods[1].UID"},
        RefusedPreemption{"uid_number", R"({"Pod":{},"NodeNameToMetaVictims":{"n":{"Pods":[{"UID":7}]}}})",
                          "NodeNameToMetaVictims.n.Pods[0].UID"},
        RefusedPreemption{"whole_without_uid", R"({"Pod":{},"NodeNameToVictims":{"n":{"Pods":[{"metadata":{}}]}}})",
                          "NodeNameToVictims.n.Pods[0].metadata.uid"},
        RefusedPreemption{"violations_negative", R"({"Pod":{},"NodeNameToMetaVictims":{"n":{"NumPDBViolations":-1}}})",
                          "NodeNameToMetaVictims.n.NumPDBViolations"},
        RefusedPreemption{"map_no_object", R"({"Pod":{},"NodeNameToMetaVictims":[]})", "NodeNameToMetaVictims"}),
    kCaseName);

TEST_P(PreemptionRefused, SaysWhere) {
  std::string body = GetParam().body;
  const auto request = read_preemption_request(body, {});
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().where, GetParam().where) << request.error().to_string();
}

TEST(PreemptionWrite, UidsByNode) {
  std::string out;
  write_preemption_answer(out, {});
  EXPECT_EQ(out, R"({"NodeNameToMetaVictims":{}})");
  out.clear();
  const std::vector<model::PreemptionCandidate> answer = {{"n\"1", {by_uid("a"), by_uid("b")}, 2},
                                                          {"n2", {by_uid("c")}, 0}};
  write_preemption_answer(out, answer);
  EXPECT_EQ(out, R"({"NodeNameToMetaVictims":{"n\"1":{"Pods":[{"UID":"a"},{"UID":"b"}],"NumPDBViolations":2},)"
                 R"("n2":{"Pods":[{"UID":"c"}],"NumPDBViolations":0}}})");
}

}  // namespace
}  // namespace berth::codec
