// Holds the newest immutable value for many readers.
//
// Thread-safe. A mutex around one pointer copy: with GCC 12 std::atomic<std::shared_ptr> is slower than this and
// TSan reports a race inside it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace berth::core {

template <class T>
class SnapshotCell {
 public:
  explicit SnapshotCell(std::shared_ptr<const T> first) : value_(std::move(first)) {}

  [[nodiscard]] std::shared_ptr<const T> load() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

  void publish(std::shared_ptr<const T> next) {
    {
      const std::lock_guard lock(mutex_);
      value_.swap(next);
    }
    // The old value dies here, outside the lock.
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace berth::core
