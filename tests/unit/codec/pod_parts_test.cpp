// Shares and partitions of GPUs, read from a pod's containers.
#include <gtest/gtest.h>

#include <string>

#include "berth/codec/kubernetes_objects.h"

namespace berth::codec {
namespace {

using model::GpuParts;

struct Demand {
  std::int64_t gpus = 0;
  GpuParts parts;
  friend bool operator==(const Demand&, const Demand&) = default;
};
void PrintTo(const Demand& demand, std::ostream* out) {
  *out << demand.gpus << " whole, " << demand.parts.gpus << " of " << demand.parts.mib << " MiB "
       << demand.parts.memory_percent << " % " << demand.parts.milli << " milli"
       << (demand.parts.uneven ? ", uneven" : "");
  for (const auto& one : demand.parts.mig) *out << ", " << one.count << " " << one.profile;
}

// Of a pod with this inside of its spec.
Demand demand_of(const std::string& spec, const model::ResourceNames& names = {}) {
  std::string json = R"({"metadata":{"name":"p"},"spec":{)" + spec + "}}";
  const auto pod = ObjectReader(names).read<model::Pod>(json);
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().to_string());
  return pod ? Demand{pod->gpus, pod->parts} : Demand{};
}
std::string limited_container(const std::string& limits) { return R"({"resources":{"limits":{)" + limits + "}}}"; }
std::string containers(const std::string& one, const std::string& other = {}) {
  return R"("containers":[)" + limited_container(one) + (other.empty() ? "" : "," + limited_container(other)) + "]";
}

struct ShareCase {
  const char* limits;
  Demand want;
};
class ShareOf : public testing::TestWithParam<ShareCase> {};
INSTANTIATE_TEST_SUITE_P(
    Table, ShareOf,
    testing::Values(
        ShareCase{R"("nvidia.com/gpu-mem":"8000")", {0, {.gpus = 1, .mib = 8000}}},
        ShareCase{R"("aliyun.com/gpu-mem":8)", {0, {.gpus = 1, .mib = 8192}}},
        ShareCase{R"("berth.io/gpu-milli":250)", {0, {.gpus = 1, .milli = 250}}},
        ShareCase{R"("nvidia.com/gpu-mem":8000,"berth.io/gpu-milli":250)", {0, {.gpus = 1, .mib = 8000, .milli = 250}}},
        ShareCase{R"("nvidia.com/gpu":1,"nvidia.com/gpumem":3000)", {0, {.gpus = 1, .mib = 3000}}},
        ShareCase{R"("nvidia.com/gpu":2,"nvidia.com/gpumem":3000,"nvidia.com/gpucores":30)",
                  {0, {.gpus = 2, .mib = 3000, .milli = 300}}},
        ShareCase{R"("nvidia.com/gpu":1,"nvidia.com/gpumem-percentage":50)", {0, {.gpus = 1, .memory_percent = 50}}},
        // As HAMi has it (docs/config.md there): no memory said is all of it, no number of GPUs one.
        ShareCase{R"("nvidia.com/gpu":1,"nvidia.com/gpucores":30)",
                  {0, {.gpus = 1, .memory_percent = 100, .milli = 300}}},
        ShareCase{R"("nvidia.com/gpumem":3000)", {0, {.gpus = 1, .mib = 3000}}},
        ShareCase{R"("nvidia.com/gpu":1,"nvidia.com/gpumem":0)", {1, {}}},
        ShareCase{R"("nvidia.com/mig-1g.5gb":2,"nvidia.com/mig-3g.20gb":1)",
                  {0, {.mig = {{"1g.5gb", 2}, {"3g.20gb", 1}}}}},
        ShareCase{R"("nvidia.com/mig-1g.5gb":0)", {}}, ShareCase{R"("nvidia.com/mig-":1)", {}},
        ShareCase{R"("nvidia.com/gpu":2,"nvidia.com/mig-1g.5gb":1)", {2, {.mig = {{"1g.5gb", 1}}}}},
        ShareCase{R"("cpu":1,"memory":"4Gi","example.com/gpu-mem":4)", {}}));

TEST_P(ShareOf, OneContainer) { EXPECT_EQ(demand_of(containers(GetParam().limits)), GetParam().want); }

TEST(PodParts, ContainersAddUpOnOneGpu) {
  EXPECT_EQ(demand_of(containers(R"("nvidia.com/gpu-mem":1000)", R"("nvidia.com/gpu-mem":2000)")),
            (Demand{0, {.gpus = 1, .mib = 3000}}));
  EXPECT_EQ(demand_of(containers(R"("nvidia.com/gpu":1,"nvidia.com/gpumem":1000)",
                                 R"("nvidia.com/gpu":2,"nvidia.com/gpumem":1000)")),
            (Demand{0, {.gpus = 3, .mib = 1000}}));
  EXPECT_EQ(demand_of(containers(R"("nvidia.com/mig-1g.5gb":1)", R"("nvidia.com/mig-1g.5gb":1)")),
            (Demand{0, {.mig = {{"1g.5gb", 2}}}}));
}

TEST(PodParts, InitContainersRunBeforeAndSidecarsBeside) {
  const std::string init = R"("initContainers":[{"resources":{"limits":{"nvidia.com/gpu-mem":5000}}}],)";
  EXPECT_EQ(demand_of(init + containers(R"("nvidia.com/gpu-mem":3000)")), (Demand{0, {.gpus = 1, .mib = 5000}}));
  const std::string sidecar =
      R"("initContainers":[{"restartPolicy":"Always","resources":{"limits":{"nvidia.com/gpu-mem":5000}}}],)";
  EXPECT_EQ(demand_of(sidecar + containers(R"("nvidia.com/gpu-mem":3000)")), (Demand{0, {.gpus = 1, .mib = 8000}}));
  EXPECT_EQ(demand_of(R"("overhead":{"berth.io/gpu-milli":50},)" + containers(R"("berth.io/gpu-milli":100)")),
            (Demand{0, {.gpus = 1, .milli = 150}}));
}

TEST(PodParts, RequestsCountBeforeLimits) {
  EXPECT_EQ(demand_of(R"("containers":[{"resources":{"requests":{"berth.io/gpu-milli":100},
                         "limits":{"berth.io/gpu-milli":200,"nvidia.com/gpu-mem":10}}}])"),
            (Demand{0, {.gpus = 1, .mib = 10, .milli = 100}}));
}

