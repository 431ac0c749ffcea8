#include "sockets.h"

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
#include <chrono>
#include <cstring>

namespace berth::bench {
namespace {

using core::ErrorCode;

constexpr std::size_t kReadAtOnce = 256U << 10U;

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

// The value of Content-Length, or npos.
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
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{30, 0};
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return socket;
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

core::Result<HttpClient> HttpClient::connect(std::uint16_t port) {
  auto socket = connect_loopback(port);
  if (!socket) return tl::unexpected(socket.error());
  return HttpClient(*std::move(socket));
}

core::Result<Answer> HttpClient::get(const std::string& path) {
  answer_.sent = std::chrono::steady_clock::now();
  head_ =
      "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n\r\n";
  if (auto sent = socket_.write(head_); !sent) return tl::unexpected(sent.error());
  answer_.body_sent = std::chrono::steady_clock::now();
  return receive();
}

core::Result<Answer> HttpClient::post(const std::string& path, std::string_view first, std::string_view second) {
  if (auto sent = send_post(path, first, second); !sent) return tl::unexpected(sent.error());
  return receive();
}

core::Result<void> HttpClient::send_post(const std::string& path, std::string_view first, std::string_view second) {
  answer_.sent = std::chrono::steady_clock::now();
  head_ = "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: " +
          std::to_string(first.size() + second.size()) +
          "\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n";
  head_ += first;
  auto sent = socket_.write(head_, second);
  answer_.body_sent = std::chrono::steady_clock::now();
  return sent;
}

core::Result<Answer> HttpClient::receive() {
  std::size_t filled = 0;
  std::size_t end = std::string::npos;  // of the whole answer
  std::size_t head_size = 0;
  while (filled < end) {
    const std::size_t want = end == std::string::npos ? kReadAtOnce : end - filled;
    if (buffer_.size() < filled + want) buffer_.resize(filled + want);
    const auto got = socket_.read(buffer_.data() + filled, buffer_.size() - filled);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return core::fail(ErrorCode::kUnavailable, "the server closed the connection");
    filled += *got;
    if (end != std::string::npos) continue;
    const std::size_t blank = std::string_view(buffer_).substr(0, filled).find("\r\n\r\n");
    if (blank == std::string::npos) continue;
    head_size = blank + 4;
    const std::string_view head(buffer_.data(), head_size);
    const std::size_t length = content_length(head);
    if (length == std::string_view::npos) return core::fail(ErrorCode::kInvalid, "an answer without Content-Length");
    answer_.status = 0;
    std::from_chars(head.data() + std::min<std::size_t>(9, head.size()), head.data() + head.size(), answer_.status);
    end = head_size + length;
  }
  answer_.done = std::chrono::steady_clock::now();
  answer_.body = std::string_view(buffer_).substr(head_size, end - head_size);
  return answer_;
}

}  // namespace berth::bench
