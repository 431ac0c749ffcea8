// JSON of what is known of datasets, for GET /api/v1/datasets. Shape: docs/api.md.
//
// Every figure of coverage has its source and its age with it. Cost: one look at each holder of the datasets that are
// written. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "berth/core/clock.h"
#include "berth/model/snapshot.h"

namespace berth::codec {

struct DatasetLimits {
  std::size_t datasets = 100;  // written at most, the first by name; all are counted
  std::size_t nodes = 10;      // written of each, those that hold most first; all are counted
};
// {"count": N, "datasets": [...]}. Ages are counted to `now`.
std::string write_datasets(const model::Snapshot& snapshot, core::WallTime now, const DatasetLimits& limits);

// The object of one dataset, by its own name or an alias, with all its nodes; nullopt if it does not exist.
std::optional<std::string> write_dataset(const model::Snapshot& snapshot, core::WallTime now,
                                         const model::DatasetRef& dataset);

}  // namespace berth::codec
