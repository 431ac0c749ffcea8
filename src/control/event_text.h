// What the events on a pod say: one sentence or two, every figure of coverage with its source and age.
//
// Thread-safe: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/decision.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"
#include "berth/policy/settings.h"
#include "locality.h"

namespace berth::control {

// The two best of the last answer.
struct Choice {
  model::Candidate winner;
  std::optional<model::Candidate> runner_up = {};
  model::Weights weights = {};
};

// How many nodes were rejected, by reason.
using RejectedCounts = std::array<std::uint32_t, model::kReasonCount>;

// After the pod was bound to `node`: what is there, and why the runner-up lost or who else chose.
std::string bound_text(std::string_view node, std::span<const HeldDataset> held, const Choice* choice,
                       std::int64_t gpus, core::WallTime now);

// Why it waits: where its data is, what is free there, and what nodes were rejected for. Empty if there is nothing to
// say. `rejected` may be null.
std::string pending_text(const model::PodRequest& pod, const model::Snapshot& snapshot, const RejectedCounts* rejected);

// `required`: it is placed nowhere because of that.
std::string unknown_text(const std::vector<std::string>& unknown, const model::Snapshot& snapshot, bool required);

}  // namespace berth::control
