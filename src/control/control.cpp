#include "berth/control/control.h"

#include <spdlog/spdlog.h>

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "berth/codec/kubernetes_writes.h"
#include "berth/core/quantity.h"
#include "berth/core/thread_class.h"
#include "berth/net/thread.h"
#include "call_queue.h"
#include "event_plan.h"
#include "token_bucket.h"
#include "wake_plan.h"

namespace berth::control {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};
// Decisions that wait to be looked at; one is about 50 kB at 5,000 nodes. A busy scheduler makes a few in 100 ms.
constexpr std::size_t kMostDecisions = 1'000;
// Events are not tried for so long after the API server refused one.
constexpr std::chrono::seconds kRefusalPause{30};
constexpr std::size_t kMostAwaited = 64;  // datasets
constexpr std::size_t kWakeThreads = 4;
constexpr std::size_t kMostWakes = 200;
constexpr std::size_t kMostEvents = 1'000;
constexpr std::size_t kMostAnswerBytes = std::size_t{4} << 20U;

WakeAnswer answer_of(const kube::ApiResult<std::string>& result) {
  if (result) return WakeAnswer::kDone;
  // 422: the UID, which can't be changed, is another.
  if (result.error().status == 404 || result.error().status == 409 || result.error().status == 422) {
    return WakeAnswer::kGone;
  }
  return result.error().code == core::ErrorCode::kDenied ? WakeAnswer::kDenied : WakeAnswer::kFailed;
}

// Tells of a refusal once, and again after calls have gone well. Thread-safe.
class Refusals {
 public:
  explicit Refusals(const char* what) : what_(what) {}

  void heard(const kube::ApiResult<std::string>& result, core::SteadyTime now) {
    const std::lock_guard lock(mutex_);
    const bool refused = !result && result.error().code == core::ErrorCode::kDenied;
    if (result) told_ = false;
    if (!refused) return;
    pause_until_ = now + kRefusalPause;
    if (!std::exchange(told_, true)) {
      spdlog::warn("{} is refused, see the rights in docs/configuration.md: {}", what_, result.error().to_string());
    }
  }
  // A refusal is recent.
  [[nodiscard]] bool pause(core::SteadyTime now) const {
    const std::lock_guard lock(mutex_);
    return now < pause_until_;
  }

 private:
  const char* const what_;
  mutable std::mutex mutex_;
  bool told_ = false;
  core::SteadyTime pause_until_{};
};

EventOptions event_options(const ControlOptions& options) {
  EventOptions result;
  result.pending_after = options.pending_after;
  return result;
}

}  // namespace

struct Control::State {
  State(ControlOptions with, kube::ApiClient& api, WaitingPods& waiting,
        const core::SnapshotCell<model::Snapshot>& cell, const core::Clock& time)
      : options(std::move(with)),
        client(api),
        pods(waiting),
        snapshots(cell),
        clock(time),
        wake_plan(options.settings, options.defaults, {}, time),
        event_plan(options.defaults, event_options(options), time),
        event_tokens(options.events_per_second, options.events_burst) {}

  const ControlOptions options;
  kube::ApiClient& client;
  WaitingPods& pods;
  const core::SnapshotCell<model::Snapshot>& snapshots;
  const core::Clock& clock;

  // Of the looking thread.
  std::mutex step_mutex;
  WakePlan wake_plan;
  EventPlan event_plan;
  TokenBucket event_tokens;

  std::mutex mutex;  // what follows
  std::vector<std::shared_ptr<const model::Decision>> decisions;
  std::vector<std::pair<Wake, WakeAnswer>> answers;
  ControlCounters counters;
  std::vector<model::DatasetRef> awaited;

  Refusals pod_refusals{"waking pods"};
  Refusals node_refusals{"waking pods by an annotation of a node"};
  Refusals event_refusals{"writing events"};
  net::Cancellation stopping;
  std::thread thread;
  // Last, so that their threads end first.
  CallQueue wakes{kWakeThreads, kMostWakes};
  CallQueue events{1, kMostEvents};

  void look();
  void heard(const PodNotice& notice);
  void send(const Wake& wake);
  void call(const Wake& wake, const net::Cancellation& cancelled);
  void send(codec::PodEvent event);
  void call(const codec::PodEvent& event, const net::Cancellation& cancelled);

  [[nodiscard]] kube::CallOptions call_options(const net::Cancellation& cancelled) const {
    kube::CallOptions result;
    result.deadline = options.call_deadline;
    result.max_response_bytes = kMostAnswerBytes;
    result.cancellation = &cancelled;
    return result;
  }
  template <class Change>
  void count(const Change& change) {
    const std::lock_guard lock(mutex);
    change(counters);
  }
};

