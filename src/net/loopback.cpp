#include "berth/net/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

namespace berth::net {
namespace {

using core::ErrorCode;

tl::unexpected<core::Error> failed(const char* call) {
  return core::fail(ErrorCode::kUnavailable, std::string(call) + ": " + std::strerror(errno));
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// As Go's servers and clients do, else an answer waits for an ACK.
void send_at_once(const Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

core::Result<void> Socket::write(std::string_view first, std::string_view second) const {
  // writev() takes a pointer to non-const, but only reads.
  std::array<iovec, 2> parts = {
      {{const_cast<char*>(first.data()), first.size()}, {const_cast<char*>(second.data()), second.size()}}};
  std::size_t left = first.size() + second.size();
  while (left > 0) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t wrote = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failed("send");
    auto gone = static_cast<std::size_t>(wrote);
    left -= gone;
    for (iovec& part : parts) {
      const std::size_t taken = std::min(gone, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + taken;
      part.iov_len -= taken;
      gone -= taken;
    }
  }
  return {};
}

core::Result<std::size_t> Socket::read(char* into, std::size_t room) const {
  while (true) {
    const ssize_t got = ::recv(fd_, into, room, 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return failed("receive");
  }
}

void Socket::shut_down() const { ::shutdown(fd_, SHUT_RDWR); }

core::Result<Socket> connect_loopback(std::uint16_t port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) return failed("socket");
  const sockaddr_in address = loopback(port);
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failed("connect");
  send_at_once(socket);
  const timeval patience{30, 0};
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return socket;
}

core::Result<Socket> Listener::accept() const {
  while (true) {
    Socket taken(::accept4(socket.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (taken.fd() >= 0) {
      send_at_once(taken);
      return taken;
    }
    if (errno != EINTR && errno != ECONNABORTED) return failed("accept");
  }
}

core::Result<Listener> listen_loopback() {
  Listener listener{Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0};
  if (listener.socket.fd() < 0) return failed("socket");
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.socket.fd(), generic, size) != 0) return failed("bind");
  if (::listen(listener.socket.fd(), 64) != 0) return failed("listen");
  if (::getsockname(listener.socket.fd(), generic, &size) != 0) return failed("getsockname");
  listener.port = ntohs(address.sin_port);
  return listener;
}

std::size_t content_length(std::string_view head) {
  constexpr std::string_view kName = "content-length:";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto at = std::search(head.begin(), head.end(), kName.begin(), kName.end(), same);
  if (at == head.end()) return std::string_view::npos;
  std::string_view value = head.substr(static_cast<std::size_t>(at - head.begin()) + kName.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  std::size_t length = std::string_view::npos;
  std::from_chars(value.data(), value.data() + value.size(), length);
  return length;
}

}  // namespace berth::net
