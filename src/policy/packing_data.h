// What a pod's placement takes from the requests that are likely to come, worked out for one query.
//
// Time: some microseconds once; for each node a look-up where nothing changed since the last pod of the kind, else
// about half a microsecond.
//
// Thread-safe: costs go into the snapshot's memo, which is; otherwise immutable once built, and valid as long as the
// query's snapshot is.
#pragma once

#include <optional>
#include <vector>

#include "berth/model/packing_view.h"
#include "berth/policy/decide.h"
#include "berth/policy/node_view.h"
#include "berth/policy/packing.h"
#include "berth/policy/settings.h"

namespace berth::policy {

class PackingData {
 public:
  PackingData(const Query& query, const Settings& settings);

  // Score of scores.h. `gpu_set` and `parts`: which GPUs it would get.
  [[nodiscard]] double score(const NodeView& node, model::Slot slot, const std::optional<model::GpuMask>& gpu_set,
                             const PartFit& parts) const;

 private:
  [[nodiscard]] double cost(const NodeView& node, model::Slot slot, model::GpuMask gpus) const;

  const model::PodRequest& pod_;
  const model::PackingView* view_;  // null: nothing is known
  model::RequestClass request_;
  std::vector<double> prices_;
  double clean_ = 0;                       // what it costs where classes lose no more than it takes
  model::CostMemo::Row* costs_ = nullptr;  // null: not kept
};

}  // namespace berth::policy
