// Small workloads, written as the CSV files would have them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "berth/simulate/trace.h"
#include "source_dir.h"

namespace berth::simulate {

inline Workload workload(const std::string& nodes, const std::string& tasks) {
  auto read = read_workload(
      "sn,cpu_milli,memory_mib,gpu,model\n" + nodes, "nodes.csv",
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time\n" + tasks, "tasks.csv");
  if (!read) throw std::runtime_error(read.error().to_string());
  return *std::move(read);
}

// Nodes in the file's order: ties go to the first.
inline std::vector<std::uint32_t> as_listed(const Workload& workload) {
  std::vector<std::uint32_t> order(workload.nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

// The openb trace, which is not part of this repository: the directory that BERTH_OPENB names, or shared/data/openb
// beside the repository. Empty if it is not there.
inline std::string openb_directory() {
  const char* named = std::getenv("BERTH_OPENB");
  const std::string directory = named != nullptr ? named : std::string(BERTH_SOURCE_DIR) + "/../shared" + "/data/openb";
  return std::filesystem::exists(directory + "/openb_node_list_gpu_node.csv") ? directory : "";
}

inline std::string file_text(const std::string& path) {
  std::ifstream in(path);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

inline Workload openb(const std::string& list) {
  const std::string directory = openb_directory();
  auto read = read_workload(file_text(directory + "/openb_node_list_gpu_node.csv"), "nodes",
                            file_text(directory + "/openb_pod_list_" + list + ".csv"), "tasks");
  if (!read) throw std::runtime_error(read.error().to_string());
  return *std::move(read);
}

}  // namespace berth::simulate
