// Reads and writes kube-scheduler's Preempt call (k8s.io/kube-scheduler extender/v1 ExtenderPreemptionArgs and
// ExtenderPreemptionResult).
//
// Keys of the protocol are matched without regard to case; null and absent are the same; unknown keys are ignored. The
// answer names pods by UID, whichever form was asked in: kube-scheduler reads no other.
//
// Thread-safe: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"
#include "berth/model/preemption.h"

namespace berth::codec {

struct PreemptionRequest {
  model::Pod pod;
  std::vector<model::PreemptionCandidate> candidates;  // in the order of the request
};

// `body` is given capacity for the parser's padding if it lacks it. kInvalid, with the place, for anything that is not
// an ExtenderPreemptionArgs with a pod, for a key or node that is given twice, and for an empty node name or UID. With
// both forms the one with UIDs counts.
core::Result<PreemptionRequest> read_preemption_request(std::string& body, const model::ResourceNames& resources);

// Appends to `out`. No candidate: no preemption.
void write_preemption_answer(std::string& out, std::span<const model::PreemptionCandidate> candidates);

}  // namespace berth::codec