void Control::State::look() {
  const std::lock_guard only(step_mutex);
  std::vector<std::shared_ptr<const model::Decision>> decided;
  std::vector<std::pair<Wake, WakeAnswer>> answered;
  {
    const std::lock_guard lock(mutex);
    decided.swap(decisions);
    answered.swap(answers);
  }
  const auto snapshot = snapshots.load();
  for (const auto& [wake, answer] : answered) wake_plan.answered(wake, answer);
  // Decisions before what became of their pods.
  for (const auto& decision : decided) {
    if (options.wake) {
      wake_plan.decided(*decision);
      // The watch may have shown it at an earlier look, when nothing had been decided about it.
      if (const auto pod = pods.find(decision->pod.uid)) wake_plan.waiting(pod);
    }
    event_plan.decided(*decision, *snapshot);
  }
  for (const PodNotice& notice : pods.take()) {
    if (options.wake) heard(notice);
    event_plan.heard(notice, *snapshot);
  }
  count([&](ControlCounters& counted) { counted.locality = event_plan.locality(); });
  if (options.active && !options.active()) return event_plan.discard();
  if (options.wake) {
    for (const Wake& wake : wake_plan.plan(snapshot)) send(wake);
    auto datasets = wake_plan.awaited(kMostAwaited);
    const std::lock_guard lock(mutex);
    awaited.swap(datasets);
  }
  for (codec::PodEvent& event : event_plan.take(*snapshot)) {
    if (options.events) send(std::move(event));
  }
}

void Control::State::heard(const PodNotice& notice) {
  if (notice.news == PodNews::kWaiting) {
    wake_plan.waiting(notice.pod);
  } else {
    wake_plan.left(notice.pod->uid);
  }
}

void Control::State::send(const Wake& wake) {
  if (!wakes.post([this, wake](const net::Cancellation& cancelled) { call(wake, cancelled); })) {
    wake_plan.answered(wake, WakeAnswer::kFailed);
  }
}

void Control::State::call(const Wake& wake, const net::Cancellation& cancelled) {
  const std::string key = std::string(model::kAnnotationPrefix) + std::string(model::kWakeKey);
  const std::string target =
      wake.node ? "/api/v1/nodes/" + wake.name : "/api/v1/namespaces/" + wake.ns + "/pods/" + wake.name;
  const auto result = client.patch(target, kube::PatchType::kMerge,
                                   codec::write_annotation_patch(wake.uid, key, core::format_timestamp(clock.wall())),
                                   call_options(cancelled));
  (wake.node ? node_refusals : pod_refusals).heard(result, clock.now());
  const WakeAnswer answer = answer_of(result);
  const std::lock_guard lock(mutex);
  answers.emplace_back(wake, answer);
  if (answer == WakeAnswer::kDone) ++(wake.node ? counters.node_wakes : counters.pod_wakes);
  if (answer == WakeAnswer::kDenied || answer == WakeAnswer::kFailed) ++counters.failed_wakes;
}

void Control::State::send(codec::PodEvent event) {
  const bool sent =
      !event_refusals.pause(clock.now()) && event_tokens.take(clock.now()) &&
      events.post([this, event = std::move(event)](const net::Cancellation& cancelled) { call(event, cancelled); });
  if (!sent) count([](ControlCounters& counted) { ++counted.events_dropped; });
}

void Control::State::call(const codec::PodEvent& event, const net::Cancellation& cancelled) {
  const auto result =
      client.post("/api/v1/namespaces/" + event.ns + "/events", codec::write_event(event), call_options(cancelled));
  event_refusals.heard(result, clock.now());
  // Told before Berth was restarted.
  const bool there = !result && result.error().status == 409;
  count([&](ControlCounters& counted) { ++(result || there ? counted.events_sent : counted.events_failed); });
}

Control::Control(ControlOptions options, kube::ApiClient& client, WaitingPods& pods,
                 const core::SnapshotCell<model::Snapshot>& snapshots, const core::Clock& clock)
    : state_(std::make_unique<State>(std::move(options), client, pods, snapshots, clock)) {
  state_->wakes.start();
  state_->events.start();
}

Control::~Control() { stop(); }

void Control::decided(std::shared_ptr<const model::Decision> decision) {
  const std::lock_guard lock(state_->mutex);
  if (state_->decisions.size() < kMostDecisions) state_->decisions.push_back(std::move(decision));
}

void Control::start() {
  if (state_->thread.joinable()) return;
  state_->thread = net::start_thread("control", [this] {
    core::favour_throughput();
    while (!state_->stopping.wait_for(kLookEvery)) state_->look();
  });
}

void Control::stop() {
  state_->stopping.cancel();
  if (state_->thread.joinable()) state_->thread.join();
  state_->wakes.stop();
  state_->events.stop();
}

void Control::step() { state_->look(); }

std::vector<model::DatasetRef> Control::awaited() const {
  const std::lock_guard lock(state_->mutex);
  return state_->awaited;
}

ControlCounters Control::counters() const {
  const std::lock_guard lock(state_->mutex);
  ControlCounters result = state_->counters;
  result.waiting_pods = state_->pods.size();
  return result;
}

}  // namespace berth::control
