// One node as the filters and scorers see it for one pod: its own ledger entry is left out of what others hold.
//
// Thread-safe: a value over an immutable snapshot, valid as long as that and the LedgerCredit it comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/model/pod.h"
#include "berth/model/snapshot.h"

namespace berth::policy {

struct NodeView {
  const model::NodeState* state = nullptr;
  std::int32_t firm_others = 0;  // GPUs that firm entries of other pods hold against this one
  std::int32_t soft_others = 0;  // GPUs that soft entries of other pods hold
  model::GpuMask firm_gpus = 0;  // of the firm ones, free GPUs that are promised one by one
  // As NodeState::uses, with what firm entries hold against this pod; null likewise.
  const std::vector<model::GpuUse>* uses = nullptr;
  // The same with the shares and partitions that soft entries are likely to get; null where there are none.
  const std::vector<model::GpuUse>* expected = nullptr;
  std::int64_t cpu_back = 0;   // thousandths that entries hold which do not count for the pod
  bool as_published = true;    // all of this is the same for every pod
  double coverage = 0;         // fraction held of all bytes of the pod's datasets
  double load_seconds = 0;     // expected to load the pod's datasets and images here
  double saved_seconds = 0;    // of it, saved over a node that has nothing near; never negative
  bool holds_all = true;       // something of every dataset of the pod, and as much as it sets as a minimum
  bool holds_required = true;  // the datasets without which the pod may not run
  double proximity = 0;        // score of scores.h; 0 for a pod that is in no gang
  bool gang_fits = true;       // where members of its gang must be together, it may be one of them here

  // GPUs left for this pod.
  [[nodiscard]] std::int32_t unused() const { return state->gpus - state->used - firm_others; }
  // GPUs left when the pods that were promised this node arrive as well.
  [[nodiscard]] std::int32_t unpromised() const { return unused() - soft_others; }
};

// The GPUs that the pod would get whole on the node: the best free set, of one island where it must be; nullopt where
// there is none, where the pod asks for no whole GPU, or where it is not known which GPUs are free. The GPUs that other
// pods' ledger entries stand for without naming them are taken to be the best sets of what is free.
std::optional<model::GpuMask> choose_gpus(const model::PodRequest& pod, const NodeView& node);

// How the pod's shares and partitions fit.
struct PartFit {
  bool fits = true;         // beside what is held and promised for certain
  bool unpromised = true;   // beside what is expected, too
  model::GpuMask gpus = 0;  // of which it would get shares; 0 where not known
};
PartFit fit_parts(const model::PodRequest& pod, const NodeView& node);

// Exactly what Bind would write, for single nodes: as choose_gpus(), with best_refined() deciding between equal sets,
// and place_parts(). nullopt where there is no room, or where it is not known which GPUs are free.
std::optional<model::GpuPlacement> place_gpus(const model::PodRequest& pod, const NodeView& node);

// Of the node's GPUs, those with the memory and of a product that the pod asks for; all where they are alike, which is
// what the node's labels are judged by.
model::GpuMask suitable_gpus(const model::PodRequest& pod, const NodeView& node);

}  // namespace berth::policy
