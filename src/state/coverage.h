// Where one dataset's bytes are: what is known of its pods and labels, merged to one figure a node.
//
// The rules, with what they rest on, are in docs/datasets.md. In short: a ready worker before one that is not ready
// (half of it, and nobody may rely on it), a worker before a node label, a label before a mere client; bytes that the
// master reports before the Dataset's percentage, which is spread evenly, before the prior of the configuration.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/snapshot.h"

namespace berth::state {

// All that is known of one dataset. Pods are bound, have not ended and are not being deleted; those on nodes that are
// not known (kNoSlot) share the dataset but are no holders.
struct CoverageInputs {
  struct Pod {
    model::Slot slot = model::kNoSlot;
    bool ready = false;
    bool own_cache = false;             // holds whatever it reads, shared with nobody: JuiceFS community edition
    bool late = false;                  // a worker first ready after `cached` last changed
    std::optional<std::int64_t> bytes;  // of the last measurement, if it was of this very pod
    core::WallTime changed;             // when it was last seen to change
  };
  struct Label {
    model::Slot slot = model::kNoSlot;
    core::WallTime since;  // when it was first seen like this
  };

  bool bound = false;
  std::int64_t total_bytes = 0;  // 0 if not known
  std::optional<double> cached;  // fraction of all bytes, all workers together; of a FUSE cache: the average
  core::WallTime cached_at;      // when the Dataset was last seen to change
  std::optional<core::WallTime> measured_at;
  std::int64_t worker_bytes = 0;  // that a worker may cache, 0 if not known
  double assumed = 0;             // CoverageOptions::assumed
  std::vector<Pod> workers;
  std::vector<Pod> fuses;
  std::vector<Label> worker_labels;  // on nodes without a worker, as long as they count
  std::vector<Label> fuse_labels;
};

// The part of `assumed` that a client's presence counts for.
inline constexpr double kFuseHint = 0.05;

// Ascending by slot, each once.
std::vector<model::DatasetPlacement::Holder> merge_coverage(const CoverageInputs& inputs);

}  // namespace berth::state
