#include "config_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "berth/core/quantity.h"

namespace berth::server {
namespace {

using core::ErrorCode;
using core::fail;

constexpr double kMaxWeight = 1'000;

// The tag that yaml-cpp gives a scalar in quotes.
bool quoted(const YAML::Node& node) { return node.Tag() == "!"; }

core::Result<std::string> read_plain(const YAML::Node& node, const char* what) {
  if (!node.IsScalar() || quoted(node)) return fail(ErrorCode::kInvalid, std::string("must be ") + what);
  return node.Scalar();
}

std::string size_text(std::size_t bytes) {
  if (bytes % (std::size_t{1} << 40U) == 0) return std::to_string(bytes >> 40U) + "Ti";
  if (bytes % (std::size_t{1} << 30U) == 0) return std::to_string(bytes >> 30U) + "Gi";
  if (bytes % (std::size_t{1} << 20U) == 0) return std::to_string(bytes >> 20U) + "Mi";
  return std::to_string(bytes >> 10U) + "Ki";
}

std::string duration_text(std::chrono::milliseconds duration) {
  if (duration.count() % 3'600'000 == 0 && duration.count() > 0)
    return std::to_string(duration.count() / 3'600'000) + "h";
  return std::to_string(duration.count() / 1'000) + "s";
}

}  // namespace

core::Result<std::string> read_text(const YAML::Node& node) {
  if (!node.IsScalar() || node.Scalar().empty()) return fail(ErrorCode::kInvalid, "must be a text");
  return node.Scalar();
}

core::Result<bool> read_bool(const YAML::Node& node) {
  const auto text = read_plain(node, "true or false");
  if (!text) return tl::unexpected(text.error());
  if (*text == "true") return true;
  if (*text == "false") return false;
  return fail(ErrorCode::kInvalid, "must be true or false");
}

core::Result<std::size_t> read_count(const YAML::Node& node, std::size_t least, std::size_t most) {
  const std::string allowed = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  const auto text = read_plain(node, allowed.c_str());
  if (!text) return tl::unexpected(text.error());
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < least || value > most) {
    return fail(ErrorCode::kInvalid, "must be " + allowed);
  }
  return value;
}

core::Result<double> read_weight(const YAML::Node& node) {
  const char* allowed = "a number from 0 to 1000";
  const auto text = read_plain(node, allowed);
  if (!text) return tl::unexpected(text.error());
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text->data() + text->size() || !std::isfinite(value) || value < 0 ||
      value > kMaxWeight) {
    return fail(ErrorCode::kInvalid, std::string("must be ") + allowed);
  }
  return value;
}

core::Result<std::size_t> read_size(const YAML::Node& node, std::size_t least, std::size_t most) {
  const auto value =
      node.IsScalar() ? core::parse_quantity(node.Scalar()) : core::Result<std::int64_t>(fail(ErrorCode::kInvalid, ""));
  if (!value || *value < 0 || static_cast<std::size_t>(*value) < least || static_cast<std::size_t>(*value) > most) {
    return fail(ErrorCode::kInvalid,
                "must be a size from " + size_text(least) + " to " + size_text(most) + ", such as 16Mi");
  }
  return static_cast<std::size_t>(*value);
}

core::Result<std::chrono::milliseconds> read_duration(const YAML::Node& node, std::chrono::milliseconds least,
                                                      std::chrono::milliseconds most) {
  const auto value = node.IsScalar() ? core::parse_duration(node.Scalar())
                                     : core::Result<std::chrono::milliseconds>(fail(ErrorCode::kInvalid, ""));
  if (!value || *value < least || *value > most) {
    return fail(ErrorCode::kInvalid, "must be a duration from " + duration_text(least) + " to " + duration_text(most) +
                                         ", such as 30s or 1m30s");
  }
  return *value;
}

core::Result<std::vector<std::string>> read_texts(const YAML::Node& node) {
  if (!node.IsSequence()) return fail(ErrorCode::kInvalid, "must be a list of texts");
  std::vector<std::string> texts;
  for (const auto& item : node) {
    const auto text = read_text(item);
    if (!text) return fail(ErrorCode::kInvalid, "must be a list of texts, none of them empty");
    texts.push_back(*text);
  }
  return texts;
}

}  // namespace berth::server
