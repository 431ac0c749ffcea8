#include "csv.h"

#include <algorithm>
#include <charconv>

#include "berth/core/text.h"

namespace berth::simulate {
namespace {

constexpr std::size_t kMostShown = 40;

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(core::trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

std::string shown(std::string_view text) {
  return "\"" + std::string(text.substr(0, kMostShown)) + (text.size() > kMostShown ? "..." : "") + "\"";
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string name, const std::vector<std::string_view>& required)
    : rest_(text), name_(std::move(name)) {
  if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  const auto first = line();
  if (!first) {
    error_ = {core::ErrorCode::kInvalid, "the file is empty; its first line must name the columns", name_};
    return;
  }
  columns_ = split(*first);
  for (const auto column : required) {
    if (std::ranges::find(columns_, column) == columns_.end()) {
      wrong("there is no column \"" + std::string(column) + "\"");
    }
  }
}

std::optional<std::string_view> CsvReader::line() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    std::string_view found = rest_.substr(0, end);
    if (found.ends_with('\r')) found.remove_suffix(1);
    found = core::trimmed(found);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_;
    if (!found.empty()) return found;
  }
  return std::nullopt;
}

bool CsvReader::next() {
  if (error_) return false;
  const auto found = line();
  if (!found) return false;
  fields_ = split(*found);
  if (found->find('"') != std::string_view::npos) {
    wrong("it has quotes, which are not understood here");
  } else if (fields_.size() != columns_.size()) {
    wrong("it has " + std::to_string(fields_.size()) + " fields, but the first line names " +
          std::to_string(columns_.size()) + " columns");
  }
  return !error_;
}

std::string_view CsvReader::text(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  return found == columns_.end() ? std::string_view() : fields_[static_cast<std::size_t>(found - columns_.begin())];
}

std::int64_t CsvReader::number(std::string_view column, std::int64_t least, std::int64_t most) {
  const auto value = whole_number(text(column));
  if (value && *value >= least && *value <= most) return *value;
  wrong(std::string(column) + " must be a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
        ", not " + shown(text(column)));
  return least;
}

std::optional<std::int64_t> CsvReader::seconds(std::string_view column) {
  const std::string_view field = text(column);
  if (field.empty()) return std::nullopt;
  const std::size_t point = field.find('.');
  const auto value = whole_number(field.substr(0, point));
  constexpr std::int64_t kMost = 1'000'000'000'000;
  const bool digits =
      point == std::string_view::npos || field.find_first_not_of("0123456789", point + 1) == std::string_view::npos;
  if (value && digits && *value >= 0 && *value <= kMost) return value;
  wrong(std::string(column) + " must be a number of seconds, not " + shown(field));
  return std::nullopt;
}

void CsvReader::wrong(const std::string& message) {
  if (!error_) error_ = {core::ErrorCode::kInvalid, message, name_ + " line " + std::to_string(line_)};
}

}  // namespace berth::simulate
