// Words in foreign text.
//
// Thread-safe: pure functions.
#pragma once

#include <string_view>

namespace berth::core {

// Without the white space at both ends.
std::string_view trimmed(std::string_view text);

// A DNS subdomain, as names of namespaces and custom resources are (RFC 1123).
bool is_name(std::string_view text);

// Whether `word` is in `text` with no letter, digit or underscore beside it.
bool has_word(std::string_view text, std::string_view word);

}  // namespace berth::core
