// A cluster and the tasks that arrived at it, as the CSV files of the openb trace have them.
//
// The first line names the columns; they may be in any order, and unknown ones are passed over. Nodes: sn, cpu_milli,
// memory_mib, gpu, model. Tasks: name, cpu_milli, memory_mib, num_gpu, gpu_milli, and if there: gpu_spec (products it
// runs on, separated by |), creation_time, deletion_time, scheduled_time (seconds). Source of the format:
// https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2023
//
// Thread-safe: pure functions and plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/request_mix.h"

namespace berth::simulate {

struct TraceNode {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;      // at least 1, at most model::kMaxGpus
  std::uint32_t product = 0;  // index into Workload::products
};

struct Task {
  std::string name;
  std::uint32_t kind = 0;  // index into Workload::kinds
  std::int64_t memory_mib = 0;
  std::int64_t lifetime_s = -1;  // from its start to its end; -1 if the file does not say
};

// Requests that are alike but for memory of the host.
struct Kind {
  model::RequestClass request;
  std::vector<bool> runs_on;  // by product
  std::int64_t tasks = 0;     // of the list

  // Thousandths of GPUs that it takes.
  [[nodiscard]] std::int64_t milli() const { return std::int64_t{request.gpus} * request.milli; }
};

struct Workload {
  std::vector<TraceNode> nodes;  // with GPUs, in the file's order; nodes without GPUs are left out
  std::vector<std::string> products;
  std::vector<Task> tasks;  // by name
  std::vector<Kind> kinds;

  [[nodiscard]] std::int64_t capacity_milli() const;
  // How often each kind is in the list.
  [[nodiscard]] model::RequestMix mix() const;
};

// `nodes` and `tasks` are the files' text; the names are for errors, which say the line.
core::Result<Workload> read_workload(std::string_view nodes, const std::string& nodes_name, std::string_view tasks,
                                     const std::string& tasks_name);

// Counts as a mix; kinds without tasks are left out.
model::RequestMix mix_of(const std::vector<Kind>& kinds, const std::vector<std::int64_t>& counts);

}  // namespace berth::simulate
