#include "machine_kinds.h"

namespace berth::sources {

model::ClusterUpdate ResourceSliceKind::all(std::vector<Object> slices) {
  model::AllMachines told = codec::all_machines(slices);
  slices_.clear();
  for (Object& slice : slices) {
    if (!slice.ours()) continue;
    auto& of_node = slices_[slice.node];
    std::string name = slice.name;
    of_node.insert_or_assign(std::move(name), std::move(slice));
  }
  return told;
}

std::optional<model::ClusterUpdate> ResourceSliceKind::set(Object slice) {
  if (!slice.ours()) return std::nullopt;
  const std::string node = slice.node;
  std::string name = slice.name;
  slices_[node].insert_or_assign(std::move(name), std::move(slice));
  return tell(node);
}

std::optional<model::ClusterUpdate> ResourceSliceKind::gone(const Object& slice) {
  const auto of_node = slices_.find(slice.node);
  if (of_node == slices_.end() || of_node->second.erase(slice.name) == 0) return std::nullopt;
  if (!of_node->second.empty()) return tell(slice.node);
  slices_.erase(of_node);
  return model::MachineGone{slice.node, model::TopologySource::kResourceSlices};
}

std::optional<model::ClusterUpdate> ResourceSliceKind::tell(const std::string& node) {
  std::vector<const Object*> all;
  for (const auto& [name, slice] : slices_[node]) all.push_back(&slice);
  auto machine = codec::assemble(all);
  if (machine == nullptr) return std::nullopt;
  return model::MachineSet{node, std::move(machine)};
}

}  // namespace berth::sources
