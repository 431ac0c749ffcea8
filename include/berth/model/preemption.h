// What kube-scheduler asks an extender before it evicts pods, and what it is answered: for each node that could take
// the pod, the pods that would have to go.
//
// Source: ExtenderPreemptionArgs, Victims and MetaVictims of k8s.io/kube-scheduler extender/v1.
//
// Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/core/clock.h"

namespace berth::model {

struct Victim {
  std::string uid;
  // All below is known only where the scheduler sent whole pods.
  bool whole = false;
  std::string node;  // spec.nodeName
  std::int32_t priority = 0;
  core::WallTime started;  // status.startTime, epoch if it has not
  friend bool operator==(const Victim&, const Victim&) = default;
};

struct PreemptionCandidate {
  std::string node;
  std::vector<Victim> victims;         // the most important first
  std::int64_t budget_violations = 0;  // evictions that a PodDisruptionBudget does not allow
  friend bool operator==(const PreemptionCandidate&, const PreemptionCandidate&) = default;
};

}  // namespace berth::model
