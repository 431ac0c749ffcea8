#include "pod_holder.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <vector>

#include "berth/model/placement_text.h"

namespace berth::state {
namespace {

std::string_view annotation(const model::Pod& pod, std::string_view key) {
  const auto found = std::ranges::find(pod.annotations, key, &model::Annotation::key);
  return found == pod.annotations.end() ? std::string_view() : std::string_view(found->value);
}

// Kubelet ends a pod by its deadline, counted from its start; what a person expects is counted likewise.
core::WallTime end_of(const model::Pod& pod, std::chrono::seconds expected) {
  constexpr std::chrono::seconds kLongest = std::chrono::hours(24 * 365 * 100);
  const core::WallTime from = pod.started != core::WallTime{} ? pod.started : pod.created;
  const std::chrono::seconds lasts = pod.deadline_seconds > 0 ? std::chrono::seconds(pod.deadline_seconds) : expected;
  const bool known = lasts.count() > 0 && lasts <= kLongest && from != core::WallTime{};
  return known ? from + lasts : core::WallTime::max();
}

}  // namespace

GpuAccount::Holder holder_of(const model::Pod& pod, const std::string& uid, const model::PodRequest& request) {
  GpuAccount::Holder holder;
  holder.uid = &uid;
  holder.created = pod.created;
  holder.claim.gpus = model::parse_gpu_list(annotation(pod, model::kGpusKey)).value_or(0);
  holder.claim.slots =
      model::parse_mig_slots(annotation(pod, model::kMigSlotsKey)).value_or(std::vector<model::MigSlot>());
  holder.devices = pod.devices;
  holder.pod.uid = pod.uid;
  holder.pod.ns = pod.ns;
  holder.pod.name = pod.name;
  holder.pod.gpus = gpu_count(pod.gpus);
  holder.pod.parts = pod.parts;
  holder.pod.priority = pod.priority;
  holder.pod.started = pod.started;
  holder.pod.saved = request.saved;
  holder.pod.owner = pod.owner;
  holder.pod.ends = end_of(pod, request.expected_duration);
  holder.pod.labels = pod.labels;
  return holder;
}

}  // namespace berth::state
