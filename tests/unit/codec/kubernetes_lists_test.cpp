#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/codec/kubernetes_objects.h"
#include "unit/codec/test_data.h"

namespace berth::codec {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

class Lists : public testing::Test {
 protected:
  ObjectReader reader_{model::ResourceNames{}};
};

TEST_F(Lists, PageOfNodes) {
  std::string json = R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1042","continue":"eyJ2",
    "remainingItemCount":4500},"items":[{"metadata":{"name":"a"},"status":{"allocatable":{"nvidia.com/gpu":"8"}}},
    {"metadata":{"name":"b"}}]})";
  const auto page = reader_.read_list<model::Node>(json);
  ASSERT_TRUE(page) << page.error().to_string();
  EXPECT_THAT(page->items, ElementsAre(Field(&model::Node::name, "a"), Field(&model::Node::name, "b")));
  EXPECT_EQ(page->items[0].gpus, 8);
  EXPECT_EQ(page->resource_version, "1042");
  EXPECT_EQ(page->continue_token, "eyJ2");
  EXPECT_EQ(page->broken, 0U);
}

TEST_F(Lists, LastPageHasNoToken) {
  for (std::string json : {R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]})",
                           R"({"kind":"PodList","metadata":{"resourceVersion":"7","continue":""},"items":null})"}) {
    const auto page = reader_.read_list<model::Pod>(json);
    ASSERT_TRUE(page) << page.error().to_string();
    EXPECT_EQ(page->continue_token, "");
    EXPECT_EQ(page->resource_version, "7");
    EXPECT_TRUE(page->items.empty());
  }
}

TEST_F(Lists, BrokenItemIsLeftOutAndNamed) {
  std::string json = R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[
    {"metadata":{"name":"good","namespace":"n"}},
    {"metadata":{"name":"bad","namespace":"n"},"spec":{"nodeName":9}},
    "no object", {"metadata":{"namespace":"n"}}, {"metadata":{"name":"last"}}]})";
  const auto page = reader_.read_list<model::Pod>(json);
  ASSERT_TRUE(page) << page.error().to_string();
  EXPECT_THAT(page->items, ElementsAre(Field(&model::Pod::name, "good"), Field(&model::Pod::name, "last")));
  EXPECT_EQ(page->broken, 3U);
  EXPECT_EQ(page->first_broken_why, "items[1] (Pod n/bad) spec.nodeName: must be a string, not a number");
}

// An answer of another kind, taken for an empty list, would make us forget the cluster.
TEST_F(Lists, OtherAnswersAreRefused) {
  for (std::string json : {R"({"kind":"Status","status":"Failure","message":"etcdserver: timeout","code":500})",
                           R"({"kind":"PodList","metadata":{},"items":[]})", R"({})", R"({"items":[]})",
                           R"({"kind":"NodeList","items":{}})", R"({"kind":"NodeList","metadata":"x","items":[]})",
                           "[]", "", R"({"kind":"NodeList","items":[)"}) {
    const auto page = reader_.read_list<model::Node>(json);
    ASSERT_FALSE(page) << json;
    EXPECT_EQ(page.error().code, core::ErrorCode::kInvalid);
  }
}

class Events : public Lists {};

TEST_F(Events, AddedModifiedDeleted) {
  struct Case {
    const char* name;
    WatchEventType want;
  };
  for (const Case& c : {Case{"ADDED", WatchEventType::kAdded}, Case{"MODIFIED", WatchEventType::kModified},
                        Case{"DELETED", WatchEventType::kDeleted}}) {
    std::string line = R"({"type":")" + std::string(c.name) +
                       R"(","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","uid":"u",)"
                       R"("resourceVersion":"88"},"spec":{"nodeName":"a"}}})";
    const auto event = reader_.read_event<model::Pod>(line);
    ASSERT_TRUE(event) << event.error().to_string();
    EXPECT_EQ(event->type, c.want);
    EXPECT_EQ(event->resource_version, "88");
    EXPECT_EQ(event->object.name, "p");
    EXPECT_EQ(event->object.node, "a");
  }
}

