#include "berth/simulate/trace.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "berth/core/text.h"
#include "berth/model/gpu_set.h"
#include "csv.h"

namespace berth::simulate {
namespace {

using core::Result;

constexpr std::int64_t kMostCpuMilli = 1'000'000'000;
constexpr std::int64_t kMostMib = 1'000'000'000'000;
constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kMostTasks = 10'000'000;

class Reader {
 public:
  std::optional<core::Error> nodes(std::string_view text, const std::string& name) {
    CsvReader csv(text, name, {"sn", "cpu_milli", "memory_mib", "gpu", "model"});
    while (csv.next()) {
      TraceNode node{std::string(csv.text("sn")), csv.number("cpu_milli", 0, kMostCpuMilli),
                     csv.number("memory_mib", 0, kMostMib),
                     static_cast<std::int32_t>(csv.number("gpu", 0, model::kMaxGpus))};
      if (node.gpus == 0) continue;
      node.product = product(csv.text("model"));
      workload_.nodes.push_back(std::move(node));
      if (workload_.nodes.size() > kMostNodes) csv.wrong("there are more than 1,000,000 nodes");
    }
    if (csv.error()) return csv.error();
    if (!workload_.nodes.empty()) return std::nullopt;
    return core::Error{core::ErrorCode::kInvalid, "there is no node with GPUs", name};
  }

  std::optional<core::Error> tasks(std::string_view text, const std::string& name) {
    CsvReader csv(text, name, {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"});
    while (csv.next()) {
      workload_.tasks.push_back(task(csv));
      if (workload_.tasks.size() > kMostTasks) csv.wrong("there are more than 10,000,000 tasks");
    }
    if (csv.error()) return csv.error();
    std::ranges::sort(workload_.tasks, {}, [](const Task& task) {
      return std::tuple(std::string_view(task.name), task.kind, task.memory_mib, task.lifetime_s);
    });
    if (std::ranges::any_of(workload_.kinds, [](const Kind& kind) { return kind.milli() > 0; })) return std::nullopt;
    return core::Error{core::ErrorCode::kInvalid, "there is no task that asks for a GPU", name};
  }

  Workload take() { return std::move(workload_); }

 private:
  std::uint32_t product(std::string_view name) {
    const auto found = std::ranges::find(workload_.products, name);
    if (found != workload_.products.end()) return static_cast<std::uint32_t>(found - workload_.products.begin());
    workload_.products.emplace_back(name);
    return static_cast<std::uint32_t>(workload_.products.size() - 1);
  }

  Task task(CsvReader& csv) {
    model::RequestClass request{.cpu_milli = csv.number("cpu_milli", 0, kMostCpuMilli)};
    request.gpus = static_cast<std::int32_t>(csv.number("num_gpu", 0, model::kMaxGpus));
    if (request.gpus > 0) {
      request.milli = static_cast<std::int32_t>(csv.number("gpu_milli", 1, model::kWholeMilli));
      request.products = products(csv.text("gpu_spec"));
    }
    const auto created = csv.seconds("creation_time");
    const auto started = csv.seconds("scheduled_time");
    const auto ended = csv.seconds("deletion_time");
    Task task{std::string(csv.text("name")), kind(request), csv.number("memory_mib", 0, kMostMib)};
    const auto from = started ? started : created;
    if (from && ended) task.lifetime_s = std::max<std::int64_t>(*ended - *from, 0);
    return task;
  }

  static std::vector<std::string> products(std::string_view spec) {
    std::vector<std::string> names;
    while (!spec.empty()) {
      const std::size_t bar = spec.find('|');
      const std::string_view name = core::trimmed(spec.substr(0, bar));
      if (!name.empty()) names.emplace_back(name);
      spec.remove_prefix(bar == std::string_view::npos ? spec.size() : bar + 1);
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  std::uint32_t kind(const model::RequestClass& request) {
    const auto [found, is_new] = numbers_.try_emplace(request, static_cast<std::uint32_t>(workload_.kinds.size()));
    if (is_new) {
      Kind kind{request, {}, 0};
      for (const std::string& product : workload_.products) {
        kind.runs_on.push_back(request.products.empty() || std::ranges::binary_search(request.products, product));
      }
      workload_.kinds.push_back(std::move(kind));
    }
    ++workload_.kinds[found->second].tasks;
    return found->second;
  }

  Workload workload_;
  std::map<model::RequestClass, std::uint32_t> numbers_;
};

}  // namespace

std::int64_t Workload::capacity_milli() const {
  std::int64_t sum = 0;
  for (const TraceNode& node : nodes) sum += std::int64_t{node.gpus} * model::kWholeMilli;
  return sum;
}

model::RequestMix Workload::mix() const {
  std::vector<std::int64_t> counts;
  counts.reserve(kinds.size());
  for (const Kind& kind : kinds) counts.push_back(kind.tasks);
  return mix_of(kinds, counts);
}

model::RequestMix mix_of(const std::vector<Kind>& kinds, const std::vector<std::int64_t>& counts) {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) sum += count;
  model::RequestMix mix;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (counts[i] == 0) continue;
    mix.classes.push_back({kinds[i].request, static_cast<double>(counts[i]) / static_cast<double>(sum)});
  }
  return mix;
}

Result<Workload> read_workload(std::string_view nodes, const std::string& nodes_name, std::string_view tasks,
                               const std::string& tasks_name) {
  Reader reader;
  if (auto error = reader.nodes(nodes, nodes_name)) return tl::unexpected(*std::move(error));
  if (auto error = reader.tasks(tasks, tasks_name)) return tl::unexpected(*std::move(error));
  return reader.take();
}

}  // namespace berth::simulate
