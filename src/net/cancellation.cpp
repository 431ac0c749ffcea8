#include "berth/net/cancellation.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace berth::net {

Cancellation::Cancellation() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Cancellation::~Cancellation() { close(fd_); }

void Cancellation::cancel() noexcept {
  cancelled_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  // It fails only when the counter is full, and then the descriptor is readable already.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
}

bool Cancellation::wait_for(std::chrono::milliseconds time) const {
  using std::chrono::milliseconds;
  const auto end = std::chrono::steady_clock::now() + time;
  while (!cancelled()) {
    const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    pollfd waited{fd_, POLLIN, 0};
    poll(&waited, 1, static_cast<int>(std::min(left, milliseconds(3'600'000)).count()));
  }
  return cancelled();
}

}  // namespace berth::net
