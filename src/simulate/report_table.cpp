#include <spdlog/fmt/fmt.h>

#include <array>

#include "report_parts.h"

namespace berth::simulate {
namespace {

constexpr std::array<std::size_t, 8> kShown = {50, 80, 90, 95, 100, 110, 120, 130};
constexpr std::array<std::size_t, 4> kFailuresShown = {90, 95, 100, 130};
constexpr int kNameWidth = 12;
constexpr int kCellWidth = 15;

std::string text(const Spread& value, int digits = 2) {
  if (value.runs == 0) return "-";
  if (value.runs == 1) return fmt::format("{:.{}f}", value.mean, digits);
  return fmt::format("{:.{}f} ±{:.{}f}", value.mean, digits, value.sd, digits);
}

// fmt counts "±" as one column, as terminals do.
std::string cell(const std::string& of) { return fmt::format("{:>{}}", of, kCellWidth); }

std::string by_arrival(std::span<const PolicyReplays> policies, const std::string& title, const PointValue& value) {
  const std::size_t last = last_percent(policies);
  std::string out = "\n" + title + "\n" + fmt::format("{:<{}}", "arrived", kNameWidth);
  for (const std::size_t percent : kShown) {
    if (percent <= last) out += cell(fmt::format("{} %", percent));
  }
  out += "\n";
  for (const PolicyReplays& policy : policies) {
    out += fmt::format("{:<{}}", to_string(policy.policy), kNameWidth);
    for (const std::size_t percent : kShown) {
      if (percent <= last) out += cell(text(spread_at(policy, percent, value)));
    }
    out += "\n";
  }
  return out;
}

std::string failures(const Workload& workload, std::span<const PolicyReplays> policies) {
  const std::size_t last = last_percent(policies);
  std::string out = "\nTasks that fitted nowhere, by size (shares of a GPU, then whole GPUs)\n" +
                    fmt::format("{:<{}}{:>8}", "", kNameWidth, "arrived");
  for (const std::size_t size : sizes_of(workload)) out += cell(size_name(size));
  out += "\n";
  for (const PolicyReplays& policy : policies) {
    for (const std::size_t percent : kFailuresShown) {
      if (percent > last) continue;
      out += fmt::format("{:<{}}{:>6} %", to_string(policy.policy), kNameWidth, percent);
      for (const std::size_t size : sizes_of(workload)) {
        const auto failed = [&](const Point& point) { return static_cast<double>(point.failed[size]); };
        out += cell(text(spread_at(policy, percent, failed), 1));
      }
      out += "\n";
    }
  }
  return out;
}

}  // namespace

std::string replay_table(const Workload& workload, std::span<const PolicyReplays> policies, bool islands) {
  const std::size_t runs = policies.empty() ? 0 : policies.front().runs.size();
  std::string out = fmt::format("{} nodes, {} GPUs; a list of {} tasks; {} run{}\n", workload.nodes.size(),
                                workload.capacity_milli() / model::kWholeMilli, workload.tasks.size(), runs,
                                runs == 1 ? "" : "s: mean ± standard deviation");
  out += fmt::format("Free, but no use to the task of the list that comes next, on the empty cluster: {:.2f} %\n",
                     empty_fragmentation_milli(workload) / static_cast<double>(workload.capacity_milli()) * 100);
  out += by_arrival(policies, "Allocated, per cent of the GPUs, by GPUs asked for so far",
                    [](const Point& point) { return point.allocation; });
  out += by_arrival(policies, "Free, but no use to the task of the list that comes next, per cent of what is free",
                    [](const Point& point) { return point.unusable; });
  out += failures(workload, policies);
  if (islands) {
    out +=
        by_arrival(policies, "Of the tasks of 2 and 4 GPUs placed, per cent inside one island", [](const Point& point) {
          if (point.linked == 0) return 100.0;
          return static_cast<double>(point.in_island) / static_cast<double>(point.linked) * 100;
        });
    out +=
        by_arrival(policies, "Their number", [](const Point& point) { return static_cast<double>(point.in_island); });
  }
  return out;
}

std::string departures_table(std::span<const PolicyDepartures> policies) {
  std::string out = "Mean waiting time in seconds, by size (shares of a GPU, then whole GPUs)\n" +
                    fmt::format("{:<{}}", "", kNameWidth);
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < kSizes; ++size) {
    if (!policies.empty() && policies.front().runs.front().tasks[size] > 0) sizes.push_back(size);
  }
  for (const std::size_t size : sizes) out += cell(size_name(size));
  out += cell("allocated %") + "\n";
  for (const PolicyDepartures& policy : policies) {
    out += fmt::format("{:<{}}", to_string(policy.policy), kNameWidth);
    const auto over_runs = [&](const auto& value) { return spread(mapped(policy.runs, value)); };
    for (const std::size_t size : sizes) {
      out += cell(text(over_runs([&](const DepartureRun& run) { return run.mean_wait_s[size]; }), 0));
    }
    out += cell(text(over_runs([](const DepartureRun& run) { return run.allocation; }))) + "\n";
  }
  const auto compared = compare(policies);
  if (compared.empty()) return out;
  out += "\nPaired differences in seconds, with the 95 % interval\n";
  for (const Compared& one : compared) {
    const auto [mean, half] = one.difference;
    out += fmt::format("{} - {}, {}: {:.0f} ({:.0f} to {:.0f})\n", to_string(one.policy), to_string(one.against),
                       size_name(one.size), mean, mean - half, mean + half);
  }
  return out;
}

}  // namespace berth::simulate
