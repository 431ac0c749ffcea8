#include "berth/codec/extender_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/codec/test_data.h"

namespace berth::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ExtenderRead : public testing::Test {
 protected:
  const ExtenderRequest& read(std::string body) {
    body_ = std::move(body);
    const auto request = reader_.read(body_, resources_);
    EXPECT_TRUE(request) << request.error().to_string();
    return request ? **request : failed_;
  }
  core::Error refused(std::string body) {
    body_ = std::move(body);
    const auto request = reader_.read(body_, resources_);
    EXPECT_FALSE(request) << body_.substr(0, 200);
    return request ? core::Error{} : request.error();
  }

  ExtenderReader reader_;
  model::ResourceNames resources_;
  std::string body_;
  ExtenderRequest failed_;
};

TEST_F(ExtenderRead, NamesOfARealCall) {
  const ExtenderRequest& request = read(test_data("extender_args_names.json"));
  EXPECT_FALSE(request.whole_nodes);
  EXPECT_EQ(request.names.size(), 20U);
  EXPECT_EQ(request.names.front(), "gpu-a800-001");
  EXPECT_EQ(request.names.back(), "gpu-a800-020");
  EXPECT_THAT(request.raw_nodes, IsEmpty());
  EXPECT_EQ(request.pod.ns, "research");
  EXPECT_EQ(request.pod.name, "resnet-train-0");
  EXPECT_EQ(request.pod.gpus, 4);
}

TEST_F(ExtenderRead, WholeNodesOfARealCall) {
  const std::string body = test_data("extender_args_nodes.json");
  const ExtenderRequest& request = read(body);
  EXPECT_TRUE(request.whole_nodes);
  EXPECT_THAT(request.names, ElementsAre("gpu-a800-017", "gpu-a800-018", "gpu-a800-019"));
  ASSERT_EQ(request.raw_nodes.size(), 3U);
  const nlohmann::json items = nlohmann::json::parse(body)["Nodes"]["items"];
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(nlohmann::json::parse(request.raw_nodes[i]), items[i]);
}

TEST_F(ExtenderRead, KeepsOrderAndRepeatsOfNames) {
  EXPECT_THAT(read(R"({"Pod":{},"NodeNames":["b","a","b"]})").names, ElementsAre("b", "a", "b"));
}

TEST_F(ExtenderRead, UnescapesNames) {
  EXPECT_THAT(read(R"({"Pod":{},"NodeNames":["n\u00fc\"1"]})").names, ElementsAre("n\u00fc\"1"));
}

// kube-scheduler sends Go's field names, clients of before 1.17 lower case.
TEST_F(ExtenderRead, MatchesKeysWithoutRegardToCase) {
  for (const char* body : {R"({"Pod":{"metadata":{"name":"p"}},"Nodes":null,"NodeNames":["a"]})",
                           R"({"pod":{"metadata":{"name":"p"}},"nodes":null,"nodenames":["a"]})",
                           R"({"POD":{"metadata":{"name":"p"}},"NODES":null,"NODENAMES":["a"]})",
                           R"({"nodeNames":["a"],"pod":{"metadata":{"name":"p"}}})"}) {
    const ExtenderRequest& request = read(body);
    EXPECT_EQ(request.pod.name, "p") << body;
    EXPECT_THAT(request.names, ElementsAre("a")) << body;
  }
  for (const char* body : {R"({"Pod":{},"Nodes":{"items":[{"metadata":{"name":"a"}}]}})",
                           R"({"pod":{},"nodes":{"Items":[{"metadata":{"name":"a"}}]},"nodenames":null})"}) {
    EXPECT_THAT(read(body).names, ElementsAre("a")) << body;
    EXPECT_THAT(read(body).raw_nodes, ElementsAre(R"({"metadata":{"name":"a"}})")) << body;
  }
}

TEST_F(ExtenderRead, KeysInsideThePodKeepTheirCase) {
  EXPECT_EQ(read(R"({"Pod":{"Metadata":{"name":"p"}},"NodeNames":[]})").pod.name, "");
}

TEST_F(ExtenderRead, NodeNamesWinOverNodes) {
  const ExtenderRequest& request =
      read(R"({"Pod":{},"Nodes":{"items":[{"metadata":{"name":"whole"}}]},"NodeNames":["named"]})");
  EXPECT_FALSE(request.whole_nodes);
  EXPECT_THAT(request.names, ElementsAre("named"));
}

