#include "small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace berth::kube {

core::Result<std::string> read_small_file(const std::filesystem::path& file, std::size_t max_bytes) {
  using core::ErrorCode;
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const ErrorCode code = errno == ENOENT || errno == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return core::fail(code, "can't open it: " + std::generic_category().message(errno), file.string());
  }
  std::string text;
  char block[16384];
  ssize_t got = 0;
  while (text.size() <= max_bytes && (got = read(fd, block, sizeof block)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  const int reason = errno;
  close(fd);
  if (got < 0) {
    return core::fail(ErrorCode::kUnavailable, "can't read it: " + std::generic_category().message(reason),
                      file.string());
  }
  if (text.size() > max_bytes) {
    return core::fail(ErrorCode::kTooLarge, "it has more than " + std::to_string(max_bytes) + " bytes", file.string());
  }
  return text;
}

}  // namespace berth::kube
