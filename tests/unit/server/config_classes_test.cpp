#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "berth/server/config.h"

namespace berth::server {
namespace {

using model::RequestShare;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(PackingClasses, AreReadByTheirKeys) {
  const auto config = parse_config(R"(
packing:
  mu: 4
  window: 500
  classes:
    - {gpus: 8, cpu: 96, share: 10}
    - {milli: 250, memory: 10Gi, cpu: 500m, share: 5, products: [b, a]}
    - {gpus: 2, mig: 1g.10gb, share: 0.5}
    - {cpu: 8, share: 1}
)",
                                   "berth.yaml");
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(config->placement.large_jobs, 4);
  EXPECT_EQ(config->mix.window, 500U);
  EXPECT_THAT(
      config->mix.declared,
      ElementsAre(
          RequestShare{{.cpu_milli = 96'000, .gpus = 8, .milli = 1000}, 0.1},
          RequestShare{{.cpu_milli = 500, .gpus = 1, .milli = 250, .mib = 10'240, .products = {"a", "b"}}, 0.05},
          RequestShare{{.gpus = 2, .mig = "1g.10gb"}, 0.005}, RequestShare{{.cpu_milli = 8'000}, 0.01}));
}

TEST(PackingClasses, SharesMayAddUpToAll) {
  std::string classes;
  for (int cpu = 1; cpu <= 20; ++cpu) classes += "    - {cpu: " + std::to_string(cpu) + ", share: 5}\n";
  const auto config = parse_config("packing:\n  classes:\n" + classes, "berth.yaml");
  EXPECT_TRUE(config) << config.error().to_string();
}

class BadClasses : public testing::TestWithParam<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(
    Table, BadClasses,
    testing::Values(std::pair("{gpus: 8}", "list of maps"), std::pair("[8]", "each is a map"),
                    std::pair("[{gpus: 8}]", "each has a share"), std::pair("[{gpus: 0, share: 1}]", "gpus is"),
                    std::pair("[{gpus: 17, share: 1}]", "gpus is at most 16"),
                    std::pair("[{milli: 1001, share: 1}]", "milli is 1 to 1000"),
                    std::pair("[{memory: much, share: 1}]", "memory is a size"),
                    std::pair("[{mig: half, share: 1}]", "mig is a profile"),
                    std::pair("[{mig: 1g.5gb, milli: 100, share: 1}]", "mig goes without"),
                    std::pair("[{cpu: -1, share: 1}]", "cpu is a quantity"),
                    std::pair("[{gpus: 1, products: a, share: 1}]", "products is a list"),
                    std::pair("[{cpu: 1, products: [a], share: 1}]", "one without GPUs has cpu alone"),
                    std::pair("[{share: 1}]", "one without GPUs has cpu alone"),
                    std::pair("[{gpus: 1, share: 0}]", "share is above 0"),
                    std::pair("[{gpus: 1, share: 101}]", "share is above 0 and at most 100"),
                    std::pair("[{gpu: 1, share: 1}]", "its keys are gpus"),
                    std::pair("[{gpus: 1, gpus: 2, share: 1}]", "each key is given once"),
                    std::pair("[{gpus: 1, share: 1}, {gpus: 1, share: 2}]", "each class once"),
                    std::pair("[{gpus: 1, share: 60}, {gpus: 2, share: 60}]", "add up to 100")));
TEST_P(BadClasses, AreRefusedWithWhatIsAllowed) {
  const auto config = parse_config("packing:\n  classes: " + std::string(GetParam().first) + "\n", "berth.yaml");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().to_string(), HasSubstr("berth.yaml:2: packing.classes must be"));
  EXPECT_THAT(config.error().to_string(), HasSubstr(GetParam().second));
}

}  // namespace
}  // namespace berth::server
