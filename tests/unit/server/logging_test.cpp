#include "berth/server/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

namespace berth::server {
namespace {

// 2026-11-29T16:00:00Z is 1,795,968,000 s after the epoch: 20,786 days of 86,400 s and 57,600 s.
const core::WallTime kTime{std::chrono::milliseconds(1'795'968'000'123)};

TEST(Logging, TextLineIsTimeLevelModuleMessage) {
  EXPECT_EQ(text_line(kTime, "info", "kube", "hello"), "2026-11-29T16:00:00.123Z info  kube: hello\n");
  EXPECT_EQ(text_line(kTime, "error", "", "hello"), "2026-11-29T16:00:00.123Z error hello\n");
}

TEST(Logging, JsonLineHasTheFields) {
  EXPECT_EQ(json_line(kTime, "warn", "kube", "hello"),
            R"({"time":"2026-11-29T16:00:00.123Z","level":"warn","module":"kube","message":"hello"})"
            "\n");
  EXPECT_EQ(json_line(kTime, "warn", "", "hello"),
            R"({"time":"2026-11-29T16:00:00.123Z","level":"warn","message":"hello"})"
            "\n");
}

TEST(Logging, ForeignTextStaysOneLine) {
  EXPECT_EQ(text_line(kTime, "info", "", "a\nb\r\x1b[31m\tc"),
            "2026-11-29T16:00:00.123Z info  a\\nb\\x0d\\x1b[31m\tc\n");
}

struct Escape {
  const char* name;
  std::string message;
  std::string read;  // as a JSON reader sees it
};
class LoggingJson : public testing::TestWithParam<Escape> {};

TEST_P(LoggingJson, IsReadBackByAStrictReader) {
  const std::string line = json_line(kTime, "info", "m", GetParam().message);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  const auto parsed = nlohmann::json::parse(line, nullptr, false);
  ASSERT_FALSE(parsed.is_discarded()) << line;
  EXPECT_EQ(parsed["message"].get<std::string>(), GetParam().read);
}

const std::string kReplacement = "\xef\xbf\xbd";
INSTANTIATE_TEST_SUITE_P(
    Messages, LoggingJson,
    testing::Values(Escape{"Quotes", "say \"a\\b\"", "say \"a\\b\""},                                                //
                    Escape{"Controls", std::string("a\0b\x01\n\x1f\x7f", 7), std::string("a\0b\x01\n\x1f\x7f", 7)},  //
                    Escape{"Utf8", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\xa2", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\xa2"},    //
                    Escape{"Truncated", "a\xc3", "a" + kReplacement},                                                //
                    Escape{"Overlong", "\xc0\xaf", kReplacement + kReplacement},                                     //
                    Escape{"Surrogate", "\xed\xa0\x80", kReplacement + kReplacement + kReplacement},                 //
                    Escape{"TooHigh", "\xf4\x90\x80\x80", kReplacement + kReplacement + kReplacement + kReplacement}));

TEST(Logging, WritesLinesFromTheLevelOnToStandardError) {
  const auto before = spdlog::default_logger();
  testing::internal::CaptureStderr();
  set_up_logging({LogLevel::kWarn, LogFormat::kJson});
  spdlog::info("not this");
  spdlog::warn("this");
  const std::string written = testing::internal::GetCapturedStderr();
  spdlog::set_default_logger(before);
  const auto parsed = nlohmann::json::parse(written, nullptr, false);
  ASSERT_FALSE(parsed.is_discarded()) << written;
  EXPECT_EQ(parsed["message"], "this");
  EXPECT_EQ(parsed["level"], "warn");
}

}  // namespace
}  // namespace berth::server
