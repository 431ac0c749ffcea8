// Keeps what packing knows of the cluster: the mix, learned from pods, and what the nodes can give its classes.
//
// What the nodes can give changes with every pod, but little: it is worked out anew after changes of an eighth as many
// nodes as there are (after fewer, what is allocated does not change, as docs/packing.md has it), when nodes come or
// go, and when the mix is due. That keeps costs of nodes that did not change valid in between.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/model/packing_view.h"
#include "berth/model/snapshot.h"
#include "request_window.h"

namespace berth::state {

class PackingTable {
 public:
  explicit PackingTable(const MixOptions& options) : window_(options) {}

  // A pod that was not seen before.
  void add(model::RequestClass request) { window_.add(std::move(request)); }
  // To be called once the snapshot has its nodes; `changes`: states of nodes written so far. Throws std::bad_alloc; the
  // next call then does what is left.
  void write(model::Snapshot& snapshot, std::uint32_t changes);

 private:
  [[nodiscard]] bool mix_due() const;

  RequestWindow window_;
  model::RequestMix mix_;
  std::uint64_t mixed_ = 0;  // pods seen when mix_ was made
  // Of the last view.
  std::shared_ptr<const model::NodeIndex> index_;
  std::uint32_t changes_ = 0;
  std::shared_ptr<const model::PackingView> view_;
};

}  // namespace berth::state
