// How much of a pod's datasets is on the node that it got.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/control/counters.h"
#include "berth/model/decision.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"

namespace berth::control {

struct HeldDataset {
  model::DatasetRef ref;         // as the pod names it
  model::DatasetShare share;     // observed: epoch if the node is not known to hold anything
  std::int64_t total_bytes = 0;  // 0: not known
};

// Of the datasets that exist, in the pod's order.
std::vector<HeldDataset> held_on(const model::Snapshot& snapshot, const model::PodRequest& pod, model::Slot node);

// Adds one pod; nothing if `held` is empty.
void count(LocalityCounts& counts, std::span<const HeldDataset> held);

}  // namespace berth::control
