#include "read_text.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace berth::cli {

core::Result<std::string> read_text(const std::string& path, std::size_t most_bytes) {
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  errno = 0;
  const std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) return core::fail(core::ErrorCode::kNotFound, std::strerror(errno), path);
  std::string text;
  std::array<char, 65536> piece{};
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get())) {
    text.append(piece.data(), got);
    if (text.size() > most_bytes) {
      return core::fail(core::ErrorCode::kTooLarge, "larger than " + std::to_string(most_bytes >> 20U) + " MiB", path);
    }
  }
  if (std::ferror(file.get()) != 0) return core::fail(core::ErrorCode::kUnavailable, std::strerror(errno), path);
  return text;
}

}  // namespace berth::cli
