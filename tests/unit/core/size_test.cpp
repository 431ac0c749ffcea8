#include <gtest/gtest.h>

#include "berth/core/quantity.h"

namespace berth::core {
namespace {

struct Size {
  const char* text;
  std::optional<std::int64_t> want;
};
class SizeText : public testing::TestWithParam<Size> {};

TEST_P(SizeText, InBytes) { EXPECT_EQ(parse_size(GetParam().text), GetParam().want) << GetParam().text; }

// Fluid's own texts, and those of older versions and of people.
INSTANTIATE_TEST_SUITE_P(
    Table, SizeText,
    testing::Values(Size{"2.97GiB", 3'189'013'217},  // 3,189,013,217.28
                    Size{"443.5MiB", 465'043'456}, Size{"4.00KiB", 4096}, Size{"0.00B", 0},
                    Size{"10 g", 10'737'418'240}, Size{"10GB", 10'737'418'240}, Size{"1TiB", 1'099'511'627'776},
                    Size{"512", 512}, Size{" 1 KB ", 1024}, Size{"1.5k", 1536}, Size{"2pib", 2'251'799'813'685'248},
                    Size{"1EiB", 1'152'921'504'606'846'976}, Size{"8EiB", std::nullopt}, Size{"99999PiB", std::nullopt},
                    Size{"", std::nullopt}, Size{"[Calculating]", std::nullopt}, Size{"N/A", std::nullopt},
                    Size{"-", std::nullopt}, Size{"-1GiB", std::nullopt}, Size{"GiB", std::nullopt},
                    Size{"1GiBs", std::nullopt}, Size{"1iB", std::nullopt}, Size{"1.2.3GiB", std::nullopt},
                    Size{"1e3", std::nullopt}, Size{"inf", std::nullopt}, Size{"nanGiB", std::nullopt},
                    Size{"0x10", std::nullopt}));

struct Percentage {
  const char* text;
  std::optional<double> want;
};
class PercentageText : public testing::TestWithParam<Percentage> {};

TEST_P(PercentageText, AsFraction) {
  const auto got = parse_percentage(GetParam().text);
  ASSERT_EQ(got.has_value(), GetParam().want.has_value()) << GetParam().text;
  if (got) {
    EXPECT_DOUBLE_EQ(*got, *GetParam().want) << GetParam().text;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, PercentageText,
                         testing::Values(Percentage{"45.6%", 0.456}, Percentage{"0%", 0.0}, Percentage{"0.0%", 0.0},
                                         Percentage{"100.0%", 1.0}, Percentage{"127%", 1.0}, Percentage{"302.4%", 1.0},
                                         Percentage{" 5 % ", 0.05}, Percentage{"", std::nullopt},
                                         Percentage{"N/A", std::nullopt}, Percentage{"-", std::nullopt},
                                         Percentage{"%", std::nullopt}, Percentage{"45.6", std::nullopt},
                                         Percentage{"-5%", std::nullopt}, Percentage{"nan%", std::nullopt},
                                         Percentage{"1e2%", std::nullopt}, Percentage{"5%%", std::nullopt},
                                         Percentage{"[Calculating]", std::nullopt}));

}  // namespace
}  // namespace berth::core
