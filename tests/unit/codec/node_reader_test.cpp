#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "berth/codec/kubernetes_objects.h"
#include "unit/codec/test_data.h"

namespace berth::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

core::Result<model::Node> read_node(std::string json, model::ResourceNames resources = {}) {
  return ObjectReader(std::move(resources)).read<model::Node>(json);
}

model::Node node_with_labels(const std::string& labels) {
  const auto node = read_node(R"({"metadata":{"name":"a","labels":{)" + labels + "}}}");
  EXPECT_TRUE(node) << node.error().to_string();
  return node.value_or(model::Node{});
}

TEST(NodeReader, RealNode) {
  const auto node = read_node(test_data("node.json"));
  ASSERT_TRUE(node) << node.error().to_string();
  EXPECT_EQ(node->name, "gpu-a800-017");
  EXPECT_EQ(node->uid, "3a1f4c52-7d0e-4b8c-9f13-0c6a5be2d417");
  EXPECT_EQ(node->gpus, 8);
  EXPECT_EQ(node->gpu_product, "NVIDIA-A800-SXM4-80GB");
  EXPECT_EQ(node->gpu_memory_mib, 81920);
  EXPECT_THAT(node->fluid_labels, ElementsAre("fluid.io/s-alluxio-research-imagenet", "fluid.io/s-research-imagenet"));
}

TEST(NodeReader, AbsentAndNullFieldsAreEmpty) {
  for (const char* json :
       {R"({"metadata":{"name":"a"}})",
        R"({"metadata":{"name":"a","uid":null,"labels":null},"spec":null,"status":null})",
        R"({"metadata":{"name":"a"},"status":{"allocatable":null,"capacity":{"nvidia.com/gpu":"8"}}})",
        R"({"metadata":{"name":"a"},"status":{"allocatable":{"odd":"8"}}})"}) {
    const auto node = read_node(json);
    ASSERT_TRUE(node) << node.error().to_string();
    model::Node want;
    want.name = "a";
    EXPECT_EQ(*node, want);
  }
}

TEST(NodeReader, ResourceNameIsConfigurable) {
  const std::string json =
      R"({"metadata":{"name":"a"},"status":{"allocatable":{"nvidia.com/gpu":"8","example.com/npu":"16"}}})";
  EXPECT_EQ(read_node(json)->gpus, 8);
  EXPECT_EQ(read_node(json, {.gpu = "example.com/npu"})->gpus, 16);
}

TEST(NodeReader, AllocatableIsCountedAsKubeSchedulerDoes) {
  const auto node = read_node(R"({"metadata":{"name":"a"},"status":{"allocatable":{"cpu":"95500m","memory":"1056Gi",
    "ephemeral-storage":"1k","pods":"110","nvidia.com/gpu":"8","hugepages-1Gi":"0","rdma/hca":63},
    "capacity":{"cpu":"96"}}})");
  ASSERT_TRUE(node) << node.error().to_string();
  EXPECT_EQ(node->allocatable, (model::Resources{{95'500, std::int64_t{1056} << 30, 1000, 110},
                                                 {{"nvidia.com/gpu", 8}, {"rdma/hca", 63}}}));
}

TEST(NodeReader, AllocatableMayBeANumber) {
  EXPECT_EQ(read_node(R"({"metadata":{"name":"a"},"status":{"allocatable":{"nvidia.com/gpu":8}}})")->gpus, 8);
}

TEST(NodeReader, MemoryThatIsNoNumberIsUnknown) {
  struct Case {
    const char* value;
    std::int64_t want;
  };
  for (const Case& c :
       {Case{"81559", 81559}, Case{"", 0}, Case{"80Gi", 0}, Case{"lots", 0}, Case{"-1", 0}, Case{" 81559", 0},
        Case{"99999999999999999999", 0}, Case{"9223372036854775807", std::int64_t{1} << 40}}) {
    EXPECT_EQ(node_with_labels(R"("nvidia.com/gpu.memory":")" + std::string(c.value) + "\"").gpu_memory_mib, c.want)
        << c.value;
  }
}

// "f" is a client of the dataset, "s" a worker. "h" in "fluid.io/s-h-..." marks the labels that hold the size of a
// quota; only "true" says that a worker is here. A dataset of the namespace "h" has labels that look the same but for
// the value.
TEST(NodeReader, DatasetLabelsAreThoseThatSayTrue) {
  EXPECT_THAT(
      node_with_labels(R"("fluid.io/s-ml-b":"true","fluid.io/s-ml-a":"true","fluid.io/s-h-alluxio-m-ml-a":"2GiB",
      "fluid.io/s-ml-c":"false","fluid.io/s-h-x":"true","fluid.io/f-ml-a":"true","fluid.io/dataset-num":"2",
      "fluid.io/s-ml-d":true)")
          .fluid_labels,
      ElementsAre("fluid.io/f-ml-a", "fluid.io/s-h-x", "fluid.io/s-ml-a", "fluid.io/s-ml-b"));
}

// Fluid 1.0.5 and later: a key that would be too long has the dataset's UID.
TEST(NodeReader, DatasetLabelsMayNameAUid) {
  EXPECT_THAT(node_with_labels(R"("fluid.io/s-9a0c3b52-5d0e-4b8c-9f13-0c6a5be2d417":"true",
      "fluid.io/f-9a0c3b52-5d0e-4b8c-9f13-0c6a5be2d417":"true")")
                  .fluid_labels,
              ElementsAre("fluid.io/f-9a0c3b52-5d0e-4b8c-9f13-0c6a5be2d417",
                          "fluid.io/s-9a0c3b52-5d0e-4b8c-9f13-0c6a5be2d417"));
}

