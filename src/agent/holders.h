// Which GPUs the pods hold, from the IDs of their devices.
//
// Thread-safe: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/model/machine.h"
#include "machine_reading.h"
#include "pod_resources.h"

namespace berth::agent {

struct HoldersReading {
  model::GpuHolders holders;
  // IDs that are of no GPU or partition of this machine, each once. A pod with one is left out: half of what it holds
  // would make the rest look free.
  std::vector<std::string> unknown;
};

// IDs: UUIDs of GPUs and partitions (NVIDIA's plugin), followed by "::N" for replica N of a shared GPU, or "-N" (HAMi);
// "nvidiaN", "nvidiaN/giM", "nvidiaN/vgpuM" by minor number and GPU instance (GKE's plugin); "gpu-N" by minor number
// (DRA). A partition counts with its memory slices.
HoldersReading holders_of(std::span<const PodDevices> pods, const MachineReading& machine);

}  // namespace berth::agent
