#include "first_lists.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "berth/net/thread.h"

namespace berth::sources {

FirstLists::FirstLists(model::UpdateSink& sink, std::chrono::milliseconds wait, std::function<std::string()> why)
    : sink_(sink), wait_(wait), why_(std::move(why)) {}

FirstLists::~FirstLists() { stop(); }

void FirstLists::note(What what) {
  const std::lock_guard lock(mutex_);
  switch (what) {
    case What::kNodes:
      seen_.nodes = true;
      break;
    case What::kPods:
      seen_.pods = true;
      break;
    case What::kClaims:
      seen_.claims = true;
      break;
    case What::kDatasets:
      seen_.datasets = true;
      break;
    case What::kPolicies:
      seen_.policies = true;
      break;
  }
  changed_.notify_all();
}

void FirstLists::start() {
  thread_ = net::start_thread("first lists", [this] { run(); });
}

void FirstLists::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

bool FirstLists::told() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

void FirstLists::run() {
  std::unique_lock lock(mutex_);
  const auto over = [this] { return stopping_ || (seen_.claims && seen_.datasets && seen_.policies); };
  changed_.wait(lock, [&] { return over() || (seen_.nodes && seen_.pods); });
  const bool complete = changed_.wait_for(lock, wait_, over);
  if (stopping_) return;
  lock.unlock();
  if (!complete) {
    spdlog::warn("not all is known of datasets, claims and policies, going on with what is there: {}", why_());
  }
  sink_.push(model::DataListed{});
  lock.lock();
  told_ = true;
}

}  // namespace berth::sources
