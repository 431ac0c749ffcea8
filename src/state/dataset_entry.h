// One dataset as the state keeps it, whether its object is known or others only refer to it.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/model/snapshot.h"
#include "berth/state/cluster_state.h"
#include "cache_member.h"
#include "label_table.h"
#include "moment.h"

namespace berth::state {

struct DatasetEntry {
  model::DatasetRef ref;  // empty where only a label tells of it
  std::string label;      // then this one

  std::optional<model::Dataset> object;
  core::WallTime object_changed;
  std::uint64_t cached_step = 0;  // at which its `cached` was last seen to change
  std::optional<core::WallTime> measured_at;
  std::string worker_key;  // labels of the object; the runtime's is empty until that is known
  std::string runtime_key;
  std::string fuse_key;

  std::vector<model::CacheRuntime> runtimes;
  std::int32_t loads = 0;  // that are running
  std::vector<CacheMember*> members;
  // Nodes with a worker label and no worker, and since when. Kept while the object is known.
  std::map<model::Slot, Moment> unattended;

  [[nodiscard]] bool is_reference() const { return object && !object->physical.name.empty(); }
  // Nothing tells of it any more.
  [[nodiscard]] bool over() const {
    return label.empty() && !object && runtimes.empty() && loads == 0 && members.empty();
  }
  [[nodiscard]] bool has_worker_label(const LabelTable& labels, model::Slot slot) const;
  // Nodes with a worker label but none of the dataset's workers, ascending.
  [[nodiscard]] std::vector<model::Slot> without_worker(const LabelTable& labels) const;
};

// Of a dataset whose object is known. One that refers to another has no holders of its own.
model::DatasetPlacement placement_of(const DatasetEntry& entry, const LabelTable& labels,
                                     const CoverageOptions& options, core::SteadyTime now);
// Of a label, where labels are all that tells.
model::DatasetPlacement placement_of_label(std::span<const LabelTable::Labelled> nodes);

}  // namespace berth::state
