// What updates are made of objects that tell of a node's GPUs (object_target.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/codec/gpu_objects.h"
#include "berth/model/cluster_update.h"

namespace berth::sources {

// Objects of which each tells of the node that has its name.
template <class Told, model::TopologySource kSource>
struct MachineKind {
  using Object = Told;
  static model::ClusterUpdate all(std::vector<Object> objects) { return codec::all_machines(std::move(objects)); }
  static model::ClusterUpdate set(Object object) {
    return model::MachineSet{std::move(object.node), std::make_shared<const model::Machine>(std::move(object.machine))};
  }
  static model::ClusterUpdate gone(Object object) { return model::MachineGone{std::move(object.node), kSource}; }
};
using KoordinatorKind = MachineKind<codec::KoordinatorDevice, model::TopologySource::kKoordinator>;
using NumaTopologyKind = MachineKind<codec::NumaTopology, model::TopologySource::kNodeResourceTopology>;

// Slices, of which several tell of a node together. A pool's slices change one by one: what was told last stays until
// the new ones are complete.
class ResourceSliceKind {
 public:
  using Object = codec::ResourceSlice;
  [[nodiscard]] model::ClusterUpdate all(std::vector<Object> slices);
  [[nodiscard]] std::optional<model::ClusterUpdate> set(Object slice);
  [[nodiscard]] std::optional<model::ClusterUpdate> gone(const Object& slice);

 private:
  [[nodiscard]] std::optional<model::ClusterUpdate> tell(const std::string& node);

  std::map<std::string, std::map<std::string, Object>> slices_;  // by node and name
};

}  // namespace berth::sources
