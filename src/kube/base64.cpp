#include "base64.h"

#include <cstdint>

namespace berth::kube {
namespace {

int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value = digit(c);
    if (value < 0 || padding > 0) return std::nullopt;
    group = (group << 6U) | static_cast<std::uint32_t>(value);
    if (++digits % 4 == 0) {
      for (const unsigned shift : {16U, 8U, 0U}) out += static_cast<char>((group >> shift) & 0xFFU);
      group = 0;
    }
  }
  if ((digits + padding) % 4 != 0 || padding > 2) return std::nullopt;
  if (padding == 1) {
    out += static_cast<char>((group >> 10U) & 0xFFU);
    out += static_cast<char>((group >> 2U) & 0xFFU);
  } else if (padding == 2) {
    out += static_cast<char>((group >> 4U) & 0xFFU);
  }
  return out;
}

}  // namespace berth::kube
