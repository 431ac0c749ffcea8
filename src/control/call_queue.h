// Makes calls to a slow peer on threads of its own, so that nobody else waits for it.
//
// Thread-safe. Calls are begun in the order in which they were posted. One that is posted while the queue is full, or
// after stop(), is refused. stop() raises the cancellation that every call is given, and drops what has not begun.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "berth/net/cancellation.h"

namespace berth::control {

class CallQueue {
 public:
  using Call = std::function<void(const net::Cancellation&)>;

  CallQueue(std::size_t threads, std::size_t most) : count_(threads), most_(most) {}
  ~CallQueue() { stop(); }
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  void start();
  void stop();
  [[nodiscard]] bool post(Call call);

 private:
  void run();

  const std::size_t count_;
  const std::size_t most_;
  net::Cancellation stopping_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Call> calls_;
  std::vector<std::thread> threads_;
};

}  // namespace berth::control
