#include "report_parts.h"

#include <algorithm>
#include <cmath>

namespace berth::simulate {

Spread spread(std::span<const double> values) {
  Spread found{.runs = static_cast<int>(values.size())};
  if (values.empty()) return found;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) found.mean += value / n;
  for (const double value : values) found.sd += std::pow(value - found.mean, 2) / n;
  found.sd = std::sqrt(found.sd);
  return found;
}

Spread spread_at(const PolicyReplays& policy, std::size_t percent, const PointValue& value) {
  std::vector<double> values;
  for (const Replay& run : policy.runs) {
    if (percent < run.points.size() && run.points[percent].tasks > 0) values.push_back(value(run.points[percent]));
  }
  return spread(values);
}

std::size_t last_percent(std::span<const PolicyReplays> policies) {
  std::size_t last = 0;
  for (const PolicyReplays& policy : policies) {
    for (const Replay& run : policy.runs) last = std::max(last, run.points.size());
  }
  return last > 0 ? last - 1 : 0;
}

std::vector<std::size_t> sizes_of(const Workload& workload) {
  BySize tasks = {};
  for (const Kind& kind : workload.kinds) tasks[size_of(kind.request)] += kind.tasks;
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < kSizes; ++size) {
    if (tasks[size] > 0) sizes.push_back(size);
  }
  return sizes;
}

std::vector<Compared> compare(std::span<const PolicyDepartures> policies) {
  std::vector<Compared> found;
  if (policies.size() < 2) return found;
  const PolicyDepartures& last = policies.back();
  const auto has = [](const PolicyDepartures& policy, std::size_t size) {
    return std::ranges::all_of(policy.runs, [&](const DepartureRun& run) { return run.tasks[size] > 0; });
  };
  for (const PolicyDepartures& other : policies.first(policies.size() - 1)) {
    for (std::size_t size = 0; size < kSizes; ++size) {
      if (!has(last, size) || !has(other, size)) continue;
      const auto wait = [&](const DepartureRun& run) { return run.mean_wait_s[size]; };
      const auto a = mapped(last.runs, wait);
      const auto b = mapped(other.runs, wait);
      found.push_back({last.policy, other.policy, size, paired_difference(a, b)});
    }
  }
  return found;
}

}  // namespace berth::simulate
