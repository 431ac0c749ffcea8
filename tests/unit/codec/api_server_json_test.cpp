// What is written here is read by the readers that take an API server's objects.
#include "berth/codec/api_server_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/codec/api_resources.h"
#include "berth/codec/bind.h"
#include "berth/codec/kubernetes_objects.h"

namespace berth::codec {
namespace {

const PodObject kPod{.ns = "n",
                     .name = "p",
                     .uid = "u",
                     .scheduler = "s",
                     .annotations = {{"berth.io/scheduling-policy", "t4 \"only\""}},
                     .created = {},
                     .cpu_milli = 1500,
                     .memory_mib = 64,
                     .gpus = 2,
                     .gpu_milli = 0,
                     .node = "a"};

TEST(ApiServerJson, NodeIsReadAsWritten) {
  std::string json = write_node({.name = "a",
                                 .cpu_milli = 1500,
                                 .memory_mib = 64,
                                 .gpus = 2,
                                 .gpu_milli = 2000,
                                 .gpu_product = "T4",
                                 .topology = R"({"version":1,"gpus":[{"healthy":true},{"healthy":true}]})"},
                                7);
  const auto node = ObjectReader({}).read<model::Node>(json);
  ASSERT_TRUE(node) << node.error().to_string();
  EXPECT_EQ(node->name, "a");
  EXPECT_EQ(node->gpus, 2);
  EXPECT_EQ(node->gpu_product, "T4");
  ASSERT_TRUE(node->agent);
  EXPECT_EQ(node->agent->gpus.size(), 2U);
}

TEST(ApiServerJson, EventOfAPodIsReadAsWritten) {
  std::string line = write_watch_event("MODIFIED", write_pod(kPod, 7));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto event = ObjectReader({}).read_event<model::Pod>(line);
  ASSERT_TRUE(event) << event.error().to_string();
  EXPECT_EQ(event->type, WatchEventType::kModified);
  EXPECT_EQ(event->resource_version, "7");
  EXPECT_EQ(event->object.ns, "n");
  EXPECT_EQ(event->object.uid, "u");
  EXPECT_EQ(event->object.node, "a");
  EXPECT_EQ(event->object.gpus, 2);
  EXPECT_EQ(event->object.phase, model::PodPhase::kRunning);
  EXPECT_EQ(event->object.annotations.front().value, "t4 \"only\"");
}

TEST(ApiServerJson, PodWithoutANodeWaits) {
  PodObject waits = kPod;
  waits.node.clear();
  waits.gpus = 0;
  waits.gpu_milli = 250;
  std::string json = write_pod(waits, 7);
  const auto pod = ObjectReader({}).read<model::Pod>(json);
  ASSERT_TRUE(pod) << pod.error().to_string();
  EXPECT_EQ(pod->phase, model::PodPhase::kPending);
  EXPECT_EQ(pod->gpus, 0);
  EXPECT_TRUE(pod->parts.any());
}

TEST(ApiServerJson, ListHasItsPage) {
  std::string json = write_list({"Pod", "v1", 9, "next"}, write_pod(kPod, 7) + "," + write_pod(kPod, 8));
  const auto page = ObjectReader({}).read_list<model::Pod>(json);
  ASSERT_TRUE(page) << page.error().to_string();
  EXPECT_EQ(page->items.size(), 2U);
  EXPECT_EQ(page->resource_version, "9");
  EXPECT_EQ(page->continue_token, "next");
}

TEST(ApiServerJson, PolicySaysTheProducts) {
  const std::vector<std::string> products = {"T4", "P100"};
  std::string json = write_product_policy("n", "p", products, 1);
  const auto policy = ObjectReader({}).read<model::SchedulingPolicy>(json);
  ASSERT_TRUE(policy) << policy.error().to_string();
  EXPECT_EQ(policy->terms.gpu_products, products);
  std::string kinds = write_resource_list("berth.io/v1alpha1", "schedulingpolicies", "SchedulingPolicy");
  EXPECT_THAT(*read_resource_names(kinds), testing::ElementsAre("schedulingpolicies"));
}

TEST(ApiServerJson, BindingIsReadAsBerthWritesIt) {
  const auto binding = read_binding(write_binding({"n", "p", "u", "a"}, {{"berth.io/gpus", "0,1"}}));
  ASSERT_TRUE(binding) << binding.error().to_string();
  EXPECT_EQ(binding->uid, "u");
  EXPECT_EQ(binding->node, "a");
  EXPECT_THAT(binding->annotations, testing::ElementsAre(model::Annotation{"berth.io/gpus", "0,1"}));
  EXPECT_FALSE(read_binding("{}"));
  EXPECT_FALSE(read_binding("["));
}

}  // namespace
}  // namespace berth::codec
