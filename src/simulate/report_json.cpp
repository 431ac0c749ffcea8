// Only numbers and names of our own are written: no text needs escaping.
#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "report_parts.h"

namespace berth::simulate {
namespace {

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  return fmt::format("{:.6g}", std::round(value * 10'000) / 10'000);
}

std::string comma(const std::string& out) { return out.ends_with('{') || out.ends_with('[') ? "" : ", "; }

void add(std::string& out, const std::string& key, const std::string& value) {
  out += comma(out) + "\"" + key + "\": " + value;
}

std::string array_of(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (const std::string& element : elements) out += comma(out) + element;
  return out + "]";
}

// {"0": ..., "1": ...} for the per cents of which `value` knows something.
template <class Value>
std::string by_percent(std::size_t last, const Value& value) {
  std::string out = "{";
  for (std::size_t percent = 0; percent <= last; ++percent) {
    if (const auto found = value(percent)) add(out, std::to_string(percent), *found);
  }
  return out + "}";
}

struct Field {
  const char* name;
  PointValue value;
};

const std::vector<Field>& fields() {
  static const std::vector<Field> all = {{"allocation", [](const Point& point) { return point.allocation; }},
                                         {"fragmentation", [](const Point& point) { return point.fragmentation; }},
                                         {"unusable", [](const Point& point) { return point.unusable; }}};
  return all;
}

std::string failures(const Point& point, const std::vector<std::size_t>& sizes) {
  std::string out = "{";
  for (const std::size_t size : sizes) add(out, size_name(size), std::to_string(point.failed[size]));
  return out + "}";
}

std::string run_json(const Workload& workload, const Replay& run, bool islands) {
  const auto sizes = sizes_of(workload);
  const auto points = [&](const auto& value) {
    return by_percent(run.points.size() - 1, [&](std::size_t percent) -> std::optional<std::string> {
      if (run.points[percent].tasks == 0) return std::nullopt;
      return value(run.points[percent]);
    });
  };
  std::string out = "{";
  add(out, "seed", std::to_string(run.seed));
  for (const Field& field : fields()) {
    add(out, field.name, points([&](const Point& point) { return number(field.value(point)); }));
  }
  add(out, "failures", points([&](const Point& point) { return failures(point, sizes); }));
  if (islands) {
    add(out, "islands", points([&](const Point& point) {
          return fmt::format(R"({{"tasks": {}, "inside": {}}})", point.linked, point.in_island);
        }));
  }
  return out + "}";
}

std::string policy_json(const Workload& workload, const PolicyReplays& policy, bool islands) {
  const std::size_t last = last_percent({&policy, 1});
  const auto runs = mapped(policy.runs, [&](const Replay& run) { return run_json(workload, run, islands); });
  std::string mean = "{";
  std::string sd = "{";
  const auto summarise = [&](const std::string& name, const PointValue& value) {
    const auto over_runs = [&](double Spread::* part) {
      return by_percent(last, [&](std::size_t percent) -> std::optional<std::string> {
        const Spread found = spread_at(policy, percent, value);
        if (found.runs == 0) return std::nullopt;
        return number(found.*part);
      });
    };
    add(mean, name, over_runs(&Spread::mean));
    add(sd, name, over_runs(&Spread::sd));
  };
  for (const Field& field : fields()) summarise(field.name, field.value);
  add(mean, "failures", by_percent(last, [&](std::size_t percent) -> std::optional<std::string> {
        std::string sizes = "{";
        for (const std::size_t size : sizes_of(workload)) {
          const auto failed = [&](const Point& point) { return static_cast<double>(point.failed[size]); };
          const Spread found = spread_at(policy, percent, failed);
          if (found.runs == 0) return std::nullopt;
          add(sizes, size_name(size), number(found.mean));
        }
        return sizes + "}";
      }));
  std::string out = "{";
  add(out, "policy", "\"" + std::string(to_string(policy.policy)) + "\"");
  add(out, "cluster",
      fmt::format(R"({{"nodes": {}, "gpus": {}, "tasks": {}, "empty_fragmentation_milli": {:.1f}}})",
                  workload.nodes.size(), workload.capacity_milli() / model::kWholeMilli, workload.tasks.size(),
                  empty_fragmentation_milli(workload)));
  add(out, "runs", array_of(runs));
  add(out, "mean", mean + "}");
  add(out, "sd", sd + "}");
  return out + "}";
}

std::string departure_json(const DepartureRun& run) {
  std::string out = "{";
  add(out, "seed", std::to_string(run.seed));
  add(out, "allocation", number(run.allocation));
  const auto by_size = [&](const auto& value) {
    std::string sizes = "{";
    for (std::size_t size = 0; size < kSizes; ++size) {
      if (run.tasks[size] > 0) add(sizes, size_name(size), value(size));
    }
    return sizes + "}";
  };
  add(out, "tasks", by_size([&](std::size_t size) { return std::to_string(run.tasks[size]); }));
  add(out, "mean_wait_seconds", by_size([&](std::size_t size) { return number(run.mean_wait_s[size]); }));
  add(out, "longest_wait_seconds", by_size([&](std::size_t size) { return number(run.longest_wait_s[size]); }));
  return out + "}";
}

std::string policy_json(const PolicyDepartures& policy) {
  const auto runs = mapped(policy.runs, departure_json);
  std::string mean = "{";
  std::string sd = "{";
  for (std::size_t size = 0; size < kSizes; ++size) {
    std::vector<double> values;
    for (const DepartureRun& run : policy.runs) {
      if (run.tasks[size] > 0) values.push_back(run.mean_wait_s[size]);
    }
    if (values.empty()) continue;
    add(mean, size_name(size), number(spread(values).mean));
    add(sd, size_name(size), number(spread(values).sd));
  }
  std::string out = "{";
  add(out, "policy", "\"" + std::string(to_string(policy.policy)) + "\"");
  add(out, "runs", array_of(runs));
  add(out, "mean", R"({"mean_wait_seconds": )" + mean + "}}");
  add(out, "sd", R"({"mean_wait_seconds": )" + sd + "}}");
  return out + "}";
}

}  // namespace

std::string replay_json(const Workload& workload, std::span<const PolicyReplays> policies, bool islands) {
  const auto all = mapped(policies, [&](const PolicyReplays& one) { return policy_json(workload, one, islands); });
  return (all.size() == 1 ? all[0] : "{\"policies\": " + array_of(all) + "}") + "\n";
}

std::string departures_json(std::span<const PolicyDepartures> policies) {
  if (policies.size() == 1) return policy_json(policies[0]) + "\n";
  const auto all = mapped(policies, [](const PolicyDepartures& one) { return policy_json(one); });
  const auto differences = mapped(compare(policies), [](const Compared& one) {
    const auto [mean, half] = one.difference;
    return fmt::format(R"({{"policy": "{}", "against": "{}", "size": "{}", "seconds": {}, "interval": [{}, {}]}})",
                       to_string(one.policy), to_string(one.against), size_name(one.size), number(mean),
                       number(mean - half), number(mean + half));
  });
  return "{\"policies\": " + array_of(all) + ", \"differences\": " + array_of(differences) + "}\n";
}

}  // namespace berth::simulate
