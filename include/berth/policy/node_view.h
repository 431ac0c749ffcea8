// One node as the filters and scorers see it for one pod: its own ledger entry is left out of what others hold.
//
// Thread-safe: a value over an immutable snapshot, valid as long as that is.
#pragma once

#include <cstdint>
#include <optional>

#include "berth/model/pod.h"
#include "berth/model/snapshot.h"

namespace berth::policy {

struct NodeView {
  const model::NodeState* state = nullptr;
  std::int32_t firm_others = 0;  // GPUs that firm entries of other pods hold against this one
  std::int32_t soft_others = 0;  // GPUs that soft entries of other pods hold
  double coverage = 0;           // fraction held of all bytes of the pod's datasets
  double load_seconds = 0;       // expected to load the pod's datasets and images here
  double saved_seconds = 0;      // of it, saved over a node that has nothing near; never negative
  bool holds_all = true;         // something of every dataset of the pod, and as much as it sets as a minimum
  bool holds_required = true;    // the datasets without which the pod may not run

  // GPUs left for this pod.
  [[nodiscard]] std::int32_t unused() const { return state->gpus - state->used - firm_others; }
  // GPUs left when the pods that were promised this node arrive as well.
  [[nodiscard]] std::int32_t unpromised() const { return unused() - soft_others; }
};

// The GPUs that the pod would get on the node: the best free set, of one island where it must be; nullopt where there
// is none, where the pod asks for no GPU, or where it is not known which GPUs are free. The GPUs that other pods'
// ledger entries stand for are taken to be the best sets of what is free.
std::optional<model::GpuMask> choose_gpus(const model::PodRequest& pod, const NodeView& node);

}  // namespace berth::policy
