// Acts on the cluster: wakes pods that fit now, and tells on pods what was decided about them.
//
// Thread-safe. One thread looks every 100 ms at what was told and at the newest snapshot and decides what to write;
// others write it, so that a slow API server holds up neither that thread nor whoever calls here. Nothing fails: what
// the API server refuses is logged once, counted, and tried again with growing waits where that makes sense.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "berth/control/counters.h"
#include "berth/control/waiting_pods.h"
#include "berth/core/clock.h"
#include "berth/core/snapshot_cell.h"
#include "berth/kube/api_client.h"
#include "berth/model/decision.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"
#include "berth/policy/settings.h"

namespace berth::control {

struct ControlOptions {
  bool wake = true;
  bool events = true;
  std::chrono::milliseconds pending_after{300'000};  // a pod that waits longer gets an event that says why
  policy::Settings settings = {};
  model::PodDefaults defaults = {};
  std::function<bool()> active = {};  // whether this Berth is the one that acts; empty: always
  double events_per_second = 20;
  double events_burst = 200;
  std::chrono::milliseconds call_deadline{5'000};
};

class Control {
 public:
  // All references must outlive it.
  Control(ControlOptions options, kube::ApiClient& client, WaitingPods& pods,
          const core::SnapshotCell<model::Snapshot>& snapshots, const core::Clock& clock);
  ~Control();  // stops
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // An answer that went out to the scheduler. Returns at once.
  void decided(std::shared_ptr<const model::Decision> decision);

  void start();
  // Returns soon, whatever the API server does; what has not been written is dropped.
  void stop();
  // One look, as the thread has it; for tests, without that thread.
  void step();
  [[nodiscard]] ControlCounters counters() const;
  // Some of the datasets that waiting pods require and no node holds for them, as they name them: to be watched
  // closely.
  [[nodiscard]] std::vector<model::DatasetRef> awaited() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::control
