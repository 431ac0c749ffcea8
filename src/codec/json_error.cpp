#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "json_document.h"

namespace berth::codec {
namespace {

constexpr std::size_t kLocateLimit = std::size_t{1} << 20;

// Takes in everything and remembers where the parser gave up.
struct ErrorFinder {
  using Json = nlohmann::json;
  std::optional<std::size_t> byte;

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(Json::number_integer_t) { return true; }
  bool number_unsigned(Json::number_unsigned_t) { return true; }
  bool number_float(Json::number_float_t, const Json::string_t&) { return true; }
  bool string(Json::string_t&) { return true; }
  bool binary(Json::binary_t&) { return true; }
  bool start_object(std::size_t) { return true; }
  bool key(Json::string_t&) { return true; }
  bool end_object() { return true; }
  bool start_array(std::size_t) { return true; }
  bool end_array() { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    byte = position;
    return false;
  }
};

std::string_view describe(simdjson::error_code code) {
  switch (code) {
    case simdjson::EMPTY:
      return "empty, where JSON is needed";
    case simdjson::UTF8_ERROR:
      return "malformed JSON: not UTF-8";
    case simdjson::DEPTH_ERROR:
      return "malformed JSON: nested too deeply";
    case simdjson::UNCLOSED_STRING:
      return "malformed JSON: ends inside a string";
    case simdjson::UNESCAPED_CHARS:
      return "malformed JSON: a control character inside a string";
    case simdjson::STRING_ERROR:
      return "malformed JSON: a bad escape in a string";
    case simdjson::NUMBER_ERROR:
      return "malformed JSON: a bad number, or one that 64 bits can't hold";
    default:
      return "malformed JSON";
  }
}

}  // namespace

core::Error syntax_error(simdjson::error_code code, std::string_view text) {
  if (code == simdjson::CAPACITY) return {core::ErrorCode::kTooLarge, "more than 4 GiB of JSON", ""};
  if (code == simdjson::MEMALLOC) return {core::ErrorCode::kTooLarge, "not enough memory to read this much JSON", ""};
  std::string where;
  // The slow parser has no limit on depth, so it would point past what the fast one refused.
  if (code != simdjson::EMPTY && code != simdjson::DEPTH_ERROR) {
    const std::string_view head = text.substr(0, kLocateLimit);
    ErrorFinder finder;
    nlohmann::json::sax_parse(head.begin(), head.end(), &finder);
    // Where only a part was read, an error at its end is the cut's and not the text's.
    if (finder.byte && (head.size() == text.size() || *finder.byte < head.size())) {
      where = "byte " + std::to_string(std::min(*finder.byte, text.size()));
    }
  }
  return {core::ErrorCode::kInvalid, std::string(describe(code)), where};
}

}  // namespace berth::codec
