#include "holders.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace berth::agent {
namespace {

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// "UUID" of "UUID::3" and "UUID-3", empty if it ends in no such number.
std::string_view without_replica(std::string_view id) {
  const auto dash = id.find_last_of(":-");
  if (dash == std::string_view::npos || !number(id.substr(dash + 1))) return {};
  id = id.substr(0, dash);
  if (id.ends_with(':')) id.remove_suffix(1);
  return id;
}

class Devices {
 public:
  explicit Devices(const MachineReading& machine) : machine_(machine) {}

  // False if it is none of this machine's.
  bool add(std::string_view id, model::GpuPlacement& holds) const {
    return add_uuid(id, holds) || add_uuid(without_replica(id), holds) || add_path(id, holds);
  }
  bool add_claimed(std::string_view name, model::GpuPlacement& holds) const {
    return name.starts_with("gpu-") && add_gpu(minor(number(name.substr(4))), holds);
  }

 private:
  bool add_uuid(std::string_view uuid, model::GpuPlacement& holds) const {
    if (uuid.empty()) return false;
    const auto& gpus = machine_.machine.gpus;
    const auto gpu = std::ranges::find(gpus, uuid, &model::Gpu::uuid);
    if (gpu != gpus.end()) return add_gpu(static_cast<int>(gpu - gpus.begin()), holds);
    const auto part = std::ranges::find(machine_.partitions, uuid, &Partition::uuid);
    return part != machine_.partitions.end() && add_slot(part->slot, holds);
  }
  bool add_path(std::string_view id, model::GpuPlacement& holds) const {
    constexpr std::string_view kDevice = "nvidia";
    if (!id.starts_with(kDevice)) return false;
    id.remove_prefix(kDevice.size());
    const auto slash = std::min(id.find('/'), id.size());
    const auto gpu = minor(number(id.substr(0, slash)));
    std::string_view rest = id.substr(std::min(slash + 1, id.size()));
    if (!gpu || !rest.starts_with("gi")) return add_gpu(gpu, holds);
    rest = rest.substr(2, std::min(rest.find('/'), rest.size()) - 2);
    const auto part = std::ranges::find_if(machine_.partitions, [&](const Partition& one) {
      return one.gpu == *gpu && one.gpu_instance >= 0 && number(rest) == one.gpu_instance;
    });
    return part != machine_.partitions.end() && add_slot(part->slot, holds);
  }
  // The index of the GPU with this minor number.
  std::optional<int> minor(std::optional<int> wanted) const {
    if (!wanted) return std::nullopt;
    const auto found = std::ranges::find(machine_.minors, *wanted);
    if (found == machine_.minors.end()) return std::nullopt;
    return static_cast<int>(found - machine_.minors.begin());
  }
  static bool add_gpu(std::optional<int> gpu, model::GpuPlacement& holds) {
    if (gpu) holds.gpus |= model::mask({*gpu});
    return gpu.has_value();
  }
  static bool add_slot(const std::optional<model::MigSlot>& slot, model::GpuPlacement& holds) {
    if (!slot) return false;
    if (std::ranges::find(holds.slots, *slot) == holds.slots.end()) holds.slots.push_back(*slot);
    return true;
  }

  const MachineReading& machine_;
};

void sort_slots(model::GpuPlacement& holds) {
  std::ranges::sort(holds.slots, {},
                    [](const model::MigSlot& slot) { return std::tie(slot.gpu, slot.start, slot.size); });
}

// A pod that was deleted by force may still be there beside the one that has its name now: together they hold what both
// do. `pods` are sorted by name.
void join_namesakes(std::vector<model::GpuHolder>& pods) {
  std::vector<model::GpuHolder> joined;
  for (model::GpuHolder& pod : pods) {
    if (joined.empty() || joined.back().ns != pod.ns || joined.back().pod != pod.pod) {
      joined.push_back(std::move(pod));
      continue;
    }
    model::GpuPlacement& holds = joined.back().holds;
    holds.gpus |= pod.holds.gpus;
    holds.slots.insert(holds.slots.end(), pod.holds.slots.begin(), pod.holds.slots.end());
    sort_slots(holds);
    const auto [again, end] = std::ranges::unique(holds.slots);
    holds.slots.erase(again, end);
  }
  pods = std::move(joined);
}

}  // namespace

HoldersReading holders_of(std::span<const PodDevices> pods, const MachineReading& machine) {
  const Devices devices(machine);
  HoldersReading reading;
  std::set<std::string, std::less<>> unknown;
  for (const PodDevices& pod : pods) {
    model::GpuHolder holder{pod.ns, pod.pod, {}};
    bool known = true;
    const auto take = [&](const std::string& id, bool found) {
      if (found) return;
      known = false;
      unknown.insert(id.substr(0, 128));
    };
    for (const std::string& id : pod.devices) take(id, devices.add(id, holder.holds));
    for (const std::string& name : pod.claimed) take(name, devices.add_claimed(name, holder.holds));
    if (!known || holder.holds.empty()) continue;
    sort_slots(holder.holds);
    reading.holders.pods.push_back(std::move(holder));
  }
  std::ranges::sort(reading.holders.pods, {}, [](const model::GpuHolder& one) { return std::tie(one.ns, one.pod); });
  join_namesakes(reading.holders.pods);
  reading.unknown.assign(unknown.begin(), unknown.end());
  return reading;
}

}  // namespace berth::agent
