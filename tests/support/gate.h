// In the place of a thread's waits: each ends when the test says so.
//
// Thread-safe. One thread waits, one test steps; open() before the thread is joined.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace berth::testing {

class Gate {
 public:
  // Waits until let through.
  void wait() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_ || passed_ >= arrived_; });
  }
  // Lets the thread go on, and returns when it waits again; false after 30 s.
  bool step() {
    std::unique_lock lock(mutex_);
    if (!waits(lock)) return false;
    ++passed_;
    changed_.notify_all();
    return waits(lock);
  }
  // All waits end at once from now on.
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  bool waits(std::unique_lock<std::mutex>& lock) {
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return open_ || arrived_ > passed_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t arrived_ = 0;
  std::size_t passed_ = 0;
  bool open_ = false;
};

}  // namespace berth::testing
