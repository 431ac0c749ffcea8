#include "berth/simulate/tally.h"

#include <algorithm>
#include <cmath>

#include "fragmentation.h"

namespace berth::simulate {

Tally::Tally(const Workload& workload, Cluster& cluster)
    : workload_(&workload), cluster_(&cluster), fragmentation_(std::make_unique<Fragmentation>(workload, cluster)) {}

Tally::~Tally() = default;

void Tally::arrived(const Task& task, const std::optional<Choice>& choice) {
  const Kind& kind = workload_->kinds[task.kind];
  if (choice) {
    const bool linked = kind.request.whole() && (kind.request.gpus == 2 || kind.request.gpus == 4);
    since_.linked += linked ? 1 : 0;
    since_.in_island += linked && in_one_island(cluster_->node(choice->node).room, choice->gpus) ? 1 : 0;
    cluster_->place(choice->node, kind, task.memory_mib, choice->gpus);
    fragmentation_->changed(*cluster_, choice->node);
  } else {
    ++since_.failed[size_of(kind.request)];
  }
  const auto capacity = static_cast<double>(cluster_->capacity_milli());
  asked_ += static_cast<double>(kind.milli());
  const auto percent = static_cast<std::size_t>(std::lround(asked_ / capacity * 100));
  if (sums_.size() <= percent) sums_.resize(percent + 1);
  Point& point = sums_[percent];
  const double allocation = static_cast<double>(cluster_->allocated_milli()) / capacity * 100;
  const double fragmentation = fragmentation_->milli() / capacity * 100;
  const double free = 100 - allocation;
  ++point.tasks;
  point.allocation += allocation;
  point.fragmentation += fragmentation;
  point.unusable += free > 0 ? fragmentation / free * 100 : 0;
  point.failed = since_.failed;
  point.linked = since_.linked;
  point.in_island = since_.in_island;
}

std::vector<Point> Tally::points() const {
  std::vector<Point> means = sums_;
  for (Point& point : means) {
    const auto tasks = static_cast<double>(std::max<std::int64_t>(point.tasks, 1));
    point.allocation /= tasks;
    point.fragmentation /= tasks;
    point.unusable /= tasks;
  }
  return means;
}

}  // namespace berth::simulate
