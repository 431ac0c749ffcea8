// What the commands of nvidia-smi tell together about a machine.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/codec/nvidia_smi.h"
#include "berth/model/machine.h"
#include "pci.h"

namespace berth::agent {

// A partition that can be given to a pod.
struct Partition {
  std::string uuid;
  int gpu = -1;
  int gpu_instance = -1;               // -1 if not known
  std::optional<model::MigSlot> slot;  // nullopt if not known
  friend bool operator==(const Partition&, const Partition&) = default;
};

struct MachineReading {
  model::Machine machine;
  std::vector<std::string> bus_ids;  // by GPU; empty where not known
  std::vector<int> minors;           // by GPU; -1 where not known
  std::vector<Partition> partitions;
  friend bool operator==(const MachineReading&, const MachineReading&) = default;
};

struct MigLists {
  std::vector<codec::MigName> names;
  std::vector<codec::GpuInstance> instances;  // without any, starts are not known
};

// All but links and NICs. GPUs are told apart by index, and the details by bus id. At most model::kMaxGpus rows.
MachineReading join(std::span<const codec::GpuRow> rows, std::span<const codec::GpuDetails> details,
                    const MigLists& mig, const std::function<PciPlace(const std::string&)>& place);

// As it was, but for the GPUs at these bus ids, which are lost. nullopt if one of them is not of this machine.
std::optional<MachineReading> without(const MachineReading& before, std::span<const codec::GpuRow> lost);

}  // namespace berth::agent
