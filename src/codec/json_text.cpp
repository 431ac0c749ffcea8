#include "json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace berth::codec {
namespace {

constexpr std::uint64_t each_byte(std::uint8_t byte) { return 0x0101010101010101ULL * byte; }

// True if none of eight bytes is a control character, a quote, a backslash or beyond ASCII. A byte below 0x20 borrows
// into its high bit when 0x20 is taken off, and one that equals the sought one does when 1 is taken off their
// difference; a borrow can only raise a false alarm in the byte above a real one.
bool clean(std::uint64_t bytes) {
  const std::uint64_t high = each_byte(0x80);
  const std::uint64_t quote = bytes ^ each_byte('"');
  const std::uint64_t backslash = bytes ^ each_byte('\\');
  const std::uint64_t found = bytes | (bytes - each_byte(0x20)) | (quote - each_byte(1)) | (backslash - each_byte(1));
  return (found & high) == 0;
}

bool clean(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// Length of the clean text that `text` begins with.
std::size_t clean_prefix(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, 8);
    if (!clean(bytes)) break;
  }
  while (at < text.size() && clean(text[at])) ++at;
  return at;
}

// Length of the valid sequence of two to four bytes that `text` begins with, 0 if it begins with none (Unicode 15,
// table 3-7).
std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const auto follows = [&byte](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned char first = byte(0);
  const unsigned char second = byte(1);
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (first == 0xE0 && second < 0xA0) return 0;
    if (first == 0xED && second > 0x9F) return 0;  // surrogates
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (first == 0xF0 && second < 0x90) return 0;
    if (first == 0xF4 && second > 0x8F) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

JsonText::JsonText(std::string& out, std::size_t expected) : out_(out), used_(out.size()) { make_room(expected); }

void JsonText::make_room(std::size_t bytes) {
  if (out_.size() - used_ < bytes) out_.resize(std::max(used_ + bytes, out_.size() + out_.size() / 2));
}

void JsonText::raw(std::string_view text) {
  make_room(text.size());
  std::copy(text.begin(), text.end(), out_.data() + used_);
  used_ += text.size();
}

void JsonText::string(std::string_view text) {
  make_room(text.size() + 2);
  out_[used_++] = '"';
  const std::size_t plain = clean_prefix(text);
  std::copy_n(text.data(), plain, out_.data() + used_);
  used_ += plain;
  if (plain < text.size()) escaped(text.substr(plain));
  raw("\"");
}

void JsonText::escaped(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  while (!text.empty()) {
    const std::size_t plain = clean_prefix(text);
    raw(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const auto byte = static_cast<unsigned char>(text[0]);
    std::size_t taken = 1;
    if (byte >= 0x80) {
      const std::size_t length = utf8_sequence(text);
      raw(length > 0 ? text.substr(0, length) : std::string_view("\xEF\xBF\xBD"));
      taken = std::max<std::size_t>(length, 1);
    } else if (text[0] == '"') {
      raw("\\\"");
    } else if (text[0] == '\\') {
      raw("\\\\");
    } else if (text[0] == '\n') {
      raw("\\n");
    } else if (text[0] == '\r') {
      raw("\\r");
    } else if (text[0] == '\t') {
      raw("\\t");
    } else {
      const std::array<char, 6> code{'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 0xFU]};
      raw({code.data(), code.size()});
    }
    text.remove_prefix(taken);
  }
}

void JsonText::number(std::int64_t value) {
  std::array<char, 24> digits{};
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  raw({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

}  // namespace berth::codec