TEST(NodeReader, PlacesAndSlurmName) {
  const std::string json = R"({"metadata":{"name":"a","labels":{"topology.kubernetes.io/rack":"r1",
      "topology.kubernetes.io/zone":"z1","example.com/row":"r9","berth.io/slurm-node":"gpu17"}}})";
  const auto node = read_node(json);
  ASSERT_TRUE(node) << node.error().to_string();
  EXPECT_EQ(node->rack, "r1");
  EXPECT_EQ(node->zone, "z1");
  EXPECT_EQ(node->slurm_name, "gpu17");
  EXPECT_EQ(read_node(json, {.rack_label = "example.com/row"})->rack, "r9");
  EXPECT_EQ(read_node(json, {.rack_label = "example.com/none"})->rack, "");
  // A small cluster may have one label for both.
  const auto both = read_node(json, {.rack_label = "example.com/row", .zone_label = "example.com/row"});
  EXPECT_EQ(both->rack, "r9");
  EXPECT_EQ(both->zone, "r9");
}

std::vector<model::NodeImage> images(const std::string& list) {
  const auto node = read_node(R"({"metadata":{"name":"a"},"status":{"images":)" + list + "}}");
  EXPECT_TRUE(node) << node.error().to_string();
  return node.value_or(model::Node{}).images;
}

// kubelet lists an image under its digest and its tags.
TEST(NodeReader, ImagesByEachOfTheirNames) {
  const auto found = images(R"([{"names":["registry.example.com/train@sha256:0af3","registry.example.com/train:v1"],
      "sizeBytes":8000000000},{"names":["docker.io/library/busybox:latest"],"sizeBytes":4000000},
      {"names":["busybox"],"sizeBytes":5000000}])");
  EXPECT_THAT(found, testing::UnorderedElementsAre(
                         model::NodeImage{model::image_id("registry.example.com/train@sha256:0af3"), 8'000'000'000},
                         model::NodeImage{model::image_id("registry.example.com/train:v1"), 8'000'000'000},
                         model::NodeImage{model::image_id("busybox:latest"), 5'000'000}));
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.id < b.id; }));
}

// Images only help to choose among nodes that fit.
TEST(NodeReader, BrokenImagesAreLeftOut) {
  EXPECT_THAT(images(R"([7,{},{"names":null,"sizeBytes":5},{"names":["a"]},{"names":["a"],"sizeBytes":-1},
      {"names":["a"],"sizeBytes":"5"},{"names":["",7,"good:v1"],"sizeBytes":5}])"),
              ElementsAre(model::NodeImage{model::image_id("good:v1"), 5}));
  EXPECT_THAT(images("null"), testing::IsEmpty());
  EXPECT_THAT(images(R"("none")"), testing::IsEmpty());
}

TEST(NodeReader, LevelsAreTheValuesOfTheConfiguredLabels) {
  const std::string json = R"({"metadata":{"name":"a","labels":{"topology.kubernetes.io/zone":"z1",
      "nvidia.com/gpu.clique":"c.1","example.com/row":"r9"}}})";
  EXPECT_THAT(read_node(json)->levels, ElementsAre("c.1", "", "z1"));
  EXPECT_THAT(read_node(json, {.levels = {"example.com/row"}})->levels, ElementsAre("r9"));
  // One without any of them takes no memory for them.
  EXPECT_THAT(read_node(json, {.levels = {"example.com/none"}})->levels, testing::IsEmpty());
}

struct WrongNodeCase {
  const char* name;
  const char* json;
  const char* says;
};
class WrongNode : public testing::TestWithParam<WrongNodeCase> {};

TEST_P(WrongNode, NamesTheField) {
  const auto node = read_node(GetParam().json);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, core::ErrorCode::kInvalid);
  EXPECT_THAT(node.error().to_string(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, WrongNode,
    testing::Values(
        WrongNodeCase{"no_name", R"({"metadata":{"uid":"u"}})", "metadata.name: is missing"},
        WrongNodeCase{"no_metadata", R"({"kind":"Node"})", "metadata.name: is missing"},
        WrongNodeCase{"other_kind", R"({"kind":"Status","message":"no"})", "kind: is Status, not Node"},
        WrongNodeCase{"name", R"({"metadata":{"name":1}})", "metadata.name: must be a string, not a number"},
        WrongNodeCase{"labels", R"({"metadata":{"name":"a","labels":[]}})",
                      "metadata.labels: must be an object, not a list"},
        WrongNodeCase{"product", R"({"metadata":{"name":"a","labels":{"nvidia.com/gpu.product":8}}})",
                      "metadata.labels.nvidia.com/gpu.product: must be a string"},
        WrongNodeCase{"status", R"({"metadata":{"name":"a"},"status":"ok"})",
                      "status: must be an object, not a string"},
        WrongNodeCase{"allocatable", R"({"metadata":{"name":"a"},"status":{"allocatable":8}})",
                      "status.allocatable: must be"},
        WrongNodeCase{"gpus", R"({"metadata":{"name":"a"},"status":{"allocatable":{"nvidia.com/gpu":"8 GPUs"}}})",
                      "status.allocatable.nvidia.com/gpu: \"8 GPUs\" is not a quantity"},
        WrongNodeCase{"empty", "", "empty"}),
    kCaseName);

}  // namespace
}  // namespace berth::codec
