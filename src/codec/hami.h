// What HAMi writes on nodes and pods.
//
// Nodes: hami.io/node-nvidia-register, a JSON list of devices in which zeros and false are left out, or in older
// releases "UUID,count,MiB,cores,type,NUMA,healthy[,index,mode]" items, each followed by ":"; and
// hami.io/node-nvidia-score, how near each pair of GPUs is. Pods: hami.io/vgpu-devices-allocated, for each container
// "UUID,NVIDIA,MiB,percent of cores:" items followed by ";". (pkg/device/devices.go and pkg/device/nvidia of
// Project-HAMi/HAMi, 2.4 to 2.10.)
//
// Thread-safe: pure functions. Bytes from anybody who may annotate: kInvalid for what is not as above, with the place.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/machine.h"
#include "berth/model/pod.h"

namespace berth::codec {

// `scores` may be empty. Null for a machine whose GPUs can't be told apart: none, or an index beyond kMaxGpus.
//
// A GPU that is left out between others is one that HAMi does not hand out: it is there, unhealthy. Links are not known
// where a pair has no score, and where a product with NVLink has no pair with NVLink: releases up to 2.9 take links
// over NVSwitch for none (HAMi#2103).
core::Result<std::shared_ptr<const model::Machine>> read_hami_node(std::string_view devices, std::string_view scores);

// The GPUs of all containers, each once.
core::Result<std::vector<model::DeviceClaim>> read_hami_pod(std::string_view allocated);

}  // namespace berth::codec
