#include "bind_annotations.h"

#include <chrono>

#include "berth/model/placement_text.h"

namespace berth::control {
namespace {

using model::GpuPlacement;

// One entry of HAMi's annotation for each GPU (Project-HAMi/HAMi pkg/device/devices.go, EncodePodSingleDevice); empty
// if a UUID is not known.
std::string hami_devices(const model::PodRequest& pod, const GpuPlacement& placement, const model::Machine& machine) {
  std::string text;
  const bool whole = !pod.parts.any();
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    if (!model::contains(placement.gpus, static_cast<int>(i))) continue;
    const model::Gpu& gpu = machine.gpus[i];
    if (gpu.uuid.empty()) return {};
    const std::int64_t share = pod.parts.mib > 0 ? pod.parts.mib : gpu.memory_mib * pod.parts.memory_percent / 100;
    const std::int64_t mib = whole ? gpu.memory_mib : share;
    const std::int64_t percent = whole ? 100 : pod.parts.milli / 10;
    text += gpu.uuid + ",NVIDIA," + std::to_string(mib) + ',' + std::to_string(percent) + ':';
  }
  // One container has them all.
  return text.empty() ? text : text + ';';
}

void add_hami(std::vector<model::Annotation>& annotations, const std::string& devices, const std::string& node,
              core::WallTime now) {
  const std::string seconds =
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  annotations.push_back({"hami.io/vgpu-node", node});
  annotations.push_back({"hami.io/vgpu-time", seconds});
  annotations.push_back({"hami.io/vgpu-devices-to-allocate", devices});
  annotations.push_back({"hami.io/vgpu-devices-allocated", devices});
  annotations.push_back({"hami.io/bind-time", seconds});
  annotations.push_back({"hami.io/bind-phase", "allocating"});
}

}  // namespace

std::vector<model::Annotation> bind_annotations(const model::PodRequest& pod, const GpuPlacement& placement,
                                                const std::string& node, const model::NodeState* state, bool hami,
                                                core::WallTime now) {
  std::vector<model::Annotation> annotations;
  if (placement.gpus != 0) {
    annotations.push_back({std::string(model::kGpusKey), model::write_gpu_list(placement.gpus)});
  }
  if (!placement.slots.empty()) {
    annotations.push_back({std::string(model::kMigSlotsKey), model::write_mig_slots(placement.slots)});
  }
  if (!hami || placement.gpus == 0 || !placement.slots.empty() || state == nullptr || !state->machine) {
    return annotations;
  }
  const std::string devices = hami_devices(pod, placement, *state->machine);
  if (!devices.empty()) add_hami(annotations, devices, node, now);
  return annotations;
}

}  // namespace berth::control
