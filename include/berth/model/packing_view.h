// What packing knows of the cluster: the mix of requests, and what the nodes together can still give each class.
//
// Thread-safe: immutable, but for the memo, which is thread-safe itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/model/cost_memo.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"
#include "berth/model/usable_capacity.h"

namespace berth::model {

// The class of a pod: that of its whole GPUs, else of its share, else of its largest partitions, else of its CPU.
RequestClass request_class(std::int64_t gpus, const GpuParts& parts, std::int64_t cpu_milli,
                           std::vector<std::string> products = {});

// What a cluster is taken to be asked for while no pod was seen: jobs of one GPU (half of them), two (a tenth), four
// (three twentieths) and eight (a quarter), with four CPUs for each GPU.
RequestMix default_mix();

// What others are promised on a node without being bound to it.
struct Promised {
  std::int32_t firm = 0;  // GPUs; also those in firm_gpus
  std::int32_t soft = 0;
  GpuMask firm_gpus = 0;  // free ones, promised one by one
  static Promised by(const NodeState& state) { return {state.firm, state.soft, state.firm_gpus}; }
};
// The free GPUs that are nobody's: those that are promised without saying which are taken to be the best sets. Only
// where NodeState::free_known.
GpuMask unpromised(const NodeState& state, const Promised& promised);
// What the node has left beside all that is promised. `uses` as NodeState::uses. A node that does not tell its CPU has
// plenty.
Room room_of(const NodeState& state, const Promised& promised, const std::vector<GpuUse>* uses, const MixTable& mix);

struct PackingView {
  MixTable mix;
  Counting counting;
  std::vector<double> usable;      // by class, summed over the nodes
  double gpu_milli = 0;            // what all GPUs have
  std::unique_ptr<CostMemo> memo;  // of costs at the prices that follow from all this; never null
};

// Of all nodes of the snapshot. Time: about half a microsecond a node.
std::shared_ptr<const PackingView> view_packing(const Snapshot& snapshot, MixTable mix, const Counting& counting = {});

}  // namespace berth::model
