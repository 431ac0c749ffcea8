#include "berth/state/cluster_state.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "attempt_counter.h"
#include "builder.h"

namespace berth::state {

namespace {

// An update waits this long for others to share its snapshot: at hundreds a second the builder is then woken for a
// batch, not for each, which costs a busy machine more than the work itself.
constexpr std::chrono::milliseconds kGather{3};

// After a snapshot that found no memory.
constexpr std::chrono::milliseconds kBuildAgain{1'000};

std::shared_ptr<const model::Snapshot> first_snapshot() {
  auto snapshot = std::make_shared<model::Snapshot>();
  snapshot->not_ready_why = not_ready_why(false, false, false);
  return snapshot;
}

}  // namespace

struct ClusterState::Work {
  using Item = std::variant<model::ClusterUpdate, Attempt>;

  Work(const StateOptions& options, const core::Clock& its_clock)
      : clock(its_clock), attempts(options.attempt_gap, options.max_attempts_kept), builder(options, attempts) {}

  void add(Item item, bool urgent);
  // With build_mutex held: takes what waits.
  void apply_waiting();
  // With build_mutex held.
  void take(std::vector<Item>& batch, core::SteadyTime now);
  void publish_if_changed();
  void run();

  const core::Clock& clock;
  AttemptCounter attempts;
  core::SnapshotCell<model::Snapshot> snapshots{first_snapshot()};

  std::mutex queue_mutex;
  std::condition_variable wake;
  std::vector<Item> queue;
  bool urgent_waits = false;  // an attempt is in the queue
  bool stopping = false;

  std::mutex build_mutex;  // taken before queue_mutex
  Builder builder;
  bool build_failed = false;           // the last one
  std::chrono::microseconds spent{0};  // on what is not published yet

  std::atomic<std::uint64_t> updates = 0;
  std::atomic<std::uint64_t> publications = 0;
  std::atomic<std::uint64_t> failed_builds = 0;
  std::atomic<std::uint64_t> soft_expired = 0;
  std::atomic<std::int64_t> last_build_us = 0;
  std::array<std::atomic<std::uint64_t>, FailureCounts{}.size()> placement_failures{};

  std::mutex thread_mutex;
  std::thread thread;
};

void ClusterState::Work::add(Item item, bool urgent) {
  bool first = false;
  {
    const std::lock_guard lock(queue_mutex);
    first = queue.empty() || (urgent && !urgent_waits);
    queue.push_back(std::move(item));
    urgent_waits = urgent_waits || urgent;
  }
  if (first) wake.notify_one();
}

void ClusterState::Work::apply_waiting() {
  std::vector<Item> batch;
  {
    const std::lock_guard lock(queue_mutex);
    batch.swap(queue);
    urgent_waits = false;
  }
  const core::SteadyTime now = clock.now();
  try {
    take(batch, now);
  } catch (const std::bad_alloc&) {
    spdlog::critical("no memory to take an update of the cluster; ending, because a new start counts everything anew");
    std::abort();
  }
  spent += std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - now);
}

void ClusterState::Work::take(std::vector<Item>& batch, core::SteadyTime now) {
  soft_expired += builder.expire(now);
  const core::WallTime wall = clock.wall();
  for (Item& item : batch) {
    if (auto* const update = std::get_if<model::ClusterUpdate>(&item)) {
      builder.apply(std::move(*update), wall);
      ++updates;
    } else {
      builder.apply(std::get<Attempt>(item), now);
    }
  }
  for (std::size_t i = 0; i < placement_failures.size(); ++i) placement_failures[i] = builder.failures()[i];
}

void ClusterState::Work::publish_if_changed() {
  if (builder.changed()) {
    const core::SteadyTime now = clock.now();
    try {
      snapshots.publish(builder.build({now, clock.wall()}));
    } catch (const std::bad_alloc&) {
      ++failed_builds;
      if (!std::exchange(build_failed, true)) {
        spdlog::critical("no memory for a new snapshot of the cluster; answering from the last one, trying again");
      }
      return;
    }
    if (std::exchange(build_failed, false)) spdlog::info("memory for a new snapshot of the cluster again");
    ++publications;
    spent += std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - now);
    last_build_us = spent.count();
  }
  spent = {};
}

void ClusterState::Work::run() {
  const auto has_work = [this] { return stopping || !queue.empty(); };
  const auto has_urgent = [this] { return stopping || urgent_waits; };
  while (true) {
    std::optional<core::SteadyTime> expiry;
    {
      const std::lock_guard lock(build_mutex);
      expiry = builder.next_expiry();
      if (build_failed) expiry = std::min(expiry.value_or(core::SteadyTime::max()), clock.now() + kBuildAgain);
    }
    {
      std::unique_lock lock(queue_mutex);
      if (expiry) {
        wake.wait_for(lock, std::max(core::SteadyTime::duration::zero(), *expiry - clock.now()), has_work);
      } else {
        wake.wait(lock, has_work);
      }
      if (!stopping && !queue.empty()) wake.wait_for(lock, kGather, has_urgent);
      if (stopping) return;
    }
    const std::lock_guard lock(build_mutex);
    apply_waiting();
    publish_if_changed();
  }
}

ClusterState::ClusterState(const StateOptions& options, const core::Clock& clock)
    : work_(std::make_unique<Work>(options, clock)) {}

ClusterState::~ClusterState() { stop(); }

void ClusterState::push(model::ClusterUpdate update) { work_->add(std::move(update), false); }

void ClusterState::post(Attempt attempt) {
  if (attempt.uid.empty()) return;
  work_->attempts.record(attempt.uid, attempt.verb, work_->clock.now());
  // Only a winner changes what the next pod is told.
  const bool urgent = !attempt.winner.empty();
  work_->add(std::move(attempt), urgent);
}

std::uint32_t ClusterState::attempt_number(const std::string& uid, model::Verb verb) const {
  return work_->attempts.number(uid, verb, work_->clock.now());
}

const core::SnapshotCell<model::Snapshot>& ClusterState::snapshots() const { return work_->snapshots; }

StateCounters ClusterState::counters() const {
  StateCounters counters;
  counters.updates = work_->updates;
  counters.publications = work_->publications;
  counters.failed_builds = work_->failed_builds;
  counters.soft_expired = work_->soft_expired;
  for (std::size_t i = 0; i < counters.placement_failures.size(); ++i) {
    counters.placement_failures[i] = work_->placement_failures[i];
  }
  counters.last_build = std::chrono::microseconds(work_->last_build_us);
  const std::lock_guard lock(work_->queue_mutex);
  counters.queue = work_->queue.size();
  return counters;
}

void ClusterState::start() {
  const std::lock_guard lock(work_->thread_mutex);
  if (work_->thread.joinable()) return;
  {
    const std::lock_guard queue_lock(work_->queue_mutex);
    work_->stopping = false;
  }
  work_->thread = std::thread([work = work_.get()] { work->run(); });
}

void ClusterState::stop() {
  const std::lock_guard lock(work_->thread_mutex);
  if (!work_->thread.joinable()) return;
  {
    const std::lock_guard queue_lock(work_->queue_mutex);
    work_->stopping = true;
  }
  work_->wake.notify_all();
  work_->thread.join();
}

void ClusterState::step() {
  const std::lock_guard lock(work_->build_mutex);
  work_->apply_waiting();
  work_->publish_if_changed();
}

}  // namespace berth::state
