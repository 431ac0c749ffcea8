// Foreign text line by line, and its numbers.
//
// Not thread-safe.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/core/result.h"

namespace berth::codec {

class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  // False at the end. The line comes without its end.
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const auto end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return true;
  }
  // "line 3".
  [[nodiscard]] std::string where() const { return "line " + std::to_string(number_); }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// A whole decimal number, and nothing else.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace berth::codec
