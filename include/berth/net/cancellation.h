// A flag that is raised once and wakes whoever waits for the network or for time.
//
// Thread-safe. It is a file descriptor underneath (eventfd), so that a wait on sockets can include it and a cancel
// takes effect at once, not at the next poll. Once raised it stays raised.
#pragma once

#include <atomic>
#include <chrono>

namespace berth::net {

class Cancellation {
 public:
  Cancellation();  // throws std::system_error when the process has no file descriptor left
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  void cancel() noexcept;
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }

  // Waits for `time`, or until cancelled; true if cancelled.
  bool wait_for(std::chrono::milliseconds time) const;

  // Readable once cancelled.
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace berth::net
