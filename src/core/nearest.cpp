#include "berth/core/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace berth::core {
namespace {

// Letters in lower case, "-" and "_" dropped.
std::string folded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '-' || c == '_') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

// Insertions, deletions and replacements that make `a` of `b` (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view text, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = 3;
  const std::string written = folded(text);
  for (const std::string& name : known) {
    const std::string meant = folded(name);
    // So far apart by their lengths alone; and the text may be anything that somebody has put into an annotation.
    if (std::max(written.size(), meant.size()) - std::min(written.size(), meant.size()) >= least) continue;
    const std::size_t apart = distance(written, meant);
    // Two letters of a four-letter name are half of it: any name would do.
    if (apart < least && apart * 3 <= name.size()) {
      least = apart;
      best = name;
    }
  }
  return best;
}

}  // namespace berth::core
