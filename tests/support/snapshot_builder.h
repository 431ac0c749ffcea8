// Snapshots for tests of policies, put together by hand rather than by `state`.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/model/snapshot.h"

namespace berth::tests {

inline constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
inline constexpr const char* kV100 = "Tesla-V100-SXM2-32GB";

class SnapshotBuilder {
 public:
  // `taken`: GPUs that bound pods hold, lowest indices unless `free` says otherwise.
  SnapshotBuilder& node(std::string name, int gpus = 8, int taken = 0, std::string product = kH100,
                        std::int64_t memory_mib = 81559) {
    auto node = std::make_shared<model::Node>();
    node->name = name;
    node->gpus = gpus;
    node->gpu_product = std::move(product);
    node->gpu_memory_mib = memory_mib;
    model::NodeState state;
    state.shape = model::find_shape(node->gpu_product, gpus);
    state.node = std::move(node);
    state.gpus = gpus;
    state.used = taken;
    state.free_known = state.shape != nullptr;
    if (state.free_known) state.free = model::mask_all(gpus) & ~model::mask_all(taken);
    names_.push_back(std::move(name));
    states_.push_back(std::move(state));
    return *this;
  }
  // Of the node added last.
  SnapshotBuilder& free(model::GpuMask free) {
    states_.back().free = free;
    states_.back().used = states_.back().gpus - model::count(free);
    return *this;
  }
  SnapshotBuilder& holds(const std::string& ns, const std::string& dataset, float coverage = 1) {
    model::DatasetPlacement& placement = placements_[ns + "/" + dataset];
    placement.ref = {ns, dataset};
    placement.holders.push_back({static_cast<model::Slot>(names_.size() - 1),
                                 coverage,
                                 model::CoverageSource::kMeasured,
                                 coverage > 0,
                                 {},
                                 -1});
    return *this;
  }
  SnapshotBuilder& promised(std::string uid, int gpus, model::EntryKind kind, int priority = 0) {
    (kind == model::EntryKind::kFirm ? states_.back().firm : states_.back().soft) += gpus;
    ledger_[uid] = {uid, static_cast<model::Slot>(names_.size() - 1), gpus, priority, kind};
    return *this;
  }

  [[nodiscard]] std::shared_ptr<const model::Snapshot> build() const {
    auto snapshot = std::make_shared<model::Snapshot>();
    snapshot->version = 7;
    snapshot->ready = true;
    snapshot->index = std::make_shared<const model::NodeIndex>(names_);
    for (std::size_t first = 0; first < states_.size(); first += 64) {
      auto block = std::make_shared<model::NodeBlock>();
      for (std::size_t i = 0; i < 64 && first + i < states_.size(); ++i) (*block)[i] = states_[first + i];
      snapshot->blocks.push_back(std::move(block));
    }
    auto names = std::make_shared<model::DatasetNames>();
    for (const auto& [name, placement] : placements_) {
      names->emplace(name, static_cast<model::DatasetId>(snapshot->datasets.size()));
      snapshot->datasets.push_back(std::make_shared<const model::DatasetPlacement>(placement));
    }
    snapshot->dataset_names = std::move(names);
    snapshot->readers.resize(snapshot->datasets.size());
    snapshot->places = std::make_shared<const std::vector<model::Place>>(1);
    snapshot->ledger = std::make_shared<const model::LedgerMap>(ledger_);
    return snapshot;
  }

 private:
  std::vector<std::string> names_;
  std::vector<model::NodeState> states_;
  model::StringMap<model::DatasetPlacement> placements_;
  model::LedgerMap ledger_;
};

// A pod of team/train that asks for `gpus`, with the given annotations of ours (keys without prefix).
inline model::PodRequest request(std::int64_t gpus, std::vector<std::pair<std::string, std::string>> keys = {},
                                 const model::PodDefaults& defaults = {}) {
  model::Pod pod;
  pod.ns = "team";
  pod.name = "train";
  pod.uid = "uid-train";
  pod.gpus = gpus;
  for (auto& [key, value] : keys) pod.annotations.push_back({"berth.io/" + key, value});
  return model::make_request(pod, defaults);
}

}  // namespace berth::tests
