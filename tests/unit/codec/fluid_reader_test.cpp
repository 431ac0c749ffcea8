#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/codec/kubernetes_objects.h"
#include "unit/codec/test_data.h"

namespace berth::codec {
namespace {

using model::DatasetRef;

template <class T>
T read_fluid(std::string json) {
  const auto object = ObjectReader({}).read<T>(json);
  EXPECT_TRUE(object) << object.error().to_string() << "\n" << json;
  return object.value_or(T{});
}

template <class T>
std::string wrong(std::string json) {
  const auto object = ObjectReader({}).read<T>(json);
  EXPECT_FALSE(object);
  return object ? "" : object.error().to_string();
}

// As Fluid 1.0.8 writes it for an AlluxioRuntime that has cached 1.35 of 2.97 GiB.
constexpr const char* kDataset = R"({"apiVersion":"data.fluid.io/v1alpha1","kind":"Dataset","metadata":
  {"name":"imagenet","namespace":"research","uid":"9a0c3b52-5d0e-4b8c-9f13-0c6a5be2d417","finalizers":
  ["fluid-dataset-controller-finalizer"]},"spec":{"mounts":[{"mountPoint":"s3://bucket/imagenet","name":"imagenet"}],
  "placement":"Exclusive"},"status":{"cacheStates":{"cacheCapacity":"4.00GiB","cacheHitRatio":"0.0%","cached":"1.35GiB",
  "cachedPercentage":"45.6%"},"conditions":[],"fileNum":"1281167","phase":"Bound","runtimes":[{"category":"Accelerate",
  "name":"imagenet","namespace":"research","type":"alluxio","masterReplicas":1}],"ufsTotal":"2.97GiB"}})";

TEST(DatasetReader, BoundDataset) {
  const auto dataset = read_fluid<model::Dataset>(kDataset);
  EXPECT_EQ(dataset.ref, (DatasetRef{"research", "imagenet"}));
  EXPECT_EQ(dataset.uid, "9a0c3b52-5d0e-4b8c-9f13-0c6a5be2d417");
  EXPECT_EQ(dataset.phase, "Bound");
  EXPECT_TRUE(dataset.bound());
  EXPECT_EQ(dataset.runtime, "alluxio");
  EXPECT_EQ(dataset.total_bytes, 3'189'013'217);  // 2.97 * 2^30 = 3,189,013,217.28
  EXPECT_DOUBLE_EQ(dataset.cached.value_or(-1), 0.456);
  EXPECT_EQ(dataset.physical, DatasetRef{});
}

TEST(DatasetReader, NewDatasetHasNoFigures) {
  for (const char* status : {"{}", "null", R"({"phase":"","conditions":[]})",
                             R"({"ufsTotal":null,"cacheStates":null,"runtimes":[],"phase":null})",
                             R"({"ufsTotal":"[Calculating]","cacheStates":{"cachedPercentage":""}})",
                             R"({"ufsTotal":"","cacheStates":{"cached":"N/A","cachedPercentage":"N/A"}})",
                             R"({"ufsTotal":"-","cacheStates":{"cachedPercentage":"-"}})"}) {
    const auto dataset =
        read_fluid<model::Dataset>(R"({"metadata":{"name":"d","namespace":"n"},"status":)" + std::string(status) + "}");
    model::Dataset want;
    want.ref = {"n", "d"};
    EXPECT_EQ(dataset, want) << status;
    EXPECT_FALSE(dataset.bound());
  }
}

model::Dataset dataset_with_states(const std::string& type, const std::string& states) {
  return read_fluid<model::Dataset>(R"({"metadata":{"name":"d","namespace":"n"},"status":{"runtimes":[{"type":")" +
                                    type + R"("}],"cacheStates":)" + states + "}}");
}

