#include "../src/control/wake_group.h"

#include <gtest/gtest.h>

namespace berth::control {
namespace {

model::PodRequest wishes(std::vector<std::string> products, std::vector<model::WantedDataset> datasets) {
  model::PodRequest request;
  request.gpu_products = std::move(products);
  request.datasets = std::move(datasets);
  return request;
}

// Else a pod could choose names with which others are judged by what it asks for, and never woken.
TEST(GroupKey, NamesCantPassForOtherParts) {
  const auto key = [](const model::PodRequest& request) { return group_key(request, nullptr); };
  EXPECT_NE(key(wishes({"A", "B"}, {})), key(wishes({"A|B"}, {})));
  EXPECT_NE(key(wishes({"+", "ns", "name"}, {})), key(wishes({}, {{{"ns", "name"}, true}})));
  EXPECT_NE(key(wishes({"A"}, {{{"ns", "a|b"}, false}})), key(wishes({"A"}, {{{"ns|a", "b"}, false}})));
  EXPECT_EQ(key(wishes({"A"}, {{{"ns", "name"}, true}})), key(wishes({"A"}, {{{"ns", "name"}, true}})));
}

TEST(GroupKey, PodsThatWantOtherPartsOfGpusAreJudgedApart) {
  model::PodRequest small;
  small.parts = {.gpus = 1, .mib = 1000, .milli = 100, .mig = {{"1g.5gb", 1}}};
  for (const model::GpuParts& other :
       {model::GpuParts{.gpus = 2, .mib = 1000, .milli = 100, .mig = {{"1g.5gb", 1}}},
        model::GpuParts{.gpus = 1, .mib = 2000, .milli = 100, .mig = {{"1g.5gb", 1}}},
        model::GpuParts{.gpus = 1, .memory_percent = 50, .milli = 100, .mig = {{"1g.5gb", 1}}},
        model::GpuParts{.gpus = 1, .mib = 1000, .milli = 200, .mig = {{"1g.5gb", 1}}},
        model::GpuParts{.gpus = 1, .mib = 1000, .milli = 100, .mig = {{"2g.10gb", 1}}},
        model::GpuParts{.gpus = 1, .mib = 1000, .milli = 100, .mig = {{"1g.5gb", 2}}}}) {
    model::PodRequest request;
    request.parts = other;
    EXPECT_NE(group_key(request, nullptr), group_key(small, nullptr));
  }
}

}  // namespace
}  // namespace berth::control
