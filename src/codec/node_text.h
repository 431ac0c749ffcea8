// Finds the text of each Node object in the body of an extender call.
//
// simdjson's DOM doesn't know where in the text its elements were, but it has written down where every token begins;
// following those costs a quarter of a second parse.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace berth::codec {

struct TokenText {
  std::string_view text;                  // valid JSON
  std::span<const std::uint32_t> tokens;  // JsonDocument::tokens() of it
};

// Appends the items of the list Nodes, without the white space between them. Nothing if there is no such list.
void cut_nodes(std::vector<std::string_view>& raw, const TokenText& body);

}  // namespace berth::codec
