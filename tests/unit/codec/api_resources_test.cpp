#include "berth/codec/api_resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string error_of(std::string json) {
  const auto names = read_resource_names(json);
  return names ? "" : names.error().to_string();
}

// As kube-apiserver answers GET /apis/data.fluid.io/v1alpha1, shortened.
TEST(ApiResources, NamesWithoutSubresources) {
  std::string json =
      R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"data.fluid.io/v1alpha1","resources":[
    {"name":"datasets","singularName":"dataset","namespaced":true,"kind":"Dataset","verbs":["get","list","watch"]},
    {"name":"datasets/status","singularName":"","namespaced":true,"kind":"Dataset","verbs":["get","patch"]},
    {"name":"alluxioruntimes","singularName":"alluxioruntime","namespaced":true,"kind":"AlluxioRuntime","verbs":[]}]})";
  const auto names = read_resource_names(json);
  ASSERT_TRUE(names) << names.error().to_string();
  EXPECT_THAT(*names, ElementsAre("datasets", "alluxioruntimes"));
}

TEST(ApiResources, GroupWithoutResources) {
  for (std::string json : {R"({"kind":"APIResourceList","resources":[]})", R"({"kind":"APIResourceList"})",
                           R"({"kind":"APIResourceList","resources":null})"}) {
    const auto names = read_resource_names(json);
    ASSERT_TRUE(names) << json;
    EXPECT_THAT(*names, IsEmpty());
  }
}

TEST(ApiResources, AnythingElseIsAnErrorThatNamesThePlace) {
  EXPECT_EQ(error_of("[]"), "must be an object, not a list");
  EXPECT_EQ(error_of(R"({"kind":"Status","message":"no"})"), "kind: must be APIResourceList");
  EXPECT_EQ(error_of("{}"), "kind: must be APIResourceList");
  EXPECT_EQ(error_of(R"({"kind":"APIResourceList","resources":{}})"), "resources: must be a list, not an object");
  EXPECT_EQ(error_of(R"({"kind":"APIResourceList","resources":[7]})"), "resources[0]: must be an object, not a number");
  EXPECT_EQ(error_of(R"({"kind":"APIResourceList","resources":[{"name":"a"},{}]})"), "resources[1].name: is missing");
  EXPECT_NE(error_of("<html></html>"), "");
  EXPECT_NE(error_of(""), "");
}

}  // namespace
}  // namespace berth::codec
