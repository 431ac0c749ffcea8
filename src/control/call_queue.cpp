#include "call_queue.h"

#include <utility>

#include "berth/core/thread_class.h"
#include "berth/net/thread.h"

namespace berth::control {

void CallQueue::start() {
  for (std::size_t i = threads_.size(); i < count_; ++i) {
    threads_.push_back(net::start_thread("writes to the cluster", [this] {
      core::favour_throughput();
      run();
    }));
  }
}

void CallQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.cancel();
    calls_.clear();
  }
  posted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool CallQueue::post(Call call) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_.cancelled() || calls_.size() >= most_) return false;
    calls_.push_back(std::move(call));
  }
  posted_.notify_one();
  return true;
}

void CallQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    posted_.wait(lock, [this] { return stopping_.cancelled() || !calls_.empty(); });
    if (stopping_.cancelled()) return;
    const Call call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call(stopping_);
    lock.lock();
  }
}

}  // namespace berth::control
