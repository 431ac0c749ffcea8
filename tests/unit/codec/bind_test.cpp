#include "berth/codec/bind.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::codec {
namespace {

using nlohmann::json;

const BindRequest kTrain{"team", "train-0", "0b9c1c7e-6f0f-4a53-9b1c-0a6d6b1f6a11", "gpu-7.example"};

// As kube-scheduler sends it: the structs have no JSON tags.
TEST(ReadBindRequest, TakesWhatKubeSchedulerSends) {
  std::string body = R"({"PodName":"train-0","PodNamespace":"team",)"
                     R"("PodUID":"0b9c1c7e-6f0f-4a53-9b1c-0a6d6b1f6a11","Node":"gpu-7.example"})";
  const auto request = read_bind_request(body);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(*request, kTrain);
}

TEST(ReadBindRequest, KeysAreMatchedWithoutRegardToCase) {
  std::string body = R"({"podname":"p","podNamespace":"ns","node":"a","PODUID":null,"more":[1]})";
  const auto request = read_bind_request(body);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(*request, (BindRequest{"ns", "p", "", "a"}));
}

struct RefusedBind {
  const char* body;
  const char* why;
};

class BadBindRequest : public testing::TestWithParam<RefusedBind> {};

INSTANTIATE_TEST_SUITE_P(
    Table, BadBindRequest,
    testing::Values(
        RefusedBind{R"([])", "the body must be an object, not a list"},
        RefusedBind{R"({"PodNamespace":"ns","Node":"a"})", "PodName: is missing or null"},
        RefusedBind{R"({"PodName":"p","PodNamespace":null,"Node":"a"})", "PodNamespace: is missing or null"},
        RefusedBind{R"({"PodName":"p","PodNamespace":"ns"})", "Node: is missing or null"},
        RefusedBind{R"({"PodName":"p","PodNamespace":"ns","Node":7})", "Node: must be a string, not a number"},
        RefusedBind{R"({"PodName":"p/../q","PodNamespace":"ns","Node":"a"})", "PodName: is not a name"},
        RefusedBind{R"({"PodName":"..","PodNamespace":"ns","Node":"a"})", "PodName: is not a name"},
        RefusedBind{R"({"PodName":"p","podname":"q","PodNamespace":"ns","Node":"a"})", "PodName: is given twice"}));

TEST_P(BadBindRequest, NamesTheField) {
  std::string body = GetParam().body;
  const auto request = read_bind_request(body);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().to_string(), GetParam().why);
}

TEST(WriteBindAnswer, HoldsTheError) {
  std::string out;
  write_bind_answer(out, "");
  EXPECT_EQ(out, R"({"Error":""})");
  out.clear();
  write_bind_answer(out, "no \"node\"");
  EXPECT_EQ(json::parse(out), json({{"Error", "no \"node\""}}));
}

TEST(WriteBinding, NamesPodNodeAndWhatTheApiServerIsToWrite) {
  EXPECT_EQ(json::parse(write_binding(kTrain, {{"berth.io/gpus", "0,1"}, {"x", "y"}})),
            json({{"apiVersion", "v1"},
                  {"kind", "Binding"},
                  {"metadata",
                   {{"namespace", "team"},
                    {"name", "train-0"},
                    {"uid", kTrain.uid},
                    {"annotations", {{"berth.io/gpus", "0,1"}, {"x", "y"}}}}},
                  {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", "gpu-7.example"}}}}));
}

TEST(WriteBinding, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(json::parse(write_binding({"ns", "p", "", "a"}, {}))["metadata"],
            json({{"namespace", "ns"}, {"name", "p"}}));
}

TEST(AssignedNode, IsReadFromTheConflict) {
  EXPECT_EQ(
      assigned_node("Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"a\""),
      "a");
  EXPECT_EQ(assigned_node("pod p is being deleted, cannot be assigned to a host"), "");
  EXPECT_EQ(assigned_node("pod p is already assigned to node \"a"), "");
}

}  // namespace
}  // namespace berth::codec
