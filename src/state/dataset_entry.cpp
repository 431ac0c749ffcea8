#include "dataset_entry.h"

#include <algorithm>
#include <iterator>

#include "coverage.h"

namespace berth::state {

using model::CacheRole;
using model::Slot;

namespace {

CoverageInputs::Pod pod_of(const CacheMember& member, std::uint64_t cached_step) {
  CoverageInputs::Pod pod;
  pod.slot = member.node->slot;
  pod.ready = member.pod.ready;
  pod.own_cache = member.pod.own_cache;
  pod.late = !member.from_the_start && (member.ready_step == 0 || member.ready_step > cached_step);
  pod.bytes = member.bytes;
  pod.changed = member.changed;
  return pod;
}

std::int64_t worker_bytes_of(const DatasetEntry& entry) {
  std::int64_t bytes = 0;
  for (const model::CacheRuntime& runtime : entry.runtimes) bytes = std::max(bytes, runtime.worker_bytes);
  return bytes;
}

CoverageInputs inputs_of(const DatasetEntry& entry, const LabelTable& labels, const CoverageOptions& options,
                         core::SteadyTime now) {
  CoverageInputs in;
  in.bound = entry.object->bound();
  in.total_bytes = entry.object->total_bytes;
  in.cached = entry.object->cached;
  in.cached_at = entry.object_changed;
  in.measured_at = entry.measured_at;
  in.assumed = options.assumed;
  in.worker_bytes = worker_bytes_of(entry);
  for (const CacheMember* const member : entry.members) {
    if (member->pod.role == CacheRole::kWorker) in.workers.push_back(pod_of(*member, entry.cached_step));
    if (member->pod.role == CacheRole::kFuse) in.fuses.push_back(pod_of(*member, entry.cached_step));
  }
  for (const auto& [slot, since] : entry.unattended) {
    if (now - since.steady < options.label_grace) in.worker_labels.push_back({slot, since.wall});
  }
  for (const auto& [slot, since] : labels.nodes(entry.fuse_key)) in.fuse_labels.push_back({slot, since});
  return in;
}

// The first master's name is the dataset's with "-master-0"; with several, any that is ready knows all workers.
std::string master_of(const DatasetEntry& entry) {
  const CacheMember* best = nullptr;
  const std::string first = entry.ref.name + "-master-0";
  const auto before = [&](const CacheMember& a, const CacheMember& b) {
    return std::pair(a.name != first, std::string_view(a.name)) < std::pair(b.name != first, std::string_view(b.name));
  };
  for (const CacheMember* const member : entry.members) {
    const model::CachePod& pod = member->pod;
    if (pod.role != CacheRole::kMaster || !pod.ready || pod.web_port == 0 || pod.pod_ip.empty()) continue;
    if (best == nullptr || before(*member, *best)) best = member;
  }
  if (best == nullptr) return {};
  const std::string& ip = best->pod.pod_ip;
  const bool v6 = ip.find(':') != std::string::npos;
  return (v6 ? "[" + ip + "]" : ip) + ":" + std::to_string(best->pod.web_port);
}

}  // namespace

bool DatasetEntry::has_worker_label(const LabelTable& labels, Slot slot) const {
  return labels.has(worker_key, slot) || labels.has(runtime_key, slot);
}

std::vector<Slot> DatasetEntry::without_worker(const LabelTable& labels) const {
  std::vector<Slot> slots;
  for (const std::string* const key : {&worker_key, &runtime_key}) {
    for (const LabelTable::Labelled& node : labels.nodes(*key)) slots.push_back(node.slot);
  }
  std::ranges::sort(slots);
  slots.erase(std::ranges::unique(slots).begin(), slots.end());

  std::vector<Slot> attended;
  for (const CacheMember* const member : members) {
    if (member->pod.role == CacheRole::kWorker) attended.push_back(member->node->slot);
  }
  std::ranges::sort(attended);
  std::erase_if(slots, [&](Slot slot) { return std::ranges::binary_search(attended, slot); });
  return slots;
}

model::DatasetPlacement placement_of(const DatasetEntry& entry, const LabelTable& labels,
                                     const CoverageOptions& options, core::SteadyTime now) {
  model::DatasetPlacement placement;
  placement.ref = entry.ref;
  placement.phase = entry.object->phase;
  placement.runtime = entry.object->runtime;
  placement.total_bytes = entry.object->total_bytes;
  placement.ready_workers =
      static_cast<std::int32_t>(std::ranges::count_if(entry.members, [](const CacheMember* member) {
        return member->pod.role == CacheRole::kWorker && member->pod.ready;
      }));
  placement.worker_bytes = worker_bytes_of(entry);
  placement.loading = entry.loads > 0;
  placement.own_caches =
      std::ranges::any_of(entry.members, [](const CacheMember* member) { return member->pod.own_cache; });
  placement.master = master_of(entry);
  if (!entry.is_reference()) placement.holders = merge_coverage(inputs_of(entry, labels, options, now));
  return placement;
}

model::DatasetPlacement placement_of_label(std::span<const LabelTable::Labelled> nodes) {
  model::DatasetPlacement placement;
  placement.holders.reserve(nodes.size());
  for (const auto& [slot, since] : nodes) {
    placement.holders.push_back({slot, 1.0F, model::CoverageSource::kLabel, true, since, -1, true});
  }
  return placement;
}

}  // namespace berth::state