TEST_F(ExtenderRead, NeitherFormMeansNoNodes) {
  for (const char* body : {R"({"Pod":{}})", R"({"Pod":{},"Nodes":null,"NodeNames":null})"}) {
    EXPECT_FALSE(read(body).whole_nodes);
    EXPECT_THAT(read(body).names, IsEmpty());
  }
  EXPECT_THAT(read(R"({"Pod":{},"NodeNames":[]})").names, IsEmpty());
}

TEST_F(ExtenderRead, EmptyListOfWholeNodes) {
  for (const char* body : {R"({"Pod":{},"Nodes":{}})", R"({"Pod":{},"Nodes":{"items":null}})",
                           R"({"Pod":{},"Nodes":{"metadata":{},"items":[]}})"}) {
    EXPECT_TRUE(read(body).whole_nodes) << body;
    EXPECT_THAT(read(body).raw_nodes, IsEmpty()) << body;
  }
}

TEST_F(ExtenderRead, NullIsAbsentWhereverItStands) {
  const ExtenderRequest& request = read(
      R"({"Nodes":null,"pod":null,"Pod":{"metadata":{"name":"p"}},"nodes":{"Items":null,"items":[{"metadata":{"name":"a"}}]}})");
  EXPECT_EQ(request.pod.name, "p");
  EXPECT_THAT(request.raw_nodes, ElementsAre(R"({"metadata":{"name":"a"}})"));
}

TEST_F(ExtenderRead, UnknownKeysAreIgnored) {
  EXPECT_THAT(read(R"({"apiVersion":"x","Pod":{"spec":{"new":[1]}},"More":{"a":[[]]},"NodeNames":["a"]})").names,
              ElementsAre("a"));
}

TEST_F(ExtenderRead, NodesAreCutWithoutTheSpaceAroundThem) {
  const ExtenderRequest& request = read(
      "{\"Pod\":{},\n \"Nodes\" : {\"items\": [ {\"metadata\": {\"name\":\"a\" } } ,\n\t{ \"x\":\"]},{\\\"\","
      "\"metadata\":{\"name\":\"b\"}}\r\n ] } }  \n");
  EXPECT_THAT(request.names, ElementsAre("a", "b"));
  EXPECT_THAT(request.raw_nodes,
              ElementsAre(R"({"metadata": {"name":"a" } })", R"({ "x":"]},{\"","metadata":{"name":"b"}})"));
}

TEST_F(ExtenderRead, BodyStaysAsItIs) {
  const std::string body = test_data("extender_args_nodes.json");
  read(body);
  EXPECT_EQ(body_, body);
}

TEST_F(ExtenderRead, PodIsRequired) {
  for (const char* body : {R"({"NodeNames":["a"]})", R"({"Pod":null,"NodeNames":["a"]})", "{}"}) {
    const core::Error error = refused(body);
    EXPECT_EQ(error.code, core::ErrorCode::kInvalid);
    EXPECT_EQ(error.to_string(), "Pod: is missing or null");
  }
}

struct RefusedRequest {
  const char* name;
  std::string body;
  const char* says;
};
class ExtenderRefuses : public testing::TestWithParam<RefusedRequest> {};

TEST_P(ExtenderRefuses, WithTheReason) {
  ExtenderReader reader;
  std::string body = GetParam().body;
  const auto request = reader.read(body, {});
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, core::ErrorCode::kInvalid);
  EXPECT_THAT(request.error().to_string(), HasSubstr(GetParam().says));

  // The reader is none the worse for it.
  std::string good = R"({"Pod":{},"NodeNames":["a"]})";
  const auto next = reader.read(good, {});
  ASSERT_TRUE(next);
  EXPECT_THAT((*next)->names, ElementsAre("a"));
}

const std::string kNode = R"({"metadata":{"name":"a"}})";
std::string with_nodes(const std::string& items) { return R"({"Pod":{},"Nodes":{"items":)" + items + "}}"; }
std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

