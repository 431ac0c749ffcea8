// Plain sockets on loopback: no library stands between the clock and the wire.
//
// Not thread-safe, but one thread may read while another writes. Errors are values that name the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "berth/core/clock.h"
#include "berth/core/result.h"

namespace berth::bench {

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

core::Result<Socket> connect_loopback(std::uint16_t port);

struct Listener {
  Socket socket;
  std::uint16_t port = 0;
};
// On a free port.
core::Result<Listener> listen_loopback();

struct Answer {
  int status = 0;
  std::string_view body;       // until the next call
  core::SteadyTime sent;       // before the first byte was written
  core::SteadyTime body_sent;  // the system had taken the last byte
  core::SteadyTime done;       // the last byte of the answer was here
};

// HTTP/1.1 as kube-scheduler's Go client speaks it: one connection that is kept, Content-Length both ways.
class HttpClient {
 public:
  static core::Result<HttpClient> connect(std::uint16_t port);
  [[nodiscard]] int fd() const { return socket_.fd(); }

  core::Result<Answer> get(const std::string& path);
  // The body is `first` and `second`.
  core::Result<Answer> post(const std::string& path, std::string_view first, std::string_view second = {});
  // The two halves of post().
  core::Result<void> send_post(const std::string& path, std::string_view first, std::string_view second = {});
  core::Result<Answer> receive();

 private:
  explicit HttpClient(Socket socket) : socket_(std::move(socket)) {}

  Socket socket_;
  std::string head_;
  std::string buffer_;
  Answer answer_;
};

}  // namespace berth::bench
