// The nodes of a workload with what is taken on them.
//
// Used by one thread; the workload must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/model/usable_capacity.h"
#include "berth/simulate/trace.h"

namespace berth::simulate {

// A node by its place in the cluster's order.
using NodeNumber = std::uint32_t;

// Requests of one shape: shares, or so many whole GPUs. What the clustering policy keeps together.
inline constexpr std::size_t kShapes = model::kMaxGpus + 1;
// 0 for shares, else the number of whole GPUs; the request must want GPUs.
std::size_t shape_of(const model::RequestClass& request);

class Cluster {
 public:
  struct Node {
    model::Room room;
    std::int64_t memory_mib = 0;  // free, of the host
    std::uint32_t product = 0;
    std::uint32_t version = 1;                         // grows with every change
    std::array<std::uint16_t, kShapes> tasks_of = {};  // running tasks by shape
  };

  // `order` has indices of the workload's nodes: numbers follow it.
  Cluster(const Workload& workload, std::span<const std::uint32_t> order);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const Node& node(NodeNumber number) const { return nodes_[number]; }
  [[nodiscard]] std::int64_t capacity_milli() const { return capacity_milli_; }
  [[nodiscard]] std::int64_t allocated_milli() const { return allocated_milli_; }

  // Whether product, CPU, host memory and GPUs have room for the task.
  [[nodiscard]] bool fits(NodeNumber number, const Kind& kind, std::int64_t memory_mib) const;
  void place(NodeNumber number, const Kind& kind, std::int64_t memory_mib, model::GpuMask gpus);
  void remove(NodeNumber number, const Kind& kind, std::int64_t memory_mib, model::GpuMask gpus);
  // Makes Room::product that of the table.
  void use_products(const model::MixTable& mix);

 private:
  const Workload* workload_;
  std::vector<Node> nodes_;
  std::int64_t capacity_milli_ = 0;
  std::int64_t allocated_milli_ = 0;
};

}  // namespace berth::simulate