INSTANTIATE_TEST_SUITE_P(
    Syntax, ExtenderRefuses,
    testing::Values(
        RefusedRequest{"empty", "", "empty"}, RefusedRequest{"blank", " \n ", "empty"},
        RefusedRequest{"truncated", R"({"Pod":{},"NodeNames":["a")", "malformed JSON"},
        RefusedRequest{"truncated_in_string", R"({"Pod":{},"NodeNames":["a)", "ends inside a string"},
        RefusedRequest{"text_behind", R"({"Pod":{},"NodeNames":[]} x)", "malformed JSON"},
        RefusedRequest{"two_bodies", R"({"Pod":{}}{"Pod":{}})", "malformed JSON"},
        RefusedRequest{"trailing_comma", R"({"Pod":{},})", "malformed JSON"},
        RefusedRequest{"single_quotes", "{'Pod':{}}", "malformed JSON"},
        // What nobody looks at is checked too.
        RefusedRequest{"bad_unread_value", R"({"Pod":{"spec":{"x":nul}},"NodeNames":["a"]})", "malformed JSON"},
        RefusedRequest{"bad_unread_number", R"({"Pod":{"spec":{"x":01}},"NodeNames":["a"]})", "bad number"},
        RefusedRequest{"bad_unread_escape", R"({"Pod":{"spec":{"x":"\q"}},"NodeNames":["a"]})", "bad escape"},
        RefusedRequest{"bad_inside_node", with_nodes(R"([{"metadata":{"name":"a"},"status":{"x":tru}}])"),
                       "malformed JSON"},
        RefusedRequest{"missing_comma_in_node", with_nodes(R"([{"metadata":{"name":"a"} "x":1}])"), "malformed JSON"},
        RefusedRequest{"control_character", "{\"Pod\":{},\"x\":\"a\nb\"}", "control character"},
        RefusedRequest{"not_utf8", "{\"Pod\":{},\"NodeNames\":[\"\xff\"]}", "not UTF-8"},
        RefusedRequest{"zero_byte", std::string("{\"Pod\":{}}\0", 11), "malformed JSON"},
        RefusedRequest{"nested_in_pod", R"({"Pod":{"x":)" + nested(100'000) + "}}", "nested too deeply"},
        RefusedRequest{"nested_unclosed", std::string(1'000'000, '['), "malformed JSON"},
        RefusedRequest{"nested_unclosed_objects",
                       [] {
                         std::string body;
                         for (int i = 0; i < 100'000; ++i) body += "{\"a\":";
                         return body;
                       }(),
                       "malformed JSON"}),
    kCaseName);

INSTANTIATE_TEST_SUITE_P(
    Types, ExtenderRefuses,
    testing::Values(
        RefusedRequest{"list_body", "[]", "the body must be an object, not a list"},
        RefusedRequest{"string_body", "\"Pod\"", "the body must be an object, not a string"},
        RefusedRequest{"null_body", "null", "the body must be an object, not null"},
        RefusedRequest{"pod_is_string", R"({"Pod":"p"})", "Pod: must be an object, not a string"},
        RefusedRequest{"pod_is_list", R"({"Pod":[]})", "Pod: must be an object, not a list"},
        RefusedRequest{"names_is_object", R"({"Pod":{},"NodeNames":{}})", "NodeNames: must be a list, not an object"},
        RefusedRequest{"names_is_string", R"({"Pod":{},"NodeNames":"a"})", "NodeNames: must be a list, not a string"},
        RefusedRequest{"number_as_name", R"({"Pod":{},"NodeNames":["a",7]})",
                       "NodeNames[1]: must be a string, not a number"},
        RefusedRequest{"null_as_name", R"({"Pod":{},"NodeNames":[null]})", "NodeNames[0]: must be a string, not null"},
        RefusedRequest{"empty_name", R"({"Pod":{},"NodeNames":["a",""]})", "NodeNames[1]: is empty"},
        RefusedRequest{"nodes_is_list", R"({"Pod":{},"Nodes":[]})", "Nodes: must be an object, not a list"},
        RefusedRequest{"items_is_object", with_nodes("{}"), "Nodes.items: must be a list, not an object"},
        RefusedRequest{"node_is_string", with_nodes("[" + kNode + ",\"b\"]"), "Nodes.items[1]: must be an object"},
        RefusedRequest{"node_is_null", with_nodes("[null]"), "Nodes.items[0]: must be an object, not null"},
        RefusedRequest{"node_without_metadata", with_nodes("[{}]"), "Nodes.items[0].metadata.name: is missing"},
        RefusedRequest{"node_without_name", with_nodes("[" + kNode + R"(,{"metadata":{}}])"),
                       "Nodes.items[1].metadata.name: is missing"},
        RefusedRequest{"node_with_empty_name", with_nodes(R"([{"metadata":{"name":""}}])"),
                       "metadata.name: is missing"},
        RefusedRequest{"node_with_number_name", with_nodes(R"([{"metadata":{"name":5}}])"),
                       "Nodes.items[0].metadata.name: must be a string, not a number"},
        RefusedRequest{"pod_field", R"({"Pod":{"spec":{"nodeName":{}}},"NodeNames":[]})",
                       "Pod.spec.nodeName: must be a string, not an object"},
        RefusedRequest{"pod_twice", R"({"Pod":{},"pod":{}})", "Pod: is given twice"},
        RefusedRequest{"names_twice", R"({"Pod":{},"NodeNames":["a"],"NodeNames":["b"]})", "NodeNames: is given twice"},
        RefusedRequest{"nodes_twice", R"({"Pod":{},"Nodes":{},"nodes":{}})", "Nodes: is given twice"},
        RefusedRequest{"items_twice", R"({"Pod":{},"Nodes":{"items":[],"Items":[]}})", "Nodes.items: is given twice"},
        RefusedRequest{"name_twice", with_nodes(R"([{"metadata":{"name":"a","name":"b"}}])"),
                       "Nodes.items[0].metadata.name: is given twice"}),
    kCaseName);

// Every prefix of a real call is refused: none of them is a call.
TEST_F(ExtenderRead, RefusesEveryTruncation) {
  std::string body = test_data("extender_args_names.json");
  body.resize(body.find_last_of('}') + 1);
  for (std::size_t length = 0; length < body.size(); ++length) refused(body.substr(0, length));
}

TEST_F(ExtenderRead, SaysTheByteOfAnError) {
  // 0123456789: the unexpected "]" is the tenth byte.
  EXPECT_EQ(refused(R"({"Pod":{}]})").where, "byte 10");
}

TEST_F(ExtenderRead, UnescapedKeysAreMatched) {
  EXPECT_THAT(read(R"({"\u0050od":{},"N\u006fdes":{"it\u0065ms":[{"metadata":{"n\u0061me":"a"}}]}})").raw_nodes,
              ElementsAre(R"({"metadata":{"n\u0061me":"a"}})"));
}

// 1,023 levels are what the parser takes; a Kubernetes object has a dozen.
TEST_F(ExtenderRead, TakesWhatIsNestedALittle) {
  EXPECT_THAT(read(R"({"Pod":{},"x":)" + nested(1000) + R"(,"NodeNames":["a"]})").names, ElementsAre("a"));
  const std::string deep = R"({"metadata":{"name":"a"},"x":)" + nested(1000) + "}";
  EXPECT_THAT(read(with_nodes("[" + deep + "]")).raw_nodes, ElementsAre(deep));
}

TEST_F(ExtenderRead, TenThousandNames) {
  nlohmann::json body = {{"Pod", nlohmann::json::object()}, {"NodeNames", nlohmann::json::array()}};
  for (int i = 0; i < 10'000; ++i) body["NodeNames"].push_back("unknown-" + std::to_string(i));
  const ExtenderRequest& request = read(body.dump());
  ASSERT_EQ(request.names.size(), 10'000U);
  EXPECT_EQ(request.names[9'999], "unknown-9999");
}

TEST_F(ExtenderRead, LargestBodyThenAnother) {
  const std::size_t size = std::size_t{128} << 20;
  std::string body = R"({"Pod":{},"Nodes":{"items":[)" + kNode;
  body.reserve(size + 1024);
  const std::string node = R"(,{"metadata":{"name":"b"},"status":{"filler":")" + std::string(1 << 20, 'x') + "\"}}";
  while (body.size() < size) body += node;
  const std::string whole = body + "]}}";
  EXPECT_EQ(read(whole).names.size(), 129U);
  EXPECT_EQ(refused(std::move(body)).code, core::ErrorCode::kInvalid);
  reader_.trim(1 << 20);
  EXPECT_THAT(read(R"({"Pod":{},"NodeNames":["a"]})").names, ElementsAre("a"));
}

TEST_F(ExtenderRead, ServesAgainAfterTrimmingNothing) {
  reader_.trim(0);
  EXPECT_THAT(read(R"({"Pod":{},"NodeNames":["a"]})").names, ElementsAre("a"));
  reader_.trim(1 << 20);
  EXPECT_THAT(read(R"({"Pod":{},"NodeNames":["b"]})").names, ElementsAre("b"));
}

TEST_F(ExtenderRead, NothingOfTheLastCallStays) {
  read(test_data("extender_args_nodes.json"));
  const ExtenderRequest& request = read(R"({"Pod":{},"NodeNames":["a"]})");
  EXPECT_EQ(request.pod, model::Pod{});
  EXPECT_FALSE(request.whole_nodes);
  EXPECT_THAT(request.raw_nodes, IsEmpty());
}

}  // namespace
}  // namespace berth::codec
