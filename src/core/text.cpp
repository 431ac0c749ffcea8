#include "berth/core/text.h"

#include <algorithm>

namespace berth::core {
namespace {

bool of_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\n");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\n") - from + 1);
}

bool is_name(std::string_view text) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), good);
}

bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !of_word(text[at - 1])) && (end == text.size() || !of_word(text[end]))) return true;
  }
  return false;
}

}  // namespace berth::core
