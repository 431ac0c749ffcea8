#include "http_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace berth::server {
namespace {

using std::chrono::milliseconds;

// What a client that was refused may still send before it is cut.
constexpr std::size_t kMaxDiscard = std::size_t{256} << 20U;

int poll_timeout(core::SteadyTime deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<milliseconds::rep>(left, 0, 3'600'000));
}

// True once `fd` is ready for `events` (or failed), false when the deadline is over.
bool wait_for(int fd, short events, core::SteadyTime deadline) {
  for (;;) {
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&entry, 1, poll_timeout(deadline));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

bool HttpSocket::wait_idle(milliseconds timeout) const {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    std::array<pollfd, 2> entries{
        {{.fd = fd_, .events = POLLIN, .revents = 0}, {.fd = drain_fd_, .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(entries.data(), entries.size(), poll_timeout(deadline));
    // A request that is already here is served even while draining.
    if (ready > 0) return entries[0].revents != 0;
    if (ready == 0 || errno != EINTR) return false;
  }
}

ReadResult HttpSocket::read(std::span<char> into, core::SteadyTime deadline) const {
  for (;;) {
    // Also while there is always something to read.
    if (std::chrono::steady_clock::now() >= deadline) return {ReadStatus::kTimeout, 0};
    const ssize_t got = ::recv(fd_, into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) return {ReadStatus::kData, static_cast<std::size_t>(got)};
    if (got == 0) return {ReadStatus::kClosed, 0};
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return {ReadStatus::kClosed, 0};
    if (!wait_for(fd_, POLLIN, deadline)) return {ReadStatus::kTimeout, 0};
  }
}

bool HttpSocket::write(std::string_view first, std::string_view second, core::SteadyTime deadline) const {
  while (!first.empty() || !second.empty()) {
    std::array<iovec, 2> parts{{{.iov_base = const_cast<char*>(first.data()), .iov_len = first.size()},
                                {.iov_base = const_cast<char*>(second.data()), .iov_len = second.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = ::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN || !wait_for(fd_, POLLOUT, deadline)) return false;
      continue;
    }
    const auto taken = static_cast<std::size_t>(sent);
    const std::size_t of_first = std::min(taken, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(taken - of_first);
    if (!first.empty() || !second.empty()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
    }
  }
  return true;
}

void HttpSocket::linger(milliseconds timeout) const {
  ::shutdown(fd_, SHUT_WR);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::array<char, 16U << 10U> waste;
  std::size_t discarded = 0;
  while (discarded < kMaxDiscard && std::chrono::steady_clock::now() < deadline) {
    const ReadResult got = read(waste, deadline);
    if (got.status != ReadStatus::kData) return;
    discarded += got.bytes;
  }
}

}  // namespace berth::server
