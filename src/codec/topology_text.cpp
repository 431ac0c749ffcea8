#include "berth/codec/topology_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "topology_lines.h"

namespace berth::codec {
namespace {

using core::ErrorCode;
using model::Link;

constexpr std::size_t kMostTextBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostColumns = 1'024;  // each is looked for among all
constexpr int kMostNuma = 127;
constexpr std::string_view kSelf = "X";

// The names of columns that are no device; they have several words each.
enum class Affinity : std::uint8_t { kCpu, kNuma, kGpuNuma };
struct AffinityName {
  Affinity affinity;
  std::string_view name;
  std::vector<std::string> words;
};
const std::vector<AffinityName>& affinity_names() {
  static const std::vector<AffinityName> kNames{{Affinity::kCpu, "CPU Affinity", {"CPU", "Affinity"}},
                                                {Affinity::kNuma, "NUMA Affinity", {"NUMA", "Affinity"}},
                                                {Affinity::kGpuNuma, "GPU NUMA ID", {"GPU", "NUMA", "ID"}}};
  return kNames;
}

// The affinity that the words begin with.
const AffinityName* affinity_at(std::span<const std::string> words) {
  for (const AffinityName& name : affinity_names()) {
    if (words.size() >= name.words.size() && std::equal(name.words.begin(), name.words.end(), words.begin())) {
      return &name;
    }
  }
  return nullptr;
}

bool is_link(std::string_view word) { return word == kSelf || model::parse_link(word).has_value(); }

// A line of column names begins with GPU0 as a row does, but no link follows.
bool is_header(const TopologyLine& line) {
  const auto& words = line.words;
  if (words[0] != "GPU0") return false;
  if (words.size() == 1) return true;
  return !is_link(words[1]) && (affinity_at(std::span(words).subspan(1)) != nullptr ||
                                words[1].find_first_of("0123456789_") != std::string::npos);
}

bool only(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// The NUMA nodes in a list like "0,2-17", ascending; none if it is no such list, or a node is beyond 127.
std::vector<int> nodes_of(std::string_view list) {
  std::vector<int> nodes;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int first = -1;
    auto read = std::from_chars(at, end, first);
    int last = first;
    if (read.ec == std::errc() && read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    const bool more = read.ptr < end && *read.ptr == ',';
    if (read.ec != std::errc() || (!more && read.ptr != end)) return {};
    if (first <= (nodes.empty() ? -1 : nodes.back()) || last < first || last > kMostNuma) return {};
    for (int node = first; node <= last; ++node) nodes.push_back(node);
    at = read.ptr + (more ? 1 : 0);
  }
  return nodes;
}

// The NUMA node of a GPU that is near `near`. Of several it is not known which one, unless the GPU's own memory is
// among them: a Grace CPU comes first in its list, and the memory of its GPUs after it.
std::int8_t numa_node(const std::vector<int>& near, const std::vector<int>& own) {
  const bool with_own =
      !own.empty() && std::ranges::find(near, own.front()) != near.end() && near.front() != own.front();
  return static_cast<std::int8_t>(near.size() == 1 || with_own ? near.front() : -1);
}

// A foreign word as it may stand in an error.
std::string shown(std::string_view word) {
  constexpr std::size_t kShown = 32;
  std::string text = "\"";
  for (const char c : word.substr(0, kShown)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (word.size() > kShown ? "…\"" : "\"");
}

// Reads the matrix line by line; stops at the first error.
class MatrixReader {
 public:
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const core::Error& error() const { return *error_; }

  void read_header(const TopologyLine& line) {
    const std::span words(line.words);
    std::size_t at = 0;
    for (; at < words.size() && affinity_at(words.subspan(at)) == nullptr; ++at) {
      const std::string& name = words[at];
      if (at == kMostColumns) {
        error_ =
            core::Error{ErrorCode::kTooLarge,
                        "has more than " + std::to_string(kMostColumns) + " columns; no machine has as many devices",
                        "line " + std::to_string(line.number)};
        return;
      }
      if (std::ranges::find(columns_, name) != columns_.end()) return fail(line, name, "is there twice");
      const int gpu = numbered(name, "GPU");
      if (gpu >= 0 && gpu != gpus_) {
        return fail(line, name,
                    "is where GPU" + std::to_string(gpus_) +
                        " should be; print the whole machine, without -i and with every GPU");
      }
      columns_.push_back(name);
      if (gpu >= 0) {
        ++gpus_;
      } else if (nics_.size() < model::kMaxNics) {
        nics_.push_back(columns_.size() - 1);
      }
    }
    while (at < words.size()) {
      const AffinityName* name = affinity_at(words.subspan(at));
      if (name == nullptr) return fail(line, {}, shown(words[at]) + " is no column that nvidia-smi prints");
      affinities_.push_back(name);
      at += name->words.size();
    }
    if (gpus_ > model::kMaxGpus) {
      error_ = core::Error{ErrorCode::kTooLarge,
                           "has " + std::to_string(gpus_) + " GPUs; more than 16 on one machine are not told apart",
                           "line " + std::to_string(line.number)};
      return;
    }
    cells_.resize(columns_.size());
    rows_.resize(columns_.size(), 0);
    numa_.fill(-1);
  }

  // Whether the line is a row of the matrix; a row may be wrong.
  bool read_row(const TopologyLine& line) {
    const auto found = std::ranges::find(columns_, line.words[0]);
    if (found == columns_.end()) return false;
    const auto row = static_cast<std::size_t>(found - columns_.begin());
    if (rows_[row] != 0) {
      fail(line, {}, "is a second row of " + columns_[row] + "; give the text of one machine");
      return true;
    }
    rows_[row] = line.number;
    const std::span cells(std::span(line.words).subspan(1));
    for (std::size_t column = 0; column < columns_.size() && !failed(); ++column) {
      if (column >= cells.size()) {
        fail(line, columns_[column],
             "is missing: the row ends after " + std::to_string(cells.size()) + " of " +
                 std::to_string(columns_.size()) + " links");
      } else {
        read_cell(line, row, column, cells[column]);
      }
    }
    if (!failed() && is_gpu(row)) read_affinities(line, row, cells.subspan(columns_.size()));
    return true;
  }

  // Whether every GPU has its row.
  [[nodiscard]] bool complete() const {
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (is_gpu(column) && rows_[column] == 0) return false;
    }
    return true;
  }

  // The first column that has no row.
  [[nodiscard]] std::string next_row() const {
    const auto missing = std::ranges::find(rows_, std::size_t{0});
    return missing == rows_.end() ? std::string() : columns_[static_cast<std::size_t>(missing - rows_.begin())];
  }

  void fail(const TopologyLine& line, std::string_view column, std::string message) {
    std::string where = "line " + std::to_string(line.number);
    if (!column.empty()) where += ", column " + std::string(column);
    error_ = core::Error{ErrorCode::kInvalid, std::move(message), std::move(where)};
  }

  [[nodiscard]] model::Machine machine(const std::map<int, std::string>& nic_names) const {
    model::Machine machine;
    machine.source = model::TopologySource::kAgent;
    machine.gpus.resize(static_cast<std::size_t>(gpus_));
    model::LinkMatrix links;
    links.gpus = gpus_;
    std::vector<std::size_t> gpu_columns;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (is_gpu(column)) gpu_columns.push_back(column);
    }
    for (std::size_t a = 0; a < gpu_columns.size(); ++a) {
      machine.gpus[a].numa = numa_[a];
      for (std::size_t b = 0; b < a; ++b) {
        links.set(static_cast<int>(a), static_cast<int>(b), cells_[gpu_columns[a]][gpu_columns[b]]);
      }
    }
    machine.links = links;
    for (const std::size_t column : nics_) {
      model::Nic nic;
      const auto name = nic_names.find(numbered(columns_[column], "NIC"));
      nic.name = name == nic_names.end() ? columns_[column] : name->second;
      for (std::size_t gpu = 0; gpu < gpu_columns.size(); ++gpu) nic.links[gpu] = cells_[gpu_columns[gpu]][column];
      machine.nics.push_back(std::move(nic));
    }
    return machine;
  }

 private:
  [[nodiscard]] bool is_gpu(std::size_t column) const { return numbered(columns_[column], "GPU") >= 0; }

  void read_cell(const TopologyLine& line, std::size_t row, std::size_t column, std::string_view word) {
    std::vector<Link>& cells = cells_[row];
    cells.resize(columns_.size(), Link::kSelf);
    if (row == column) {
      if (word != kSelf) fail(line, columns_[column], shown(word) + " must be X, a device's link to itself");
      return;
    }
    const auto link = model::parse_link(word);
    // A NIC may be out of sight.
    const bool unknown = word == "N/A" && !(is_gpu(row) && is_gpu(column));
    if (!link && !unknown) {
      return fail(line, columns_[column],
                  shown(word) + " is no link; links are NV1 to NV99, PIX, PXB, PHB, NODE and SYS");
    }
    cells[column] = link.value_or(Link::kSelf);
    if (rows_[column] == 0 || column == row) return;
    const Link other = cells_[column][row];
    if (other == cells[column]) return;
    fail(line, columns_[column],
         std::string(word) + " is not what line " + std::to_string(rows_[column]) + " has for the same pair, " +
             (other == Link::kSelf ? "N/A" : model::link_name(other)));
  }

  // Cells may be empty, and lists may have a space after their commas.
  void read_affinities(const TopologyLine& line, std::size_t row, std::span<const std::string> words) {
    std::vector<std::string> cells;
    for (const std::string& word : words) {
      if (!cells.empty() && cells.back().ends_with(',')) {
        cells.back() += word;
      } else {
        cells.push_back(word);
      }
    }
    if (cells.size() > affinities_.size()) {
      return fail(line, {}, shown(cells[affinities_.size()]) + " is beyond the last column");
    }
    const auto gpu = static_cast<std::size_t>(numbered(columns_[row], "GPU"));
    std::vector<int> near;
    std::string_view own;
    for (std::size_t i = 0; i < cells.size() && !failed(); ++i) {
      const AffinityName& name = *affinities_[i];
      if (cells[i] == "N/A") continue;
      if (!only(cells[i], "0123456789-,")) {
        fail(line, name.name, shown(cells[i]) + " is neither a number, nor a list like 0-3,8, nor N/A");
      } else if (name.affinity == Affinity::kNuma) {
        near = nodes_of(cells[i]);
        if (near.empty()) fail(line, name.name, shown(cells[i]) + " is no list of NUMA nodes from 0 to 127");
      } else if (name.affinity == Affinity::kGpuNuma) {
        own = cells[i];
      }
    }
    if (!near.empty()) numa_[gpu] = numa_node(near, nodes_of(own));
  }

  std::vector<std::string> columns_;  // devices
  int gpus_ = 0;
  std::vector<std::size_t> nics_;  // their columns, the first 64
  std::vector<const AffinityName*> affinities_;
  std::vector<std::vector<Link>> cells_;  // by row and column
  std::vector<std::size_t> rows_;         // line of each row, 0 if there was none yet
  model::NumaNodes numa_{};
  std::optional<core::Error> error_;
};

// What the legend says the NICs are called.
std::map<int, std::string> nic_names(std::span<const TopologyLine> lines) {
  std::map<int, std::string> names;
  for (const TopologyLine& line : lines) {
    std::string_view label = line.words[0];
    if (line.words.size() != 2 || !label.ends_with(':')) continue;
    label.remove_suffix(1);
    const int nic = numbered(label, "NIC");
    if (nic >= 0) names.emplace(nic, line.words[1].substr(0, 253));
  }
  return names;
}

}  // namespace

core::Result<model::Machine> read_topology_text(std::string_view text) {
  if (text.size() > kMostTextBytes) {
    return core::fail(ErrorCode::kTooLarge, "is longer than 1 MiB; give the output of `nvidia-smi topo -m` alone");
  }
  const std::vector<TopologyLine> lines = topology_lines(text);
  const auto header = std::ranges::find_if(lines, is_header);
  if (lines.empty()) return core::fail(ErrorCode::kInvalid, "is empty; give the output of `nvidia-smi topo -m`");
  if (header == lines.end()) {
    const std::size_t last = lines.back().number;
    return core::fail(ErrorCode::kInvalid,
                      "no line of column names beginning with GPU0; give the whole output of `nvidia-smi topo -m`",
                      last == 1 ? "line 1" : "lines 1 to " + std::to_string(last));
  }
  MatrixReader matrix;
  matrix.read_header(*header);
  auto line = header + 1;
  for (; line != lines.end() && !matrix.failed(); ++line) {
    if (line->words[0] == "Legend:") break;
    if (is_header(*line)) {
      matrix.fail(*line, {}, "a second matrix begins; give the text of one machine");
    } else if (!matrix.read_row(*line) && !matrix.complete()) {
      matrix.fail(*line, {}, shown(line->words[0]) + " is no row; the row of " + matrix.next_row() + " is missing");
    }
  }
  if (!matrix.failed() && !matrix.complete()) {
    matrix.fail(lines.back(), {},
                "ends before the row of " + matrix.next_row() + "; give the whole output of `nvidia-smi topo -m`");
  }
  for (auto rest = line; rest != lines.end() && !matrix.failed(); ++rest) {
    if (is_header(*rest)) matrix.fail(*rest, {}, "a second matrix begins; give the text of one machine");
  }
  if (matrix.failed()) return tl::unexpected(matrix.error());
  return matrix.machine(nic_names({header, lines.end()}));
}

}  // namespace berth::codec
