// One accepted TCP connection: reads and writes with deadlines, and waits that the server's drain can end.
//
// An instance belongs to one thread. cut() of the server (shutdown(2) on the descriptor) ends any wait from outside.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

#include "berth/core/clock.h"

namespace berth::server {

enum class ReadStatus { kData, kClosed, kTimeout };

struct ReadResult {
  ReadStatus status = ReadStatus::kClosed;
  std::size_t bytes = 0;
};

class HttpSocket {
 public:
  // `fd` stays the caller's. `drain_fd` is an eventfd that becomes and stays readable at drain.
  HttpSocket(int fd, int drain_fd) : fd_(fd), drain_fd_(drain_fd) {}

  // Waits for bytes, the end of the connection or the drain. True if there are bytes (or an end) to read.
  [[nodiscard]] bool wait_idle(std::chrono::milliseconds timeout) const;

  // Reads what is there, at least one byte.
  [[nodiscard]] ReadResult read(std::span<char> into, core::SteadyTime deadline) const;

  // Writes both parts as one; false if the peer is gone or the deadline is over.
  [[nodiscard]] bool write(std::string_view first, std::string_view second, core::SteadyTime deadline) const;

  // Ends the connection without losing an answer that the client has not read yet: closing with unread input makes the
  // kernel send a reset, which discards it. Takes in and drops what the client still sends, up to a bound.
  void linger(std::chrono::milliseconds timeout) const;

 private:
  int fd_;
  int drain_fd_;
};

}  // namespace berth::server
