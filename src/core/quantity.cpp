#include "berth/core/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "berth/core/text.h"

namespace berth::core {
namespace {

__extension__ typedef __int128 Wide;

// The whole years that WallTime, nanoseconds in 64 bits, can hold.
constexpr int kFirstYear = 1678;
constexpr int kLastYear = 2261;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Scale {
  bool known = false;
  int two = 0;  // power of two
  int ten = 0;  // power of ten
};

Scale scale_of(std::string_view suffix) {
  struct Named {
    std::string_view suffix;
    int two;
    int ten;
  };
  static constexpr Named kNamed[] = {{"", 0, 0},    {"Ki", 10, 0}, {"Mi", 20, 0}, {"Gi", 30, 0},
                                     {"Ti", 40, 0}, {"Pi", 50, 0}, {"Ei", 60, 0}, {"n", 0, -9},
                                     {"u", 0, -6},  {"m", 0, -3},  {"k", 0, 3},   {"M", 0, 6},
                                     {"G", 0, 9},   {"T", 0, 12},  {"P", 0, 15},  {"E", 0, 18}};
  for (const Named& named : kNamed) {
    if (named.suffix == suffix) return {true, named.two, named.ten};
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return {};
  std::string_view digits = suffix.substr(1);
  if (digits[0] == '+') digits.remove_prefix(1);
  int exponent = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (code != std::errc() || end != digits.data() + digits.size() || exponent < -40 || exponent > 40) return {};
  return {true, 0, exponent};
}

struct Scaled {
  bool valid = false;
  bool too_large = false;  // `value` is then the nearest there is
  std::int64_t value = 0;
};

// In units of 10^-extra_digits, rounded up.
Scaled scaled_quantity(std::string_view text, int extra_digits) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  using Limits = std::numeric_limits<std::int64_t>;
  const Scaled too_large{true, true, negative ? Limits::min() : Limits::max()};

  // Digits go into one wide integer; those behind the point lower the power of ten.
  Wide value = 0;
  int digits = 0;
  int ten = extra_digits;
  bool point = false;
  bool endless = false;
  bool dropped = false;  // a non-zero digit past what can matter was left out: round up
  while (!rest.empty() && (is_digit(rest[0]) || (rest[0] == '.' && !point))) {
    if (rest[0] == '.') {
      point = true;
    } else {
      ++digits;
      if (value < static_cast<Wide>(1'000'000'000'000'000'000) * 1000) {
        value = value * 10 + (rest[0] - '0');
        if (point) --ten;
      } else if (point) {
        dropped = dropped || rest[0] != '0';
      } else {
        endless = true;
      }
    }
    rest.remove_prefix(1);
  }
  const Scale scale = scale_of(rest);
  if (digits == 0 || !scale.known) return {};
  if (endless) return too_large;

  constexpr Wide kMax = Limits::max();
  ten += scale.ten;
  Wide divisor = 1;
  const Wide wide_limit = static_cast<Wide>(1) << 120;
  for (; ten < 0 && divisor < wide_limit / 10; ++ten) divisor *= 10;
  for (; ten > 0 && value != 0; --ten) {
    if (value > kMax) return too_large;
    value *= 10;
  }
  for (int i = 0; i < scale.two && value != 0; ++i) {
    if (value >= wide_limit / 2) return too_large;
    value *= 2;
  }
  Wide whole = value / divisor;
  const bool fraction = whole * divisor != value || dropped;
  if (fraction && !negative) ++whole;  // Quantity.Value() rounds towards positive infinity
  if (whole > kMax) return too_large;
  return {true, false, static_cast<std::int64_t>(negative ? -whole : whole)};
}

tl::unexpected<Error> bad_quantity(std::string_view text) {
  return fail(ErrorCode::kInvalid,
              "\"" + std::string(text.substr(0, 64)) + "\" is not a quantity (examples: 8, 500m, 16Gi)");
}

// Takes a number in plain digits off the front: no sign, no exponent, no "inf".
std::optional<double> take_number(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && (is_digit(text[length]) || text[length] == '.')) ++length;
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + length, number, std::chars_format::fixed);
  if (length == 0 || code != std::errc() || end != text.data() + length) return std::nullopt;
  text.remove_prefix(length);
  return number;
}

}  // namespace