// Alluxio counts every copy of a block (fluid#539, Alluxio#18577); reports of 0 with a full cache are common
// (juicefs#4201, fluid#1827).
TEST(DatasetReader, CachedIsAtMostAllAndZeroIsUnknown) {
  EXPECT_EQ(dataset_with_states("alluxio", R"({"cachedPercentage":"127%"})").cached, 1.0);
  EXPECT_EQ(dataset_with_states("alluxio", R"({"cachedPercentage":"302.4%"})").cached, 1.0);
  EXPECT_EQ(dataset_with_states("jindo", R"({"cachedPercentage":"100.0%"})").cached, 1.0);
  EXPECT_EQ(dataset_with_states("juicefs", R"({"cachedPercentage":"0.0%"})").cached, std::nullopt);
  EXPECT_EQ(dataset_with_states("juicefs", R"({"cachedPercentage":"0%"})").cached, std::nullopt);
  EXPECT_EQ(dataset_with_states("juicefs", R"({"cached":"485.00MiB"})").cached, std::nullopt);
}

TEST(DatasetReader, VineyardTellsOfItsCapacityInstead) {
  EXPECT_EQ(dataset_with_states("vineyard", R"({"cachedPercentage":"80.0%"})").cached, std::nullopt);
}

DatasetRef reference(const std::string& mount_point) {
  return read_fluid<model::Dataset>(R"({"metadata":{"name":"d","namespace":"n"},"spec":{"mounts":[{"mountPoint":")" +
                                    mount_point + R"("}]}})")
      .physical;
}

TEST(DatasetReader, ReferenceDatasetNamesThePhysicalOne) {
  EXPECT_EQ(reference("dataset://research/imagenet"), (DatasetRef{"research", "imagenet"}));
  EXPECT_EQ(reference("dataset://research/imagenet/train/part-1"), (DatasetRef{"research", "imagenet"}));
  for (const char* other : {"s3://research/imagenet", "dataset://", "dataset://imagenet", "dataset:///imagenet",
                            "dataset://research/", "dataset://Research/x y", "juicefs:///", ""}) {
    EXPECT_EQ(reference(other), DatasetRef{}) << other;
  }
}

TEST(DatasetReader, WrongFieldIsNamed) {
  EXPECT_EQ(wrong<model::Dataset>(R"({"metadata":{"namespace":"n"}})"), "metadata.name: is missing");
  EXPECT_EQ(wrong<model::Dataset>(R"({"kind":"Pod","metadata":{"name":"d"}})"), "kind: is Pod, not Dataset");
  EXPECT_EQ(wrong<model::Dataset>(R"({"apiVersion":"example.com/v1","kind":"Dataset","metadata":{"name":"d"}})"),
            "apiVersion: is example.com/v1, not the group of Dataset");
  EXPECT_EQ(wrong<model::Dataset>(R"({"metadata":{"name":"d"},"spec":{"mounts":[{},{"mountPoint":4}]}})"),
            "spec.mounts[1].mountPoint: must be a string, not a number");
  EXPECT_EQ(wrong<model::Dataset>(R"({"metadata":{"name":"d"},"status":{"ufsTotal":7}})"),
            "status.ufsTotal: must be a string, not a number");
  EXPECT_EQ(wrong<model::Dataset>(R"({"metadata":{"name":"d"},"status":{"cacheStates":{"cachedPercentage":7}}})"),
            "status.cacheStates.cachedPercentage: must be a string, not a number");
}

DatasetRef behind_claim(const std::string& labels, const std::string& storage_class = "") {
  return read_fluid<model::Claim>(
             R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"pvc","namespace":"n",
      "labels":{)" +
             labels + R"(}},"spec":{"storageClassName":")" + storage_class + "\"}}")
      .dataset;
}

TEST(ClaimReader, FluidsOwnClaimHasTheNameOfItsDataset) {
  EXPECT_EQ(behind_claim(R"("fluid.io/s-n-pvc":"true","fluid.io/dataset-id":"n-pvc")", "fluid"),
            (DatasetRef{"n", "pvc"}));
  // With the dataset's UID, as Fluid 1.0.5 and later name what would be too long.
  EXPECT_EQ(behind_claim(R"("fluid.io/s-9a0c3b52-5d0e-4b8c-9f13-0c6a5be2d417":"true","fluid.io/managed-by":"fluid")"),
            (DatasetRef{"n", "pvc"}));
  EXPECT_EQ(behind_claim("", "fluid"), (DatasetRef{"n", "pvc"}));
}

