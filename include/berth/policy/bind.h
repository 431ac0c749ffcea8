// The last look at one node before a pod is bound to it: the hard rules once more, and the GPUs that the pod gets.
//
// Thread-safe: pure functions over an immutable snapshot.
#pragma once

#include <cstdint>
#include <span>

#include "berth/core/clock.h"
#include "berth/model/machine.h"
#include "berth/model/pod.h"
#include "berth/model/reason.h"
#include "berth/model/snapshot.h"
#include "berth/policy/settings.h"

namespace berth::policy {

// What another pod gets on the node, which the snapshot doesn't show there yet.
struct Promise {
  std::int32_t gpus = 0;  // whole ones
  model::GpuParts parts = {};
  model::GpuPlacement placement = {};  // empty where it is not known which GPUs are free
  std::int32_t counted = 0;            // of `gpus`, counted by the snapshot already, which doesn't say which
};

struct BindQuery {
  const model::Snapshot& snapshot;
  const model::PodRequest& pod;  // its claims resolved
  model::Slot slot = model::kNoSlot;
  core::WallTime now{};
};

struct BindVerdict {
  model::Reason reason = model::Reason::kNone;  // why the node can't take the pod
  // Empty where the pod asks for none, and where it is not known which GPUs are free: then only the counts hold.
  model::GpuPlacement placement = {};
};

// Counts are enforced here whatever the settings say: nobody else tells pods that are bound at the same time from each
// other. Soft entries hold nothing. A pod that asks for a GPU is not bound to a node that the snapshot doesn't know.
BindVerdict check_node(const BindQuery& query, std::span<const Promise> others, const Settings& settings);

}  // namespace berth::policy
