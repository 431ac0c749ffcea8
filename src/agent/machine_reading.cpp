#include "machine_reading.h"

#include <algorithm>

namespace berth::agent {
namespace {

const codec::GpuDetails* find_details(std::span<const codec::GpuDetails> details, const std::string& bus_id) {
  const auto found = std::ranges::find(details, bus_id, &codec::GpuDetails::bus_id);
  return bus_id.empty() || found == details.end() ? nullptr : &*found;
}

// "3g.20gb" of "1c.3g.20gb": a compute instance that has only part of its GPU instance's compute slices.
std::string gpu_instance_profile(const std::string& profile) {
  const auto dot = profile.find("c.");
  return dot == std::string::npos || profile.find('g') < dot ? profile : profile.substr(dot + 2);
}

std::vector<model::MigInstance> instances_of(int gpu, const MigLists& mig) {
  std::vector<model::MigInstance> made;
  for (const auto& instance : mig.instances) {
    if (instance.gpu == gpu) made.push_back({instance.profile, static_cast<std::int8_t>(instance.start)});
  }
  if (mig.instances.empty()) {
    for (const auto& name : mig.names) {
      if (name.gpu == gpu) made.push_back({gpu_instance_profile(name.profile), -1});
    }
  }
  std::ranges::sort(made, {},
                    [](const model::MigInstance& one) { return std::pair(one.start, std::string_view(one.profile)); });
  return made;
}

Partition partition_of(const codec::MigName& name, const codec::GpuDetails* details, const MigLists& mig) {
  Partition partition{name.uuid, name.gpu, -1, std::nullopt};
  if (details == nullptr) return partition;
  const auto device = std::ranges::find(details->mig_devices, name.index, &codec::MigDevice::index);
  if (device == details->mig_devices.end()) return partition;
  partition.gpu_instance = device->gpu_instance;
  for (const auto& instance : mig.instances) {
    if (instance.gpu != name.gpu || instance.id != device->gpu_instance) continue;
    partition.slot = model::MigSlot{static_cast<std::int8_t>(name.gpu), static_cast<std::int8_t>(instance.start),
                                    static_cast<std::int8_t>(instance.size)};
  }
  return partition;
}

// As GPU-feature-discovery labels a node: all GPUs that have one agree, or there is none.
std::string common_clique(std::span<const codec::GpuDetails> details) {
  std::string clique;
  for (const auto& gpu : details) {
    if (gpu.clique.empty()) continue;
    if (!clique.empty() && clique != gpu.clique) return {};
    clique = gpu.clique;
  }
  return clique;
}

}  // namespace

MachineReading join(std::span<const codec::GpuRow> rows, std::span<const codec::GpuDetails> details,
                    const MigLists& mig, const std::function<PciPlace(const std::string&)>& place) {
  MachineReading reading;
  reading.machine.source = model::TopologySource::kAgent;
  reading.machine.clique = common_clique(details);
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), model::kMaxGpus); ++i) {
    const codec::GpuRow& row = rows[i];
    const codec::GpuDetails* more = find_details(details, row.bus_id);
    model::Gpu gpu;
    gpu.uuid = row.uuid;
    gpu.product = row.product;
    gpu.memory_mib = row.memory_mib;
    gpu.healthy = row.answers && (more == nullptr || more->usable);
    if (!row.bus_id.empty()) {
      const PciPlace at = place(row.bus_id);
      gpu.pcie = at.bridge;
      gpu.numa = at.numa;
    }
    if (more != nullptr && more->mig) {
      gpu.mig = true;
      gpu.instances = instances_of(static_cast<int>(i), mig);
    }
    reading.machine.gpus.push_back(std::move(gpu));
    reading.bus_ids.push_back(row.bus_id);
    reading.minors.push_back(more == nullptr ? -1 : more->minor);
  }
  for (const auto& name : mig.names) {
    if (name.gpu < 0 || static_cast<std::size_t>(name.gpu) >= reading.machine.gpus.size()) continue;
    const auto* more = find_details(details, reading.bus_ids[static_cast<std::size_t>(name.gpu)]);
    reading.partitions.push_back(partition_of(name, more, mig));
  }
  return reading;
}

std::optional<MachineReading> without(const MachineReading& before, std::span<const codec::GpuRow> lost) {
  MachineReading reading = before;
  for (const auto& row : lost) {
    const auto found = std::ranges::find(before.bus_ids, row.bus_id);
    if (row.bus_id.empty() || found == before.bus_ids.end()) return std::nullopt;
    reading.machine.gpus[static_cast<std::size_t>(found - before.bus_ids.begin())].healthy = false;
  }
  return reading;
}

}  // namespace berth::agent
