// Plain TCP sockets on loopback, for programs that play a server or a client themselves: no library stands between the
// clock and the wire.
//
// Not thread-safe, but one thread may read while another writes. Errors are values that name the call (kUnavailable).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "berth/core/result.h"

namespace berth::net {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;

  [[nodiscard]] int fd() const { return fd_; }
  // All of both, as one message to the network where it takes it.
  core::Result<void> write(std::string_view first, std::string_view second = {}) const;
  // At least one byte; 0 at the end.
  core::Result<std::size_t> read(char* into, std::size_t room) const;
  // Ends reads and writes of other threads.
  void shut_down() const;

 private:
  int fd_ = -1;
};

// With TCP_NODELAY, and 30 seconds of patience for what is read.
core::Result<Socket> connect_loopback(std::uint16_t port);

struct Listener {
  Socket socket;
  std::uint16_t port = 0;

  // The next connection, with TCP_NODELAY; an error once the socket is shut down.
  [[nodiscard]] core::Result<Socket> accept() const;
};
// On a free port.
core::Result<Listener> listen_loopback();

// The value of Content-Length in the head of an HTTP/1.1 message; std::string_view::npos if there is none.
std::size_t content_length(std::string_view head);

}  // namespace berth::net
