// A client of bytes: says exactly what a test wants said, and reads one answer at a time.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace berth::server {

struct RawAnswer {
  int status = 0;  // 0: the connection ended without an answer
  std::string head;
  std::string body;
  [[nodiscard]] bool has(std::string_view line) const { return head.find(line) != std::string::npos; }
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  ~RawClient() {
    if (fd_ >= 0) ::close(fd_);
  }
  RawClient(RawClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_), rest_(std::move(other.rest_)) {}
  RawClient& operator=(RawClient&&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  void say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the answer tells why
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // True once something of the server can be read, or the connection has ended.
  [[nodiscard]] bool readable() const {
    pollfd entry{.fd = fd_, .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, 0) > 0;
  }
  void end_sending() { ::shutdown(fd_, SHUT_WR); }

  // The next answer; `head_only` after a HEAD request.
  RawAnswer answer(bool head_only = false) {
    RawAnswer answer;
    std::size_t end = 0;
    while ((end = rest_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return answer;
    }
    answer.head = rest_.substr(0, end + 2);
    rest_.erase(0, end + 4);
    answer.status = std::atoi(answer.head.c_str() + 9);
    const std::size_t length = answer.head.find("Content-Length: ");
    if (head_only || length == std::string::npos) return answer;
    const std::size_t bytes = std::strtoul(answer.head.c_str() + length + 16, nullptr, 10);
    while (rest_.size() < bytes && more()) {
    }
    answer.body = rest_.substr(0, bytes);
    rest_.erase(0, bytes);
    return answer;
  }
  RawAnswer ask(std::string_view bytes) {
    say(bytes);
    return answer();
  }
  // True if the server ends the connection (within 30 s) without another byte.
  bool ended() { return rest_.empty() && !more() && !timed_out_; }

 private:
  bool more() {
    pollfd entry{.fd = fd_, .events = POLLIN, .revents = 0};
    timed_out_ = ::poll(&entry, 1, 30'000) == 0;
    if (timed_out_) return false;
    char piece[65536];
    const ssize_t got = ::recv(fd_, piece, sizeof piece, 0);
    if (got <= 0) return false;
    rest_.append(piece, static_cast<std::size_t>(got));
    return true;
  }

  int fd_;
  bool connected_ = false;
  bool timed_out_ = false;
  std::string rest_;
};

// "POST /echo" with a length.
inline std::string post(std::string_view path, std::string_view body, std::string_view headers = "") {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace berth::server