TEST(ClaimReader, ReferenceDatasetLeadsToThePhysicalOne) {
  EXPECT_EQ(behind_claim(R"("fluid.io/s-n-pvc":"true","fluid.io/dataset.referring-name":"imagenet",
      "fluid.io/dataset.referring-namespace":"research")",
                         "fluid"),
            (DatasetRef{"research", "imagenet"}));
  EXPECT_EQ(behind_claim(R"("fluid.io/dataset.referring-name":"imagenet")"), (DatasetRef{"n", "imagenet"}));
}

TEST(ClaimReader, UsersClaimThatADatasetWraps) {
  EXPECT_EQ(behind_claim(R"("fluid.io/wrapped-by":"imagenet")", "ceph"), (DatasetRef{"n", "imagenet"}));
  EXPECT_EQ(behind_claim(R"("fluid.io/managed-by":"imagenet")", "ceph"), (DatasetRef{"n", "imagenet"}));
  EXPECT_EQ(behind_claim(R"("fluid.io/managed-by":"fluid")", "ceph"), DatasetRef{});
  EXPECT_EQ(behind_claim(R"("fluid.io/managed-by":"fluid","fluid.io/wrapped-by":"imagenet")", "ceph"),
            (DatasetRef{"n", "imagenet"}));
}

TEST(ClaimReader, OtherClaimsHaveNone) {
  EXPECT_EQ(behind_claim(R"("app":"train","fluid.io/dataset-num":"1")", "ceph"), DatasetRef{});
  EXPECT_EQ(behind_claim(R"("fluid.io/wrapped-by":"Not A Name")"), DatasetRef{});
  const auto bare = read_fluid<model::Claim>(R"({"metadata":{"name":"pvc","namespace":"n"}})");
  EXPECT_EQ(bare, (model::Claim{"n", "pvc", {}}));
}

model::CacheRuntime runtime(const std::string& kind, const std::string& spec) {
  return read_fluid<model::CacheRuntime>(R"({"apiVersion":"data.fluid.io/v1alpha1","kind":")" + kind +
                                         R"(","metadata":{"name":"d","namespace":"n"},"spec":)" + spec + "}");
}
std::int64_t worker_bytes(const std::string& levels) {
  return runtime("AlluxioRuntime", R"({"tieredstore":{"levels":)" + levels + "}}").worker_bytes;
}

TEST(RuntimeReader, TypeIsTheOneOfLabels) {
  struct Case {
    const char* kind;
    const char* type;
  };
  for (const Case& c : {Case{"AlluxioRuntime", "alluxio"}, Case{"JuiceFSRuntime", "juicefs"},
                        Case{"JindoRuntime", "jindo"}, Case{"GooseFSRuntime", "goosefs"}, Case{"EFCRuntime", "efc"},
                        Case{"ThinRuntime", "thin"}, Case{"VineyardRuntime", "vineyard"}}) {
    const auto read = runtime(c.kind, R"({"replicas":3})");
    EXPECT_EQ(read, (model::CacheRuntime{{"n", "d"}, c.type, 3, 0})) << c.kind;
  }
  EXPECT_EQ(runtime_kinds().size(), 7U);
}

constexpr std::int64_t kGi = std::int64_t{1} << 30;