std::optional<std::int64_t> parse_size(std::string_view text) {
  std::string_view unit = trimmed(text);
  const auto number = take_number(unit);
  if (!number) return std::nullopt;
  unit = trimmed(unit);
  constexpr std::string_view kPrefixes = "kmgtpe";
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  int two = 0;
  if (!unit.empty()) {
    const auto power = kPrefixes.find(lower(unit[0]));
    if (power != std::string_view::npos) {
      two = 10 * (static_cast<int>(power) + 1);
      unit.remove_prefix(1);
      if (!unit.empty() && lower(unit[0]) == 'i') unit.remove_prefix(1);
    }
    if (!unit.empty() && lower(unit[0]) == 'b') unit.remove_prefix(1);
    if (!unit.empty()) return std::nullopt;
  }
  const double bytes = std::ldexp(*number, two);
  if (bytes >= 0x1p63) return std::nullopt;
  return std::llround(bytes);
}

std::optional<double> parse_percentage(std::string_view text) {
  std::string_view rest = trimmed(text);
  const auto number = take_number(rest);
  if (!number || trimmed(rest) != "%") return std::nullopt;
  return std::min(*number / 100, 1.0);
}

Result<std::int64_t> parse_quantity(std::string_view text) {
  const Scaled scaled = scaled_quantity(text, 0);
  if (!scaled.valid || scaled.too_large) return bad_quantity(text);
  return scaled.value;
}

Result<std::int64_t> parse_milli_quantity(std::string_view text) {
  const Scaled scaled = scaled_quantity(text, 3);
  return scaled.valid ? Result<std::int64_t>(scaled.value) : bad_quantity(text);
}

Result<std::int64_t> parse_capped_quantity(std::string_view text) {
  const Scaled scaled = scaled_quantity(text, 0);
  return scaled.valid ? Result<std::int64_t>(scaled.value) : bad_quantity(text);
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::kInvalid,
                "\"" + std::string(text.substr(0, 64)) + "\" is not a duration (examples: 90s, 10m, 1h30m)");
  };
  if (text == "0") return std::chrono::milliseconds(0);
  double total_ms = 0;
  std::string_view rest = text;
  if (rest.empty()) return bad();
  while (!rest.empty()) {
    const auto number = take_number(rest);
    if (!number) return bad();
    std::size_t unit = 0;
    while (unit < rest.size() && !is_digit(rest[unit]) && rest[unit] != '.') ++unit;
    const std::string_view name = rest.substr(0, unit);
    if (name == "ms") {
      total_ms += *number;
    } else if (name == "s") {
      total_ms += *number * 1000;
    } else if (name == "m") {
      total_ms += *number * 60'000;
    } else if (name == "h") {
      total_ms += *number * 3'600'000;
    } else {
      return bad();
    }
    rest.remove_prefix(unit);
  }
  // A hundred years: nanoseconds in 64 bits end after 292, and a duration is added to a time.
  if (total_ms > 3'155'760'000'000.0) return bad();
  return std::chrono::milliseconds(std::llround(total_ms));
}

Result<WallTime> parse_timestamp(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::kInvalid, "\"" + std::string(text.substr(0, 64)) + "\" is not an RFC 3339 time");
  };
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = -1;
    if (at + length > text.size()) return value;
    for (std::size_t i = at; i < at + length; ++i) {
      if (!is_digit(text[i])) return -1;
    }
    std::from_chars(text.data() + at, text.data() + at + length, value);
    return value;
  };
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':') {
    return bad();
  }
  const int hour = number(11, 2);
  const int minute = number(14, 2);
  const int second = number(17, 2);
  const int month = number(5, 2);
  const int day = number(8, 2);
  const int year = number(0, 4);
  if (month < 1 || day < 1) return bad();
  if (year < kFirstYear || year > kLastYear) return bad();
  const std::chrono::year_month_day date(std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)});
  if (!date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return bad();

  std::size_t at = 19;
  std::int64_t fraction_ms = 0;
  if (text[at] == '.') {
    std::int64_t weight = 100;
    std::size_t digits = 0;
    for (++at; at < text.size() && is_digit(text[at]); ++at, ++digits) {
      fraction_ms += weight * (text[at] - '0');
      weight /= 10;
    }
    if (digits == 0) return bad();
  }
  std::chrono::minutes offset(0);
  if (at + 1 == text.size() && text[at] == 'Z') {
  } else if (at + 6 == text.size() && (text[at] == '+' || text[at] == '-') && text[at + 3] == ':') {
    const int hours = number(at + 1, 2);
    const int minutes = number(at + 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return bad();
    offset = std::chrono::minutes(hours * 60 + minutes) * (text[at] == '+' ? 1 : -1);
  } else {
    return bad();
  }
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + std::chrono::milliseconds(fraction_ms) - offset;
}

std::string format_timestamp(WallTime time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<milliseconds>(time - day));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text.data();
}

}  // namespace berth::core
