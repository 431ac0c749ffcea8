// Time, behind an interface so that tests need not wait for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace berth::core {

using SteadyTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual SteadyTime now() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallTime wall() const override { return std::chrono::system_clock::now(); }
};

// Stands still until told. Both times start at one hour after their epoch and advance together.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime now() const override { return SteadyTime(std::chrono::milliseconds(millis_.load())); }
  [[nodiscard]] WallTime wall() const override { return WallTime(std::chrono::milliseconds(millis_.load())); }
  void advance(std::chrono::milliseconds by) { millis_ += by.count(); }

 private:
  std::atomic<std::int64_t> millis_{3'600'000};
};

}  // namespace berth::core
