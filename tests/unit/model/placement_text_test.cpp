#include "berth/model/placement_text.h"

#include <gtest/gtest.h>

namespace berth::model {
namespace {

struct GpuListCase {
  const char* text;
  std::optional<GpuMask> want;
};

class GpuList : public testing::TestWithParam<GpuListCase> {};

INSTANTIATE_TEST_SUITE_P(Table, GpuList,
                         testing::Values(GpuListCase{"0", mask({0})}, GpuListCase{"0,1,2,3", mask({0, 1, 2, 3})},
                                         GpuListCase{"7,2", mask({2, 7})}, GpuListCase{"15", mask({15})},
                                         GpuListCase{"", {}}, GpuListCase{",", {}}, GpuListCase{"1,", {}},
                                         GpuListCase{",1", {}}, GpuListCase{"1,1", {}}, GpuListCase{"16", {}},
                                         GpuListCase{"-1", {}}, GpuListCase{"-0", {}}, GpuListCase{"0, 1", {}},
                                         GpuListCase{"0-3", {}}, GpuListCase{"99999999999999999999", {}},
                                         GpuListCase{"GPU-0a1b", {}}));

TEST_P(GpuList, IsReadStrictly) { EXPECT_EQ(parse_gpu_list(GetParam().text), GetParam().want) << GetParam().text; }

TEST(GpuListText, IsAscending) {
  EXPECT_EQ(write_gpu_list(mask({15, 2, 7})), "2,7,15");
  EXPECT_EQ(write_gpu_list(0), "");
}

struct MigSlotsCase {
  const char* text;
  std::optional<std::vector<MigSlot>> want;
};

class MigSlots : public testing::TestWithParam<MigSlotsCase> {};

using Slots = std::vector<MigSlot>;
INSTANTIATE_TEST_SUITE_P(Table, MigSlots,
                         testing::Values(MigSlotsCase{"0:0:8", Slots{{0, 0, 8}}},
                                         MigSlotsCase{"15:6:1", Slots{{15, 6, 1}}},
                                         MigSlotsCase{"1:4:4,0:4:2,0:0:4", Slots{{0, 0, 4}, {0, 4, 2}, {1, 4, 4}}},
                                         MigSlotsCase{"", {}}, MigSlotsCase{"0:0", {}}, MigSlotsCase{"0:0:0", {}},
                                         MigSlotsCase{"0:4:5", {}}, MigSlotsCase{"0:8:1", {}},
                                         MigSlotsCase{"16:0:1", {}}, MigSlotsCase{"0:0:4,0:3:1", {}},
                                         MigSlotsCase{"0:0:1,", {}}, MigSlotsCase{"0:0:1;", {}},
                                         MigSlotsCase{"0:-1:1", {}}, MigSlotsCase{":0:1", {}}));

TEST_P(MigSlots, AreReadStrictlyAndSorted) {
  EXPECT_EQ(parse_mig_slots(GetParam().text), GetParam().want) << GetParam().text;
}

TEST(MigSlotsText, IsReadAgain) {
  EXPECT_EQ(write_mig_slots({{0, 0, 4}, {1, 6, 1}}), "0:0:4,1:6:1");
  EXPECT_EQ(parse_mig_slots("0:0:4,1:6:1"), (Slots{{0, 0, 4}, {1, 6, 1}}));
}

}  // namespace
}  // namespace berth::model
