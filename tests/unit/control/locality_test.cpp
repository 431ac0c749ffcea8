#include "../src/control/locality.h"

#include <gtest/gtest.h>

namespace berth::control {
namespace {

HeldDataset held(float coverage, std::int64_t total_bytes) {
  return {{"ns", "data"}, {coverage, model::CoverageSource::kMeasured, {}}, total_bytes};
}

TEST(Locality, FullIsNinetyNinePerCentOfEach) {
  LocalityCounts counts;
  count(counts, std::vector{held(0.99F, 0), held(1, 0)});
  count(counts, std::vector{held(0.98F, 0), held(1, 0)});
  count(counts, std::vector{held(0, 0), held(1, 0)});
  count(counts, std::vector{held(0, 0), held(0, 0)});
  EXPECT_EQ(counts.full, 1U);
  EXPECT_EQ(counts.partial, 2U);
  EXPECT_EQ(counts.none, 1U);
}

TEST(Locality, BytesOfDatasetsOfUnknownSizeAreLeftOut) {
  LocalityCounts counts;
  count(counts, std::vector{held(0.25F, 1'000), held(1, 0)});
  EXPECT_EQ(counts.local_bytes, 250U);
  EXPECT_EQ(counts.remote_bytes, 750U);
}

TEST(Locality, PodWithoutDatasetsIsNotCounted) {
  LocalityCounts counts;
  count(counts, {});
  EXPECT_EQ(counts.full + counts.partial + counts.none, 0U);
}

}  // namespace
}  // namespace berth::control
