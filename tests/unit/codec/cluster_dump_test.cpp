#include "berth/codec/cluster_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/codec/kubernetes_objects.h"

namespace berth::codec {
namespace {

using testing::ElementsAre;

// Keeps what it is told as text, in order.
class Recorder final : public model::UpdateSink {
 public:
  void push(model::ClusterUpdate update) override {
    std::visit([this](const auto& what) { told.push_back(text(what)); }, update);
  }
  std::vector<std::string> told;

 private:
  static std::string text(const model::AllNodes& all) { return "nodes " + std::to_string(all.nodes.size()); }
  static std::string text(const model::AllMachines& all) {
    return std::string(to_string(all.source)) + " " + std::to_string(all.machines.size());
  }
  static std::string text(const model::AllClaims& all) { return "claims " + std::to_string(all.claims.size()); }
  static std::string text(const model::AllDatasets& all) { return "datasets " + std::to_string(all.datasets.size()); }
  static std::string text(const model::AllRuntimes& all) {
    return all.type + " " + std::to_string(all.runtimes.size());
  }
  static std::string text(const model::AllDataLoads& all) { return "loads " + std::to_string(all.loads.size()); }
  static std::string text(const model::AllBudgets& all) { return "budgets " + std::to_string(all.budgets.size()); }
  static std::string text(const model::AllPolicies& all) { return "policies " + std::to_string(all.policies.size()); }
  static std::string text(const model::AllPods& all) { return "pods " + std::to_string(all.pods.size()); }
  static std::string text(const model::FluidServed& what) { return what.served ? "fluid" : "no fluid"; }
  static std::string text(const model::DataListed&) { return "listed"; }
  static std::string text(const auto&) { return "other"; }
};

ClusterDump read_dump(std::string json) {
  auto dump = ObjectReader({}).read_cluster_dump(json);
  EXPECT_TRUE(dump) << dump.error().to_string();
  return dump ? *std::move(dump) : ClusterDump{};
}

std::vector<std::string> told(const std::string& json) {
  Recorder recorder;
  push_dump(read_dump(json), recorder);
  return recorder.told;
}

// Every kind is told, also where there is none of it: a file that is read again may have lost some.
TEST(ClusterDump, IsToldAsCompleteListsPodsLast) {
  EXPECT_THAT(told(R"({"kind":"List","apiVersion":"v1","items":[
      {"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n"}},
      {"kind":"JindoRuntime","apiVersion":"data.fluid.io/v1alpha1","metadata":{"name":"d","namespace":"n"}},
      {"kind":"Dataset","apiVersion":"data.fluid.io/v1alpha1","metadata":{"name":"d","namespace":"n"}},
      {"kind":"DataLoad","apiVersion":"data.fluid.io/v1alpha1","metadata":{"name":"l","namespace":"n"}},
      {"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"d","namespace":"n"}},
      {"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}},
      {"kind":"Node","apiVersion":"v1","metadata":{"name":"b"}},
      {"kind":"Device","apiVersion":"scheduling.koordinator.sh/v1alpha1","metadata":{"name":"a"}},
      {"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"d","namespace":"n"}}]})"),
              ElementsAre("nodes 2", "koordinator 1", "node-resource-topology 0", "resource-slices 0", "claims 1",
                          "datasets 1", "alluxio 0", "juicefs 0", "jindo 1", "goosefs 0", "efc 0", "thin 0",
                          "vineyard 0", "loads 1", "budgets 1", "policies 0", "pods 1", "fluid", "listed"));
}

// Without a Dataset in it, a dump may be of nodes and pods alone: node labels are all that tells of datasets.
TEST(ClusterDump, FluidIsServedWhereADatasetWas) {
  const auto served = [](const std::string& json) { return read_dump(json).fluid_served; };
  EXPECT_FALSE(served(R"({"kind":"List","items":[{"kind":"Node","metadata":{"name":"a"}}]})"));
  EXPECT_FALSE(served(R"({"kind":"List","items":[{"kind":"Dataset","apiVersion":"example.com/v1"}]})"));
  EXPECT_TRUE(served(R"({"kind":"DatasetList","apiVersion":"data.fluid.io/v1alpha1","items":[]})"));
  EXPECT_TRUE(served(R"({"kind":"Dataset","apiVersion":"data.fluid.io/v1alpha1","metadata":{"name":"d"}})"));
}

TEST(ClusterDump, SingleObjectOfAnyKind) {
  EXPECT_EQ(read_dump(R"({"kind":"PersistentVolumeClaim","metadata":{"name":"d"}})").claims.size(), 1U);
  EXPECT_EQ(read_dump(R"({"kind":"ThinRuntime","metadata":{"name":"d"}})").runtimes.at(0).type, "thin");
  EXPECT_EQ(read_dump(R"({"kind":"AlluxioRuntimeList","items":[{"metadata":{"name":"d"}}]})").runtimes.at(0).type,
            "alluxio");
}

}  // namespace
}  // namespace berth::codec
