// A pod of Fluid's own that takes part in a dataset's cache: bound, not ended, not being deleted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/model/snapshot.h"
#include "node_table.h"

namespace berth::state {

struct CacheMember {
  model::DatasetId dataset = model::kNoDataset;
  std::string name;  // of the pod
  NodeRecord* node = nullptr;
  model::CachePod pod;
  bool from_the_start = false;        // in the first complete list of pods, or before
  std::uint64_t ready_step = 0;       // at which it was first seen ready, 0 if never
  std::optional<std::int64_t> bytes;  // by the dataset's last measurement, if that was of this pod
  core::WallTime changed;             // when it was last seen to change
};

}  // namespace berth::state