TEST_F(Events, NodeWithNewlineBehind) {
  std::string line = R"({"type":"ADDED","object":)" + test_data("node.json") + "}\n";
  const auto event = reader_.read_event<model::Node>(line);
  ASSERT_TRUE(event) << event.error().to_string();
  EXPECT_EQ(event->object.name, "gpu-a800-017");
  EXPECT_EQ(event->resource_version, "184467123");
}

// A bookmark's object has nothing but kind and resourceVersion.
TEST_F(Events, Bookmark) {
  std::string line =
      R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"12746",)"
      R"("creationTimestamp":null},"spec":{},"status":{}}})";
  const auto event = reader_.read_event<model::Node>(line);
  ASSERT_TRUE(event) << event.error().to_string();
  EXPECT_EQ(event->type, WatchEventType::kBookmark);
  EXPECT_EQ(event->resource_version, "12746");
  EXPECT_EQ(event->object, model::Node{});
}

TEST_F(Events, ErrorCarriesAStatus) {
  std::string line = R"j({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
    "message":"too old resource version: 1 (12746)","reason":"Expired","code":410}})j";
  const auto event = reader_.read_event<model::Pod>(line);
  ASSERT_TRUE(event) << event.error().to_string();
  EXPECT_EQ(event->type, WatchEventType::kError);
  EXPECT_EQ(event->status_code, 410);
  EXPECT_EQ(event->message, "too old resource version: 1 (12746)");
  EXPECT_EQ(event->resource_version, "");
}

TEST_F(Events, ErrorWithoutMessageGivesItsReason) {
  std::string line = R"({"type":"ERROR","object":{"reason":"InternalError"}})";
  const auto event = reader_.read_event<model::Pod>(line);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->status_code, 0);
  EXPECT_EQ(event->message, "InternalError");
}

struct WrongList {
  const char* name;
  const char* line;
  const char* says;
};
class WrongEvent : public testing::TestWithParam<WrongList> {};

