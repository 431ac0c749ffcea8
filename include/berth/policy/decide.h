// Decides: which nodes a pod may take, which of them to hand on, and what each is worth.
//
// Thread-safe: pure functions over an immutable snapshot. Cost: one look-up and a few dozen comparisons a name.
//
// The order of candidates, best first, independent of the order of the request: nodes with enough unpromised GPUs, then
// with enough unused, then the rest; those where pods of the same owner were not refused twice lately; the higher
// total; the more used GPUs; the lower name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/decision.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"
#include "berth/policy/settings.h"

namespace berth::policy {

struct Query {
  const model::Snapshot& snapshot;
  const model::PodRequest& pod;
  std::span<const std::string_view> names;  // as in the request; repeats are answered once
  std::uint32_t attempt = 1;
  core::WallTime now{};
};

struct Rejected {
  std::uint32_t name;  // index into Query::names
  model::Slot slot;    // kNoSlot: a node that the snapshot doesn't know
  model::Reason reason;
};

struct FilterOutcome {
  std::vector<std::uint32_t> kept;  // indices into Query::names: the best ones first and in order, others after them
  std::vector<Rejected> rejected;   // OUTRANKED included
  model::Decision decision;         // all but `took` and `snapshot_age`
};

struct HostScore {
  std::uint32_t name;  // index into Query::names
  std::int32_t score;  // 0..10
};

struct PrioritizeOutcome {
  std::vector<HostScore> scores;  // exactly one node has 10
  model::Decision decision;
};

FilterOutcome decide_filter(const Query& query, const Settings& settings);
PrioritizeOutcome decide_prioritize(const Query& query, const Settings& settings);

// For a pod that is none of our business but for the CPU it takes, which GPUs may need: 0 to 10 by packing alone, the
// best nodes all 10, so that among these the scheduler decides. Repeated names have a score each.
std::vector<HostScore> prioritize_without_gpus(const Query& query, const Settings& settings);

}  // namespace berth::policy
