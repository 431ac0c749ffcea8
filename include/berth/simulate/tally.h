// Counts what becomes of the tasks of a workload as they arrive, whoever places them.
//
// Used by one thread; workload and cluster must outlive it.
#pragma once

#include <memory>
#include <optional>

#include "berth/simulate/replay.h"

namespace berth::simulate {

class Fragmentation;

class Tally {
 public:
  Tally(const Workload& workload, Cluster& cluster);
  ~Tally();
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  // One arrival: takes the place in the cluster, or counts a failure.
  void arrived(const Task& task, const std::optional<Choice>& choice);
  [[nodiscard]] std::vector<Point> points() const;

 private:
  const Workload* workload_;
  Cluster* cluster_;
  std::unique_ptr<Fragmentation> fragmentation_;
  std::vector<Point> sums_;  // by per cent
  Point since_{};            // counts since the beginning
  double asked_ = 0;
};

}  // namespace berth::simulate
