// Decides on which of the nodes that kube-scheduler would clear for a pod it may do so, and whom it evicts there.
//
// The scheduler chose the victims by what it counts: GPUs, CPU, memory, ports and so on, of which Berth sees the GPUs
// only. So a victim of its choice is spared for a pod that is alike (of the same controller, with the same demand on
// GPUs, priority and labels). Where its choice would free GPUs that our hard rules reject, a victim that holds nothing
// but whole GPUs is spared for others, too, that hold as many and are of no higher priority: if CPU or memory is
// missing then, the scheduler preempts once more, now beside a set that does. Beyond that victims are added, and only
// where the pod could not be placed without. A node on which our hard rules would reject the pod even if every pod of
// lower priority went is dropped, for evictions there would be in vain. Among ways to clear a node the first in this
// order counts: fewest violated budgets, lowest priority of the most important victim, lowest sum of priorities
// (kube-scheduler's, so that fewer pods come first), connected GPUs, fewest spared for pods that are not alike, least
// work lost, fewest GPUs, lowest UIDs. Work lost is the time since the later of start and last
// checkpoint, times GPUs, in whole minutes. Where GPUs are promised to others the first way may not do: of those that
// free whole GPUs the first 64 are tried, and then victims are added one by one, by priority and work lost.
//
// kube-scheduler picks one of the nodes that are answered: fewest violated budgets, lowest priority of the most
// important victim, and so on (pickOneNodeForPreemption). Of those that are first by these two, only those with the
// best set of GPUs and, among them, the least work lost are answered; where the most important victim's priority is not
// known, the node is answered too. With another filtering extender all are.
//
// Source of the rules of the call: v1.37 of kube-scheduler, framework/preemption/preemption.go and extender.go: no
// victim list may be empty, and each victim must be a pod on that node.
//
// Thread-safe: pure functions over an immutable snapshot.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/pod.h"
#include "berth/model/preemption.h"
#include "berth/model/reason.h"
#include "berth/model/snapshot.h"
#include "berth/policy/settings.h"

namespace berth::policy {

struct PreemptionQuery {
  const model::Snapshot& snapshot;
  const model::PodRequest& pod;
  std::span<const model::PreemptionCandidate> offered;
  core::WallTime now{};
};

struct PreemptionOutcome {
  std::vector<model::PreemptionCandidate> answer;               // in the order in which they were offered
  std::vector<std::pair<std::string, model::Reason>> rejected;  // nodes that can't take the pod, by our rules
  std::size_t misplaced = 0;  // candidates with victims on other nodes, or with none that would help
  std::size_t outranked = 0;  // candidates that would do, but worse than those answered
  std::size_t added = 0;      // victims, of the answer
  std::size_t spared = 0;     // victims of the scheduler's choice that are not in the answer, likewise
};

PreemptionOutcome decide_preemption(const PreemptionQuery& query, const Settings& settings);

// For a pod that is none of our business: all that can be answered at all, as it was offered.
PreemptionOutcome pass_preemption(std::span<const model::PreemptionCandidate> offered);

}  // namespace berth::policy