TEST_P(WrongEvent, IsRefused) {
  std::string line = GetParam().line;
  const auto event = ObjectReader({}).read_event<model::Pod>(line);
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, core::ErrorCode::kInvalid);
  EXPECT_THAT(event.error().to_string(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, WrongEvent,
    testing::Values(WrongList{"empty", "", "empty"},
                    WrongList{"truncated", R"({"type":"ADDED","object":{"kin)", "malformed"},
                    WrongList{"no_type", R"({"object":{"metadata":{"name":"p"}}})", "type: \"\" is not a type"},
                    WrongList{"new_type", R"({"type":"RENAMED","object":{}})", "type: \"RENAMED\" is not a type"},
                    WrongList{"no_object", R"({"type":"ADDED"})", "object: is missing"},
                    WrongList{"null_object", R"({"type":"BOOKMARK","object":null})", "object: is missing"},
                    WrongList{"no_name", R"({"type":"DELETED","object":{}})", "object.metadata.name: is missing"},
                    WrongList{"other_kind", R"({"type":"ADDED","object":{"kind":"Node","metadata":{"name":"a"}}})",
                              "object.kind: is Node, not Pod"},
                    WrongList{"code", R"({"type":"ERROR","object":{"code":"410"}})",
                              "object.code: must be an HTTP status"},
                    WrongList{"field", R"({"type":"ADDED","object":{"metadata":{"name":"p"},"spec":{"nodeName":[]}}})",
                              "object.spec.nodeName: must be a string"}),
    kCaseName);

class Dumps : public Lists {
 protected:
  std::string wrong(std::string json) {
    const auto dump = reader_.read_cluster_dump(json);
    EXPECT_FALSE(dump);
    return dump ? "" : dump.error().to_string();
  }
};

TEST_F(Dumps, ListOfMixedKinds) {
  std::string json = R"({"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[
    {"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},
    {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n"}},
    {"apiVersion":"data.fluid.io/v1alpha1","kind":"Dataset","metadata":{"name":"imagenet","namespace":"n"}},
    {"apiVersion":"datasets.example.com/v1","kind":"Dataset","metadata":{"name":"other"}},
    {"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"imagenet","namespace":"n"}},
    {"apiVersion":"data.fluid.io/v1alpha1","kind":"JuiceFSRuntime","metadata":{"name":"imagenet","namespace":"n"}},
    {"apiVersion":"data.fluid.io/v1alpha1","kind":"DataLoad","metadata":{"name":"warm","namespace":"n"}},
    {"apiVersion":"data.fluid.io/v1alpha1","kind":"DataBackup","metadata":{"name":"b","namespace":"n"}},
    {"apiVersion":"longhorn.io/v1beta2","kind":"Node","metadata":{"name":"other"}},
    {"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}}]})";
  const auto dump = reader_.read_cluster_dump(json);
  ASSERT_TRUE(dump) << dump.error().to_string();
  EXPECT_THAT(dump->nodes, ElementsAre(Field(&model::Node::name, "a"), Field(&model::Node::name, "b")));
  EXPECT_THAT(dump->pods, ElementsAre(Field(&model::Pod::name, "p")));
  EXPECT_THAT(dump->datasets, ElementsAre(Field(&model::Dataset::ref, model::DatasetRef{"n", "imagenet"})));
  EXPECT_THAT(dump->claims, ElementsAre(Field(&model::Claim::name, "imagenet")));
  EXPECT_THAT(dump->runtimes, ElementsAre(Field(&model::CacheRuntime::type, "juicefs")));
  EXPECT_THAT(dump->data_loads, ElementsAre(Field(&model::DataLoad::name, "warm")));
  EXPECT_TRUE(dump->fluid_served);
  EXPECT_EQ(dump->skipped, 3U);
}

TEST_F(Dumps, TypedListsNeedNoKindPerItem) {
  std::string nodes = R"({"kind":"NodeList","items":[{"metadata":{"name":"a"}}]})";
  EXPECT_EQ(reader_.read_cluster_dump(nodes)->nodes.size(), 1U);
  std::string pods = R"({"kind":"PodList","items":[{"metadata":{"name":"p"}}]})";
  EXPECT_EQ(reader_.read_cluster_dump(pods)->pods.size(), 1U);
}

TEST_F(Dumps, SingleObjects) {
  std::string node = test_data("node.json");
  EXPECT_EQ(reader_.read_cluster_dump(node)->nodes.at(0).name, "gpu-a800-017");
  std::string pod = test_data("pod.json");
  EXPECT_EQ(reader_.read_cluster_dump(pod)->pods.at(0).name, "resnet-train-0");
}

TEST_F(Dumps, EmptyListIsAnEmptyCluster) {
  std::string json = R"({"apiVersion":"v1","kind":"List","items":[]})";
  const auto dump = reader_.read_cluster_dump(json);
  ASSERT_TRUE(dump);
  EXPECT_TRUE(dump->nodes.empty());
}

TEST_F(Dumps, BrokenItemIsNamedByKindNameAndField) {
  EXPECT_EQ(wrong(R"({"kind":"List","items":[{"kind":"Node","metadata":{"name":"a"}},
      {"kind":"Pod","metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"resources":5}]}}]})"),
            "items[1] (Pod n/p) spec.containers[0].resources: must be an object, not a number");
  EXPECT_EQ(wrong(R"({"kind":"List","items":[{"metadata":{"name":"a"}}]})"), "items[0].kind: is missing");
  EXPECT_EQ(wrong(R"({"kind":"List","items":[[]]})"), "items[0]: must be an object, not a list");
}

TEST_F(Dumps, WhatIsNoDumpIsRefused) {
  EXPECT_THAT(wrong("apiVersion: v1\nkind: List\n"), HasSubstr("kubectl get ... -o json"));
  EXPECT_THAT(wrong(""), HasSubstr("empty"));
  EXPECT_THAT(wrong("{}"), HasSubstr("kind: is missing"));
  EXPECT_THAT(wrong(R"({"kind":"DeploymentList","items":[]})"), HasSubstr("kind: is DeploymentList: a cluster file"));
  EXPECT_THAT(wrong(R"({"kind":"List","items":{}})"), HasSubstr("items: must be a list"));
  EXPECT_THAT(wrong(R"({"kind":"Node","metadata":{}})"), HasSubstr("metadata.name: is missing"));
}

}  // namespace
}  // namespace berth::codec
