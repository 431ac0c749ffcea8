// A parsed JSON text, whole and validated.
//
// The parser is simdjson's DOM: unlike On-Demand it checks every byte, also of what nobody looks at, and with no more
// than views of the strings it is as fast. Texts nested deeper than 1,024 levels are refused.
//
// Not thread-safe: reused by one thread so that its memory is.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "berth/core/result.h"

namespace berth::codec {

class JsonDocument {
 public:
  // Gives `text` capacity for the parser's padding if it lacks it. The result and its strings hold until the next
  // parse or trim. kInvalid for what is not JSON, with the byte where that is known; kTooLarge for more than 4 GiB or
  // than memory can hold.
  core::Result<simdjson::dom::element> parse(std::string& text);

  // Where in the text of the last successful parse its tokens begin: brackets, commas, colons, strings and scalars.
  // Holds as the result does.
  [[nodiscard]] std::span<const std::uint32_t> tokens() const {
    return {parser_.implementation->structural_indexes.get(), parser_.implementation->n_structural_indexes};
  }

  // Frees everything if a text longer than `keep_bytes` was parsed since the last time.
  void trim(std::size_t keep_bytes);

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::document document_;
  std::size_t longest_ = 0;
};

// What is wrong with a text that simdjson refused. Finding the byte takes a second, slow parser, so it is done for the
// first 1 MiB only.
core::Error syntax_error(simdjson::error_code code, std::string_view text);

}  // namespace berth::codec
