// The hard rules, one file each. A filter gives the reason for which the node can't take the pod, or kNone.
//
// Thread-safe: pure functions. Whole-GPU counts belong to the scheduler unless the mode says otherwise.
#pragma once

#include <optional>

#include "berth/model/gpu_set.h"
#include "berth/model/pod.h"
#include "berth/model/reason.h"
#include "berth/policy/node_view.h"
#include "berth/policy/settings.h"

namespace berth::policy {

// RESERVED if only other pods' firm entries stand in the way; INSUFFICIENT_GPU with kEnforce if too few are unused.
model::Reason filter_gpu_count(const model::PodRequest& pod, const NodeView& node, GpuCountMode mode);
// GPU_SHARE_EXHAUSTED if no GPU, or not as many as are asked for, has the share or the partition free.
model::Reason filter_gpu_share(const PartFit& fit);
// Where a node's GPUs differ, the next two judge them one by one: too few free ones with both the memory and the
// product that the pod asks for reject the node.
//
// GPU_PRODUCT_MISMATCH if the pod names products and the node's is none of them, or unknown.
model::Reason filter_gpu_product(const model::PodRequest& pod, const NodeView& node);
// GPU_MEMORY_TOO_SMALL if the pod sets a minimum and a GPU of the node has less, or an unknown amount.
model::Reason filter_gpu_memory(const model::PodRequest& pod, const NodeView& node);
// What both ask where GPUs differ; NodeView::uses must be there.
bool enough_suitable(const model::PodRequest& pod, const NodeView& node);
// TOPOLOGY_RESTRICTED if the pod is restricted and `gpu_set` (choose_gpus) is not there. Where it is not known which
// GPUs are free, only a node that nobody uses passes.
model::Reason filter_topology(const model::PodRequest& pod, const NodeView& node,
                              const std::optional<model::GpuMask>& gpu_set);
// DATASET_NOT_CACHED unless the node holds every dataset that is required at this time: it has a ready worker of it
// that is not measured to be empty, and at least the pod's minimum of its bytes.
model::Reason filter_dataset(const NodeView& node);
// GANG_TOPOLOGY if members must be together and the node is elsewhere than those that have a place, or has no label
// that tells, or its domain has no room for those that have none yet; other pods' firm entries counted.
model::Reason filter_gang(const NodeView& node);

}  // namespace berth::policy
