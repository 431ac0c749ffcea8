// What is free on the nodes, for Prometheus and for the JSON API.
//
// Thread-safe. Who asks for a view while another one is being worked out waits for that: milliseconds at thousands of
// nodes.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "berth/model/free_gpus.h"
#include "berth/model/snapshot.h"

namespace berth::server {

class FreeGpusMetrics {
 public:
  // The last one is kept, so that of the next snapshot only nodes that have changed are counted.
  [[nodiscard]] std::shared_ptr<const model::FreeGpusView> view(const model::Snapshot& snapshot);
  // Sizes of islands from 1 to the most GPUs that a node has, so that one of which nothing is free shows as 0; nodes
  // that have GPUs.
  [[nodiscard]] std::vector<prometheus::MetricFamily> collect(const model::Snapshot& snapshot);

 private:
  std::mutex mutex_;
  std::uint64_t version_ = 0;  // of the snapshot that view_ is of
  std::shared_ptr<const model::FreeGpusView> view_;
};

}  // namespace berth::server
