// What the tables and the JSON of replay.h share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "berth/simulate/report.h"

namespace berth::simulate {

// What `make` makes of each element.
template <class Range, class Make>
auto mapped(const Range& range, const Make& make) {
  std::vector<decltype(make(*std::begin(range)))> all;
  all.reserve(std::size(range));
  for (const auto& one : range) all.push_back(make(one));
  return all;
}

// `value` of a point, over the runs that have one at `percent`.
using PointValue = std::function<double(const Point&)>;
Spread spread_at(const PolicyReplays& policy, std::size_t percent, const PointValue& value);
// Greatest per cent that some run has.
std::size_t last_percent(std::span<const PolicyReplays> policies);
// Sizes of which the workload has tasks.
std::vector<std::size_t> sizes_of(const Workload& workload);

// Each policy against the last one, over the mean waits of one size, where both have tasks of it in each run.
struct Compared {
  PolicyName policy;
  PolicyName against;
  std::size_t size;
  Difference difference;  // seconds; negative where `policy` waits less
};
std::vector<Compared> compare(std::span<const PolicyDepartures> policies);

}  // namespace berth::simulate
