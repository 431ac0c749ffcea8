// What sources tell of one node's GPUs, joined in the order of trust.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "berth/model/cluster_update.h"
#include "berth/model/machine.h"
#include "berth/model/node.h"

namespace berth::state {

// What objects other than the node tell. What the Node object tells comes with it.
class MachineSources {
 public:
  // What machine->source tells now, null if it has fallen silent. False if it is what was told before.
  bool set(model::TopologySource source, std::shared_ptr<const model::Machine> machine);
  [[nodiscard]] bool empty() const;

  // All sources joined, labels below them; null if only labels tell.
  [[nodiscard]] std::shared_ptr<const model::Machine> join(const model::Node& node) const;

 private:
  std::array<std::shared_ptr<const model::Machine>, model::kTopologySources> told_;  // by source
};

// GPUs of the node, broken ones included, as far as labels and the device plugin tell: those that are there by the
// label nvidia.com/gpu.count where fewer or none are handed out, else those that are handed out.
std::int64_t gpus_by_labels(const model::Node& node);

// How the node's GPUs are linked: as `machine` has it or, where that is null, by labels and the table of machine
// shapes. Null if it is not known.
std::shared_ptr<const model::GpuShape> shape_of(const model::Node& node, const model::Machine* machine,
                                                const model::LinkBandwidths& widths = {});

// False if what join() and shape_of() look at differs.
bool same_gpus(const model::Node& a, const model::Node& b);

}  // namespace berth::state
