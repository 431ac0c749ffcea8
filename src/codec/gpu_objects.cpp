#include "berth/codec/gpu_objects.h"

#include <map>
#include <utility>

namespace berth::codec {
namespace {

template <class T>
model::AllMachines all_of(model::TopologySource source, std::vector<T> objects) {
  model::AllMachines all{source, {}};
  all.machines.reserve(objects.size());
  for (T& object : objects) {
    all.machines.push_back({std::move(object.node), std::make_shared<const model::Machine>(std::move(object.machine))});
  }
  return all;
}

}  // namespace

model::AllMachines all_machines(std::vector<KoordinatorDevice> devices) {
  return all_of(model::TopologySource::kKoordinator, std::move(devices));
}

model::AllMachines all_machines(std::vector<NumaTopology> topologies) {
  return all_of(model::TopologySource::kNodeResourceTopology, std::move(topologies));
}

model::AllMachines all_machines(const std::vector<ResourceSlice>& slices) {
  std::map<std::string_view, std::vector<const ResourceSlice*>> by_node;
  for (const ResourceSlice& slice : slices) {
    if (slice.ours()) by_node[slice.node].push_back(&slice);
  }
  model::AllMachines all{model::TopologySource::kResourceSlices, {}};
  for (const auto& [node, of_node] : by_node) {
    if (auto machine = assemble(of_node)) all.machines.push_back({std::string(node), std::move(machine)});
  }
  return all;
}

}  // namespace berth::codec
