// The text of `nvidia-smi topo -m` as lines of words, without what terminals and web pages add.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::codec {

struct TopologyLine {
  std::size_t number = 0;  // from 1
  std::vector<std::string> words;
};

// Lines with at least one word.
std::vector<TopologyLine> topology_lines(std::string_view text);

// The number in "GPU12" with `prefix` "GPU"; -1 for any other word.
int numbered(std::string_view word, std::string_view prefix);

}  // namespace berth::codec
