#include "berth/simulate/cluster.h"

namespace berth::simulate {

std::size_t shape_of(const model::RequestClass& request) {
  return request.whole() ? static_cast<std::size_t>(request.gpus) : 0;
}

Cluster::Cluster(const Workload& workload, std::span<const std::uint32_t> order)
    : workload_(&workload), capacity_milli_(workload.capacity_milli()) {
  nodes_.reserve(order.size());
  for (const std::uint32_t index : order) {
    const TraceNode& node = workload.nodes[index];
    nodes_.push_back({model::empty_room(node.cpu_milli, node.gpus, 0), node.memory_mib, node.product});
  }
}

bool Cluster::fits(NodeNumber number, const Kind& kind, std::int64_t memory_mib) const {
  const Node& node = nodes_[number];
  const model::RequestClass& request = kind.request;
  if (memory_mib > node.memory_mib || request.cpu_milli > node.room.cpu_milli || !kind.runs_on[node.product]) {
    return false;
  }
  return request.gpus == 0 || model::count(meeting(node.room, request)) >= request.gpus;
}

void Cluster::place(NodeNumber number, const Kind& kind, std::int64_t memory_mib, model::GpuMask gpus) {
  Node& node = nodes_[number];
  node.room.cpu_milli -= kind.request.cpu_milli;
  node.memory_mib -= memory_mib;
  ++node.version;
  if (kind.request.gpus == 0) return;
  take_gpus(node.room, kind.request, gpus);
  ++node.tasks_of[shape_of(kind.request)];
  allocated_milli_ += kind.milli();
}

void Cluster::remove(NodeNumber number, const Kind& kind, std::int64_t memory_mib, model::GpuMask gpus) {
  Node& node = nodes_[number];
  node.room.cpu_milli += kind.request.cpu_milli;
  node.memory_mib += memory_mib;
  ++node.version;
  if (kind.request.gpus == 0) return;
  for (model::GpuMask left = gpus; left != 0; left &= left - 1) {
    const int gpu = std::countr_zero(left);
    std::int32_t& milli = node.room.milli[static_cast<std::size_t>(gpu)];
    milli += kind.request.milli;
    if (milli == model::kWholeMilli) node.room.whole |= model::GpuMask{1} << gpu;
  }
  --node.tasks_of[shape_of(kind.request)];
  allocated_milli_ -= kind.milli();
}

void Cluster::use_products(const model::MixTable& mix) {
  for (Node& node : nodes_) node.room.product = mix.product(workload_->products[node.product]);
}

}  // namespace berth::simulate
