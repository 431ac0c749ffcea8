// Decides what is told on which pod, at most one event of each kind, and counts locality.
//
// DatasetLocality after a pod with datasets was bound; WaitingForPlace when one has been pending for long;
// DatasetUnknown and InvalidPolicy when Filter was asked. The name of an event follows from pod and kind, so that one
// that was written before a restart is not written again.
//
// Not thread-safe. Does no I/O and reads the clock only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/codec/kubernetes_writes.h"
#include "berth/control/counters.h"
#include "berth/control/waiting_pods.h"
#include "berth/core/clock.h"
#include "berth/model/decision.h"
#include "berth/model/snapshot.h"
#include "berth/policy/settings.h"
#include "event_text.h"

namespace berth::control {

struct EventOptions {
  std::chrono::milliseconds pending_after{300'000};  // since the pod's creation
  std::chrono::milliseconds look_again{30'000};      // at one that is pending for long but was not rejected
  std::size_t most_pods = 50'000;
};

class EventPlan {
 public:
  EventPlan(model::PodDefaults defaults, EventOptions options, const core::Clock& clock);

  void decided(const model::Decision& decision, const model::Snapshot& snapshot);
  void heard(const PodNotice& notice, const model::Snapshot& snapshot);

  // What is to be told now.
  std::vector<codec::PodEvent> take(const model::Snapshot& snapshot);
  // Another Berth tells it.
  void discard() { events_.clear(); }

  [[nodiscard]] const LocalityCounts& locality() const { return locality_; }

 private:
  enum Kind : std::uint8_t { kLocality = 1, kWaiting = 2, kUnknown = 4, kInvalid = 8 };
  struct Entry {
    std::shared_ptr<const model::Pod> pod;  // null until the watch has shown it
    std::optional<Choice> choice;           // of a pod with datasets
    RejectedCounts rejected{};              // by the last Filter
    bool asked = false;
    bool has_candidates = false;
    std::uint8_t told = 0;
    std::vector<std::pair<Kind, std::string>> unheard;  // messages for when the watch shows it
    core::SteadyTime since;                             // first heard of
  };

  Entry* entry(const std::string& uid);
  // Nothing if it was told before.
  void tell(Entry& entry, Kind kind, const model::Pod& pod, std::string message);
  // The same once the watch has shown the pod: what asks may be a tool, about a pod that does not exist.
  void tell_when_seen(Entry& entry, Kind kind, std::string message);
  void bound(const model::Pod& pod, Entry* entry, const model::Snapshot& snapshot);
  void look_at_pending(const std::string& uid, Entry& entry, const model::Snapshot& snapshot);
  std::string unknown(const std::vector<std::string>& names, const model::Snapshot& snapshot, bool required);
  void sweep();

  const model::PodDefaults defaults_;
  const EventOptions options_;
  const core::Clock& clock_;
  model::StringMap<Entry> entries_;                           // by UID
  std::set<std::pair<core::WallTime, std::string>> pending_;  // when to look at whom
  std::set<std::string, std::less<>> schedulers_;             // that ask us
  // Guesses of what was meant take long among thousands of names, and the pods of a job ask for the same.
  model::StringMap<std::string> unknown_texts_;
  std::shared_ptr<const model::DatasetNames> unknown_among_;
  std::vector<codec::PodEvent> events_;
  core::SteadyTime swept_{};
  LocalityCounts locality_;
};

}  // namespace berth::control