// koordinator#2769: "an uneven split over cards is wanted (10 + 30)".
TEST(PodParts, SharesOfDifferentSizesAreUneven) {
  const auto uneven = demand_of(
      containers(R"("nvidia.com/gpu":1,"nvidia.com/gpumem":10000)", R"("nvidia.com/gpu":1,"nvidia.com/gpumem":30000)"));
  EXPECT_EQ(uneven, (Demand{0, {.gpus = 2, .mib = 30000, .uneven = true}}));
  EXPECT_TRUE(demand_of(containers(R"("nvidia.com/gpu":1)", R"("nvidia.com/gpu-mem":3000)")).parts.uneven)
      << "whole GPUs beside a share";
  EXPECT_TRUE(demand_of(containers(R"("aliyun.com/gpu-mem":1)", R"("nvidia.com/gpu":1,"nvidia.com/gpumem":1024)"))
                  .parts.uneven);
}

TEST(PodParts, NamesAreConfigured) {
  model::ResourceNames names;
  names.gpu = "acme.com/gpu";
  names.mig_prefix = "acme.com/part-";
  names.shares = {{"acme.com/bytes", model::ShareUnit::kBytes, false},
                  {"acme.com/tenth", model::ShareUnit::kPercent, true}};
  EXPECT_EQ(demand_of(containers(R"("acme.com/bytes":"1Gi","acme.com/part-x":1,"nvidia.com/gpu-mem":7)"), names),
            (Demand{0, {.gpus = 1, .mib = 1024, .mig = {{"x", 1}}}}));
  EXPECT_EQ(demand_of(containers(R"("acme.com/gpu":2,"acme.com/tenth":10)"), names),
            (Demand{0, {.gpus = 2, .memory_percent = 100, .milli = 100}}));
}

TEST(PodParts, HugeAmountsStayWithinWhatSumsCanBear) {
  const auto huge = demand_of(containers(R"("aliyun.com/gpu-mem":"9000000000000000000","berth.io/gpu-milli":"8E",
                                            "nvidia.com/mig-1g.5gb":"8E")"));
  EXPECT_EQ(huge.parts.mib, std::int64_t{1} << 40);
  EXPECT_EQ(huge.parts.milli, 1 << 20);
  EXPECT_EQ(huge.parts.mig.front().count, 1 << 20);
}

TEST(PodParts, AResourceGivenTwiceIsRefused) {
  std::string json = R"({"metadata":{"name":"p"},"spec":{"containers":[{"resources":{"limits":{
      "berth.io/gpu-milli":1,"berth.io/gpu-milli":2}}}]}})";
  const auto pod = ObjectReader({}).read<model::Pod>(json);
  ASSERT_FALSE(pod);
  EXPECT_NE(pod.error().to_string().find("spec.containers[0].resources.limits.berth.io/gpu-milli"), std::string::npos)
      << pod.error().to_string();
}

// Each is looked for among those before it, and on every node.
TEST(PodParts, MorePartsThanAnyMachineHasAreRefused) {
  const auto refused = [](const std::string& spec) {
    std::string json = R"({"metadata":{"name":"p"},"spec":{)" + spec + "}}";
    const auto pod = ObjectReader({}).read<model::Pod>(json);
    return pod ? "" : pod.error().to_string();
  };
  const auto each = [](int from, int to, const auto& write) {
    std::string list;
    for (int i = from; i < to; ++i) list += (i == from ? "" : ",") + write(std::to_string(i));
    return list;
  };
  const auto profile = [](const std::string& i) { return R"("nvidia.com/mig-)" + i + R"(":1)"; };
  const auto share = [](const std::string& i) { return limited_container(R"("nvidia.com/gpumem":1)" + i); };
  EXPECT_EQ(refused(containers(each(0, 64, profile))), "");
  EXPECT_EQ(refused(containers(each(0, 65, profile))),
            "spec.containers[0].resources.limits.nvidia.com/mig-64: is one more than 64 different parts of GPUs");
  EXPECT_EQ(refused(containers(each(0, 40, profile), each(40, 80, profile))),
            "spec.containers[1]: asks for more than 64 different parts of GPUs");
  EXPECT_EQ(refused(R"("containers":[)" + each(0, 64, share) + "]"), "");
  EXPECT_EQ(refused(R"("containers":[)" + each(0, 65, share) + "]"),
            "spec.containers[64]: asks for more than 64 different parts of GPUs");
}

}  // namespace
}  // namespace berth::codec
