#include "json_document.h"

#include <algorithm>

namespace berth::codec {

core::Result<simdjson::dom::element> JsonDocument::parse(std::string& text) {
  // Some slack, so that texts that grow by a few bytes don't each cost new memory and its page faults.
  const std::size_t room = text.size() + text.size() / 8;
  if (text.capacity() - text.size() < simdjson::SIMDJSON_PADDING) {
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  }
  longest_ = std::max(longest_, text.size());
  if (parser_.capacity() < text.size()) {
    if (const auto code = parser_.allocate(room)) return tl::unexpected(syntax_error(code, text));
  }
  if (document_.capacity() < text.size()) {
    if (const auto code = document_.allocate(room)) return tl::unexpected(syntax_error(code, text));
  }
  simdjson::dom::element root;
  if (const auto code = parser_.parse_into_document(document_, text.data(), text.size(), false).get(root)) {
    return tl::unexpected(syntax_error(code, text));
  }
  return root;
}

void JsonDocument::trim(std::size_t keep_bytes) {
  if (longest_ <= keep_bytes) return;
  parser_ = simdjson::dom::parser();
  document_ = simdjson::dom::document();
  longest_ = 0;
}

}  // namespace berth::codec
