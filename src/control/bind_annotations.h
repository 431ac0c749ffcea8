// What a Binding writes on its pod.
//
// Thread-safe: a pure function.
#pragma once

#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/machine.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"

namespace berth::control {

// berth.io/gpus and berth.io/mig-slots, as far as they are known. With `hami` also those by which HAMi's device plugin
// finds the pod and its GPUs, where `node` knows the UUIDs of them all and the pod gets no partition:
// docs/gpu-topology.md.
std::vector<model::Annotation> bind_annotations(const model::PodRequest& pod, const model::GpuPlacement& placement,
                                                const std::string& node, const model::NodeState* state, bool hami,
                                                core::WallTime now);

}  // namespace berth::control
