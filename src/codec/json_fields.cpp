#include "json_fields.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "berth/core/quantity.h"

namespace berth::codec {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view type_name(simdjson::dom::element value) {
  using simdjson::dom::element_type;
  switch (value.type()) {
    case element_type::ARRAY:
      return "a list";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "a boolean";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

}  // namespace

bool same_but_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

Reading::Step::Step(Reading& reading, std::string_view name, std::int64_t index) : reading_(reading) {
  assert(reading.depth_ < kDeepest);
  reading.places_[reading.depth_++] = {name, index};
}

std::string Reading::place(std::string_view field) const {
  std::string where;
  const auto append = [&where](std::string_view name) {
    if (name.empty()) return;
    if (!where.empty()) where += '.';
    where += name;
  };
  for (std::size_t i = 0; i < depth_; ++i) {
    append(places_[i].name);
    if (places_[i].index >= 0) where += '[' + std::to_string(places_[i].index) + ']';
  }
  append(field);
  return where;
}

void Reading::fail(std::string message, std::string_view field) {
  if (error_) return;
  error_ = core::Error{core::ErrorCode::kInvalid, std::move(message), place(field)};
}

void Reading::pass_over(const core::Error& why, std::string_view field) {
  if (passed_over_.empty()) passed_over_ = place(field) + ": " + why.to_string();
}

std::string wrong_type(std::string_view wanted, simdjson::dom::element found) {
  return "must be " + std::string(wanted) + ", not " + std::string(type_name(found));
}

std::string_view text(const Field& field, Reading& reading) {
  std::string_view value;
  if (field.given && field.value.get(value) != simdjson::SUCCESS) {
    reading.fail(wrong_type("a string", field.value), field.name);
  }
  return value;
}

std::optional<simdjson::dom::object> object(const Field& field, Reading& reading) {
  simdjson::dom::object value;
  if (!field.given) return std::nullopt;
  if (field.value.get(value) == simdjson::SUCCESS) return value;
  reading.fail(wrong_type("an object", field.value), field.name);
  return std::nullopt;
}

std::optional<simdjson::dom::array> array(const Field& field, Reading& reading) {
  simdjson::dom::array value;
  if (!field.given) return std::nullopt;
  if (field.value.get(value) == simdjson::SUCCESS) return value;
  reading.fail(wrong_type("a list", field.value), field.name);
  return std::nullopt;
}

std::optional<simdjson::dom::object> item_object(simdjson::dom::element item, Reading& reading) {
  simdjson::dom::object value;
  if (item.get(value) == simdjson::SUCCESS) return value;
  reading.fail(wrong_type("an object", item));
  return std::nullopt;
}

std::int64_t number(const Field& field, std::int64_t least, std::int64_t most, Reading& reading) {
  if (!field.given) return 0;
  std::int64_t value = 0;
  if (!field.value.is_int64() && !field.value.is_uint64()) {
    reading.fail(field.value.is_double() ? "must be a whole number" : wrong_type("a whole number", field.value),
                 field.name);
  } else if (field.value.get(value) != simdjson::SUCCESS || value < least || value > most) {
    reading.fail("must be from " + std::to_string(least) + " to " + std::to_string(most), field.name);
  } else {
    return value;
  }
  return 0;
}

core::WallTime timestamp(const Field& field, Reading& reading) {
  const std::string_view written = text(field, reading);
  if (written.empty()) return {};
  const auto time = core::parse_timestamp(written);
  if (time) return *time;
  reading.fail(time.error().message, field.name);
  return {};
}

namespace {

using Parse = core::Result<std::int64_t> (*)(std::string_view);

std::int64_t quantity(const Field& field, Parse parse, Reading& reading) {
  if (!field.given) return 0;
  std::array<char, 32> digits{};
  std::string_view written;
  std::to_chars_result end{digits.data(), std::errc()};
  if (std::int64_t whole = 0; field.value.is<std::int64_t>() && field.value.get(whole) == simdjson::SUCCESS) {
    end = std::to_chars(digits.data(), digits.data() + digits.size(), whole);
  } else if (field.value.is<double>() || field.value.is<std::uint64_t>()) {
    double number = 0;
    if (field.value.get(number) != simdjson::SUCCESS) number = -1;
    end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  } else if (field.value.get(written) != simdjson::SUCCESS) {
    reading.fail(wrong_type("a quantity", field.value), field.name);
    return 0;
  }
  if (end.ec == std::errc() && end.ptr != digits.data()) {
    written = {digits.data(), static_cast<std::size_t>(end.ptr - digits.data())};
  }
  const auto value = parse(written);
  if (!value) {
    reading.fail(value.error().message, field.name);
    return 0;
  }
  if (*value < 0) {
    reading.fail("must not be negative", field.name);
    return 0;
  }
  return *value;
}

}  // namespace

std::int64_t quantity(const Field& field, Reading& reading) { return quantity(field, core::parse_quantity, reading); }

std::int64_t capped_quantity(const Field& field, Reading& reading) {
  return quantity(field, core::parse_capped_quantity, reading);
}

std::int64_t milli_quantity(const Field& field, Reading& reading) {
  return quantity(field, core::parse_milli_quantity, reading);
}

}  // namespace berth::codec