TEST(RuntimeReader, QuotasOfAllLevelsAddUp) {
  EXPECT_EQ(worker_bytes(R"([{"mediumtype":"MEM","path":"/dev/shm","quota":"2Gi"}])"), 2 * kGi);
  EXPECT_EQ(worker_bytes(R"([{"quota":"2Gi"},{"quota":"1Ti"}])"), 1026 * kGi);
  // Of several paths, one quota each; it replaces quota.
  EXPECT_EQ(worker_bytes(R"([{"path":"/a,/b","quotaList":"3Gi, 5Gi","quota":"1Gi"}])"), 8 * kGi);
  EXPECT_EQ(worker_bytes(R"([{"quota":"2GB"},{"quota":"2GiB"}])"), 4 * kGi);
  EXPECT_EQ(worker_bytes(R"([{"quota":1073741824}])"), kGi);
  EXPECT_EQ(worker_bytes(R"([{"quota":"2G"}])"), 2'000'000'000);
}

// A bound that leaves a level out would be too low.
TEST(RuntimeReader, LevelWithoutQuotaLeavesTheSumUnknown) {
  for (const char* levels :
       {"[]", "null", R"([{"path":"/dev/shm"}])", R"([{"quota":"2Gi"},{"path":"/ssd"}])", R"([{"quota":"lots"}])",
        R"([{"quota":"0"}])", R"([{"quota":"-1Gi"}])", R"([{"quotaList":"2Gi,"},{}])", R"([{"quotaList":"2Gi,many"}])",
        R"([{"quota":"7Ei"},{"quota":"7Ei"}])"}) {
    EXPECT_EQ(worker_bytes(levels), 0) << levels;
  }
  EXPECT_EQ(runtime("ThinRuntime", "{}").worker_bytes, 0);
}

TEST(RuntimeReader, WrongFieldIsNamed) {
  EXPECT_EQ(wrong<model::CacheRuntime>(R"({"metadata":{"name":"d"}})"), "kind: is missing");
  EXPECT_EQ(wrong<model::CacheRuntime>(R"({"kind":"Dataset","metadata":{"name":"d"}})"),
            "kind: is Dataset, not Runtime");
  EXPECT_EQ(wrong<model::CacheRuntime>(R"({"kind":"ThinRuntime","metadata":{"name":"d"},"spec":{"replicas":-1}})"),
            "spec.replicas: must be from 0 to 2147483647");
  EXPECT_EQ(wrong<model::CacheRuntime>(R"({"kind":"ThinRuntime","metadata":{"name":"d"},"spec":{"replicas":1.5}})"),
            "spec.replicas: must be a whole number");
  EXPECT_EQ(wrong<model::CacheRuntime>(
                R"({"kind":"EFCRuntime","metadata":{"name":"d"},"spec":{"tieredstore":{"levels":[{"quota":[]}]}}})"),
            "spec.tieredstore.levels[0].quota: must be a quantity, not a list");
}

TEST(RuntimeReader, ListNamesTheKindOfItsItems) {
  ObjectReader reader({});
  std::string json = R"({"apiVersion":"data.fluid.io/v1alpha1","kind":"AlluxioRuntimeList","metadata":
    {"resourceVersion":"9"},"items":[{"metadata":{"name":"d","namespace":"n"}}]})";
  const auto page = reader.read_list<model::CacheRuntime>(json);
  ASSERT_TRUE(page) << page.error().to_string();
  ASSERT_EQ(page->items.size(), 1U);
  EXPECT_EQ(page->items[0].type, "alluxio");
  for (std::string other : {R"({"kind":"DatasetList","items":[]})", R"({"kind":"List","items":[]})",
                            R"({"apiVersion":"example.com/v1","kind":"AlluxioRuntimeList","items":[]})"}) {
    EXPECT_FALSE(reader.read_list<model::CacheRuntime>(other)) << other;
  }
}

model::DataLoad load(const std::string& rest) {
  return read_fluid<model::DataLoad>(R"({"metadata":{"name":"warm","namespace":"n"},)" + rest + "}");
}

TEST(DataLoadReader, RunsWhileItExecutes) {
  const auto running = load(R"("spec":{"dataset":{"name":"imagenet","namespace":"research"}},
      "status":{"phase":"Executing","conditions":[],"duration":"Unfinished"})");
  EXPECT_EQ(running, (model::DataLoad{"n", "warm", {"research", "imagenet"}, true}));
  for (const char* phase : {"", "Pending", "Complete", "Failed"}) {
    EXPECT_FALSE(load(R"("status":{"phase":")" + std::string(phase) + "\"}").running) << phase;
  }
}

TEST(DataLoadReader, DatasetIsInItsOwnNamespaceUnlessItSays) {
  EXPECT_EQ(load(R"("spec":{"dataset":{"name":"imagenet"}})").dataset, (DatasetRef{"n", "imagenet"}));
}

}  // namespace
}  // namespace berth::codec
