#include "berth/core/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::core {
namespace {

struct GoodQuantity {
  const char* text;
  std::int64_t want;
};

class QuantityValue : public testing::TestWithParam<GoodQuantity> {};

// Values by hand from the suffix table of k8s.io/apimachinery pkg/api/resource.
INSTANTIATE_TEST_SUITE_P(Table, QuantityValue,
                         testing::Values(GoodQuantity{"0", 0}, GoodQuantity{"8", 8}, GoodQuantity{"+8", 8},
                                         GoodQuantity{"-3", -3}, GoodQuantity{"1500m", 2}, GoodQuantity{"2000m", 2},
                                         GoodQuantity{"-1500m", -1}, GoodQuantity{"1Ki", 1024},
                                         GoodQuantity{"1.5Gi", 1610612736}, GoodQuantity{"16Gi", 17179869184},
                                         GoodQuantity{"1k", 1000}, GoodQuantity{"1e3", 1000}, GoodQuantity{"1E3", 1000},
                                         GoodQuantity{"1.2e1", 12}, GoodQuantity{"1e-3", 1}, GoodQuantity{"100n", 1},
                                         GoodQuantity{".5", 1}, GoodQuantity{"5.", 5},
                                         GoodQuantity{"7Ei", 8070450532247928832},
                                         GoodQuantity{"9223372036854775807", 9223372036854775807}));

TEST_P(QuantityValue, RoundsUp) {
  const auto got = parse_quantity(GetParam().text);
  ASSERT_TRUE(got.has_value()) << GetParam().text;
  EXPECT_EQ(*got, GetParam().want) << GetParam().text;
}

class QuantityError : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Table, QuantityError,
                         testing::Values("", "-", ".", "Gi", "1 Gi", "1g", "0x10", "1.2.3", "1e", "1e+", "1e99",
                                         "1e-2147483648", "8Ei", "9223372036854775808", "99999999999999999999999999",
                                         "NaN", "1Gi "));

TEST_P(QuantityError, IsNamed) {
  const auto got = parse_quantity(GetParam());
  ASSERT_FALSE(got.has_value()) << GetParam();
  EXPECT_EQ(got.error().code, ErrorCode::kInvalid);
  EXPECT_NE(got.error().message.find("is not a quantity"), std::string::npos);
}

TEST(MilliQuantity, CountsThousandthsRoundedUp) {
  EXPECT_EQ(parse_milli_quantity("8").value(), 8000);
  EXPECT_EQ(parse_milli_quantity("250m").value(), 250);
  EXPECT_EQ(parse_milli_quantity("0.1").value(), 100);
  EXPECT_EQ(parse_milli_quantity("1.5").value(), 1500);
  EXPECT_EQ(parse_milli_quantity("1500u").value(), 2);
  EXPECT_EQ(parse_milli_quantity("1n").value(), 1);
  EXPECT_EQ(parse_milli_quantity("2k").value(), 2'000'000);
  EXPECT_EQ(parse_milli_quantity("-3").value(), -3000);
}

TEST(CappedQuantity, IsTheGreatestThereIsBeyondIt) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parse_capped_quantity("16Gi").value(), 17179869184);
  EXPECT_EQ(parse_capped_quantity("1500m").value(), 2);
  for (const char* huge : {"8Ei", "9223372036854775808", "99999999999999999999999999", "1e40", "100000P"}) {
    EXPECT_EQ(parse_capped_quantity(huge).value(), kMost) << huge;
    EXPECT_EQ(parse_milli_quantity(huge).value(), kMost) << huge;
  }
  EXPECT_EQ(parse_milli_quantity("9223372036854776").value(), kMost);
  EXPECT_EQ(parse_milli_quantity("9223372036854775").value(), 9223372036854775000);
  EXPECT_EQ(parse_milli_quantity("-8Ei").value(), std::numeric_limits<std::int64_t>::min());
  for (const char* bad : {"", "-", "Gi", "1g", "1e99", "NaN", "99999999999999999999999999x"}) {
    EXPECT_FALSE(parse_capped_quantity(bad)) << bad;
    EXPECT_FALSE(parse_milli_quantity(bad)) << bad;
  }
}

TEST(Duration, AsGoWritesThem) {
  EXPECT_EQ(parse_duration("10m").value().count(), 600'000);
  EXPECT_EQ(parse_duration("1h30m").value().count(), 5'400'000);
  EXPECT_EQ(parse_duration("1.5h").value().count(), 5'400'000);
  EXPECT_EQ(parse_duration("250ms").value().count(), 250);
  EXPECT_EQ(parse_duration("0").value().count(), 0);
  EXPECT_EQ(parse_duration("876600h").value().count(), 3'155'760'000'000) << "a hundred years";
  for (const char* bad : {"", "10", "m", "1d", "-5s", "1h 30m", "5.5.5s", "ten minutes", "876601h"}) {
    EXPECT_FALSE(parse_duration(bad).has_value()) << bad;
  }
}

// WallTime counts nanoseconds in 64 bits: from 1677-09-21 to 2262-04-11.
TEST(Timestamp, YearsThatFit) {
  using std::chrono::sys_days;
  using std::chrono::year;
  EXPECT_EQ(parse_timestamp("1678-01-01T00:00:00Z").value(), WallTime(sys_days(year{1678} / 1 / 1)));
  EXPECT_EQ(parse_timestamp("2261-12-31T00:00:00Z").value(), WallTime(sys_days(year{2261} / 12 / 31)));
  for (const char* bad :
       {"0001-01-01T00:00:00Z", "1677-12-31T23:59:59Z", "2262-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"}) {
    EXPECT_FALSE(parse_timestamp(bad).has_value()) << bad;
  }
}

TEST(Timestamp, Rfc3339) {
  using std::chrono::milliseconds;
  const auto ms = [](const char* text) {
    return std::chrono::duration_cast<milliseconds>(parse_timestamp(text).value().time_since_epoch()).count();
  };
  EXPECT_EQ(ms("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(ms("2000-03-01T00:00:00Z"), 951'868'800'000);
  EXPECT_EQ(ms("2000-03-01T02:00:00.25+02:00"), 951'868'800'250);
  for (const char* bad : {"", "2026-02-30T00:00:00Z", "2026-01-01 00:00:00Z", "2026-01-01T24:00:00Z",
                          "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0200"}) {
    EXPECT_FALSE(parse_timestamp(bad).has_value()) << bad;
  }
}

TEST(Timestamp, WrittenInUtcWithMilliseconds) {
  EXPECT_EQ(format_timestamp(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_timestamp(parse_timestamp("2026-11-29T18:00:00.125+02:00").value()), "2026-11-29T16:00:00.125Z");
}

}  // namespace
}  // namespace berth::core
