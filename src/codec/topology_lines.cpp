#include "topology_lines.h"

#include <algorithm>
#include <charconv>

namespace berth::codec {
namespace {

constexpr char kEscape = '\x1B';

// Length of what a terminal takes as a command (ECMA-48: ESC [ parameters final), or of what is left of underlining on
// a page that has dropped the escape character; else 0.
std::size_t command_length(std::string_view text) {
  for (const std::string_view left : {"[4m", "[0m"}) {
    if (text.starts_with(left)) return left.size();
  }
  if (text.empty() || text[0] != kEscape) return 0;
  if (text.size() < 2 || text[1] != '[') return 1;
  std::size_t end = 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x3F) ++end;
  return std::min(end + 1, text.size());
}

// Length of white space, that of web pages (no-break space, byte order mark in UTF-8) too; else 0.
std::size_t space_length(std::string_view text) {
  if (text.starts_with("\xC2\xA0")) return 2;
  if (text.starts_with("\xEF\xBB\xBF")) return 3;
  return !text.empty() && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r') ? 1 : 0;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;
  while (!line.empty()) {
    if (const std::size_t command = command_length(line); command > 0) {
      line.remove_prefix(command);
    } else if (const std::size_t space = space_length(line); space > 0) {
      line.remove_prefix(space);
      inside = false;
    } else {
      if (!inside) words.emplace_back();
      inside = true;
      words.back() += line[0];
      line.remove_prefix(1);
    }
  }
  return words;
}

}  // namespace

std::vector<TopologyLine> topology_lines(std::string_view text) {
  std::vector<TopologyLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    TopologyLine line{number, words_of(text.substr(0, end))};
    if (!line.words.empty()) lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

int numbered(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return -1;
  word.remove_prefix(prefix.size());
  int number = -1;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  return code == std::errc() && end == word.data() + word.size() ? std::max(number, -1) : -1;
}

}  // namespace berth::codec
