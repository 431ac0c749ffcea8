#include "wake_group.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>

#include "berth/policy/decide.h"

namespace berth::control {
namespace {

// The pointer that changes when the dataset's placement does.
std::shared_ptr<const model::DatasetPlacement> placement(const model::Snapshot& snapshot,
                                                         const model::DatasetRef& ref) {
  const model::DatasetId id = snapshot.dataset_id(ref);
  return id == model::kNoDataset ? nullptr : snapshot.datasets[id];
}

bool datasets_moved(const model::PodRequest& request, const model::Snapshot& snapshot, const model::Snapshot& before) {
  return std::any_of(request.datasets.begin(), request.datasets.end(), [&](const model::WantedDataset& wanted) {
    return placement(snapshot, wanted.ref) != placement(before, wanted.ref);
  });
}

struct Required {
  const model::DatasetPlacement* placement = nullptr;  // of the required dataset on the fewest nodes; null: none is
  bool nowhere = false;                                // one does not exist
};

Required fewest_holders(const model::PodRequest& request, const model::Snapshot& snapshot) {
  Required found;
  for (const model::WantedDataset& wanted : request.datasets) {
    if (!wanted.required) continue;
    const model::DatasetPlacement* const one = snapshot.placement(wanted.ref);
    if (one == nullptr) return {nullptr, true};
    if (found.placement == nullptr || one->holders.size() < found.placement->holders.size()) found.placement = one;
  }
  return found;
}

}  // namespace

policy::Settings judging(policy::Settings settings) {
  settings.coarse = policy::Coarse::kOff;
  settings.gpu_count = policy::GpuCountMode::kEnforce;
  return settings;
}

std::optional<core::WallTime> end_of_wait(const model::PodRequest& request, core::WallTime now) {
  if (!request.dataset_wait || !request.requires_any_dataset(now)) return std::nullopt;
  return request.created + *request.dataset_wait;
}

void fix_in_time(model::PodRequest& request, core::WallTime now) {
  for (model::WantedDataset& wanted : request.datasets) wanted.required = request.requires_dataset(wanted, now);
  request.dataset_policy = model::DatasetPolicy::kPreferred;
  request.dataset_wait.reset();
  // An entry of its own in the ledger, which only a nominated pod's is firm, holds nothing against a pod.
  if (request.nominated_node.empty()) request.uid.clear();
}

// Of all that a filter of policy looks at.
std::string group_key(const model::PodRequest& request, const NodeMask* mask) {
  std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(mask));
  const auto number = [&key](std::int64_t value) {
    key += '|';
    key += std::to_string(value);
  };
  // With its length, or a name of a pod's choice could pass for something else.
  const auto text = [&](std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    key += ':';
    key += value;
  };
  text(request.uid);
  number(request.gpus);
  number(request.parts.gpus);
  number(request.parts.mib);
  number(request.parts.memory_percent);
  number(request.parts.milli);
  number(static_cast<std::int64_t>(request.parts.mig.size()));
  for (const model::MigDemand& partition : request.parts.mig) {
    text(partition.profile);
    number(partition.count);
  }
  number(request.priority);
  number(request.invalid ? 1 : 0);
  number(static_cast<int>(request.topology_policy));
  number(request.min_gpu_memory_mib);
  number(static_cast<std::int64_t>(request.min_coverage.value_or(0) * 1e9));
  number(static_cast<std::int64_t>(request.gpu_products.size()));
  for (const std::string& product : request.gpu_products) text(product);
  const bool together = request.gang_topology.required;
  text(together ? request.gang.name : std::string_view());
  text(together ? request.gang_topology.label : std::string_view());
  number(together ? request.gang.members : 0);
  for (const model::WantedDataset& wanted : request.datasets) {
    text(wanted.required ? "+" : "-");
    text(wanted.ref.ns);
    text(wanted.ref.name);
  }
  return key;
}

std::vector<std::string_view> names_to_judge(const model::PodRequest& request, const NodeMask* mask,
                                             const model::Snapshot& snapshot, const model::Snapshot* before) {
  std::vector<std::string_view> names;
  if (before != nullptr && datasets_moved(request, snapshot, *before)) before = nullptr;
  // Where members must be together, a change on one node can let in all nodes of its domain.
  if (request.gang_topology.required && !request.gang.name.empty()) before = nullptr;
  const auto wanted = [&](std::size_t block) -> std::uint64_t {
    const bool same =
        before != nullptr && block < before->blocks.size() && before->blocks[block] == snapshot.blocks[block];
    if (same) return 0;
    return mask != nullptr ? mask->word(block) : ~std::uint64_t{0};
  };
  const auto add = [&](model::Slot slot) {
    const std::string_view name = snapshot.index->name(slot);
    if (!name.empty()) names.push_back(name);
  };
  const Required required = fewest_holders(request, snapshot);
  if (required.nowhere) return names;
  if (required.placement != nullptr) {
    for (const auto& holder : required.placement->holders) {
      if ((wanted(holder.slot / 64) >> holder.slot % 64 & 1) != 0) add(holder.slot);
    }
    return names;
  }
  for (std::size_t block = 0; block < snapshot.blocks.size(); ++block) {
    const std::uint64_t slots = wanted(block);
    if (slots == 0) continue;
    const std::size_t end = std::min((block + 1) * 64, snapshot.index->slots());
    for (std::size_t slot = block * 64; slot < end; ++slot) {
      if ((slots >> slot % 64 & 1) != 0) add(static_cast<model::Slot>(slot));
    }
  }
  return names;
}

model::Slot first_fit(const model::PodRequest& request, const std::vector<std::string_view>& names,
                      const model::Snapshot& snapshot, const policy::Settings& settings, core::WallTime now) {
  const auto outcome = policy::decide_filter({snapshot, request, names, 1, now}, settings);
  return outcome.kept.empty() ? model::kNoSlot : snapshot.find(names[outcome.kept.front()]);
}

}  // namespace berth::control
