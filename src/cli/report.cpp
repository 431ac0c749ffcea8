#include "report.h"

#include <cstdio>
#include <string>

namespace berth::cli {

std::string printable(std::string_view text) {
  std::string clean(text);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const auto byte = static_cast<unsigned char>(clean[i]);
    // C1 controls are U+0080 to U+009F, in UTF-8 C2 80 to C2 9F.
    const bool c1 = byte == 0xC2 && i + 1 < clean.size() && static_cast<unsigned char>(clean[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F) clean[i] = '?';
    if (c1) clean.replace(i, 2, "?");
  }
  return clean;
}

int report(int status, std::string_view message) {
  const std::string line = "berth: " + printable(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return status;
}

}  // namespace berth::cli
