// What pods that wait for the same have in common, and whether a node has become good for them.
//
// Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"
#include "berth/policy/settings.h"
#include "node_mask.h"

namespace berth::control {

// Nothing is narrowed away, and a node without the GPUs is no reason to wake a pod, whoever counts them otherwise.
policy::Settings judging(policy::Settings settings);

// When a dataset that the pod requires now is required no longer; nullopt if none is, or if it is for ever.
std::optional<core::WallTime> end_of_wait(const model::PodRequest& request, core::WallTime now);

// Makes the request say what it says at `now` at any time, so that pods of different ages are equal.
void fix_in_time(model::PodRequest& request, core::WallTime now);

// Equal for requests that are judged alike on the same nodes. `mask` counts by its address; null: any node.
std::string group_key(const model::PodRequest& request, const NodeMask* mask);

// The nodes of `mask` that may have become good since `before`, in which none was: all of them if a dataset has moved
// or the pod must be with its gang, else those in blocks that have changed. Null: all. Where a dataset is required,
// none but its holders. The request must be fixed in time. Views into `snapshot`.
std::vector<std::string_view> names_to_judge(const model::PodRequest& request, const NodeMask* mask,
                                             const model::Snapshot& snapshot, const model::Snapshot* before);

// The best of `names`, or kNoSlot if none takes the pod.
model::Slot first_fit(const model::PodRequest& request, const std::vector<std::string_view>& names,
                      const model::Snapshot& snapshot, const policy::Settings& settings, core::WallTime now);

}  // namespace berth::control
