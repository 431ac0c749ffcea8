// Reads the tables of the documentation, for tests that hold it against the program.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace berth::server {

using MarkdownRow = std::vector<std::string>;

// The rows of the first table after the line `heading`, without head and rule; cells without blanks and backticks.
inline std::vector<MarkdownRow> markdown_table(const std::string& file, const std::string& heading) {
  std::vector<MarkdownRow> rows;
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line) && line != heading) {
  }
  int seen = 0;
  while (std::getline(in, line)) {
    if (!line.starts_with('|')) {
      if (seen > 0 || line.starts_with("## ")) break;
      continue;
    }
    if (++seen <= 2) continue;
    MarkdownRow row;
    for (std::size_t at = 1; at < line.size();) {
      const std::size_t end = line.find('|', at);
      std::string cell = line.substr(at, end - at);
      std::erase(cell, '`');
      const std::size_t first = cell.find_first_not_of(' ');
      row.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
      if (end == std::string::npos) break;
      at = end + 1;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace berth::server
