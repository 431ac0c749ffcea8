// FGD's measure of a cluster, kept up to date. Used by one thread.
#pragma once

#include <vector>

#include "berth/simulate/cluster.h"

namespace berth::simulate {

class Fragmentation {
 public:
  Fragmentation(const Workload& workload, const Cluster& cluster);
  void changed(const Cluster& cluster, NodeNumber number);
  [[nodiscard]] double milli() const { return sum_; }

 private:
  [[nodiscard]] double of(const Cluster::Node& node) const;

  model::MixTable mix_;
  std::vector<double> prices_;
  std::vector<std::int32_t> products_;  // Room::product by product of the workload
  std::vector<double> nodes_;
  double sum_ = 0;
};

}  // namespace berth::simulate
