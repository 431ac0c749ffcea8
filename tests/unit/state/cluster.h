// Nodes, pods and a ClusterState that is driven by hand, for the tests of state.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/cluster_update.h"
#include "berth/state/cluster_state.h"

namespace berth::state {

inline constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";  // eight: every pair linked alike
inline constexpr const char* kV100 = "Tesla-V100-SXM2-32GB";   // eight: the hybrid cube mesh of DGX-1

inline model::Node node(std::string name, std::int64_t gpus = 8, std::string product = kH100,
                        std::vector<std::string> fluid_labels = {}) {
  model::Node made;
  made.uid = "uid-of-" + name;
  made.name = std::move(name);
  made.gpus = gpus;
  made.gpu_product = std::move(product);
  made.fluid_labels = std::move(fluid_labels);
  return made;
}

// Unbound, in namespace "ns", with a UID made of its name.
inline model::Pod pod(std::string name, std::int64_t gpus) {
  model::Pod made;
  made.ns = "ns";
  made.uid = name + "-uid";
  made.name = std::move(name);
  made.gpus = gpus;
  return made;
}

inline model::Pod bound(model::Pod what, std::string to) {
  what.node = std::move(to);
  what.phase = model::PodPhase::kRunning;
  return what;
}

inline model::Pod nominated(model::Pod what, std::string to) {
  what.nominated_node = std::move(to);
  return what;
}

inline model::Pod ended(model::Pod what, model::PodPhase how = model::PodPhase::kSucceeded) {
  what.phase = how;
  return what;
}

inline model::Pod born(model::Pod what, int second) {
  what.created = core::WallTime(std::chrono::seconds(second));
  return what;
}

inline model::Pod with_gpu_list(model::Pod what, std::string list) {
  what.annotations.push_back({"berth.io/gpus", std::move(list)});
  return what;
}

inline core::WallTime second(int n) { return core::WallTime(std::chrono::seconds(n)); }

inline constexpr std::int64_t kGib = std::int64_t{1} << 30;

// Of namespace "ns", bound to an Alluxio runtime, 100 GiB, nothing known of what is cached.
inline model::Dataset dataset(std::string name) {
  model::Dataset made;
  made.uid = "uid-of-" + name;
  made.ref = {"ns", std::move(name)};
  made.phase = "Bound";
  made.runtime = "alluxio";
  made.total_bytes = 100 * kGib;
  return made;
}

inline model::Dataset with_cached(model::Dataset what, double cached) {
  what.cached = cached;
  return what;
}

// A reference dataset ("dataset://ns/PHYSICAL").
inline model::Dataset referring(std::string name, std::string physical) {
  model::Dataset made = dataset(std::move(name));
  made.runtime = "thin";
  made.physical = {"ns", std::move(physical)};
  return made;
}

// A ready worker of ns/DATASET on a node whose IP is "ip-of-NODE", started an hour ago.
inline model::Pod worker(const std::string& dataset, int number, const std::string& on) {
  model::Pod made = bound(pod(dataset + "-worker-" + std::to_string(number), 0), on);
  model::CachePod part;
  part.dataset = dataset;
  part.ready = true;
  part.host_ip = "ip-of-" + on;
  part.started = second(1);
  made.cache = std::move(part);
  return made;
}

inline model::Pod fuse(const std::string& dataset, const std::string& on) {
  model::Pod made = worker(dataset, 0, on);
  made.name = dataset + "-fuse-" + on;
  made.uid = made.name + "-uid";
  made.cache->role = model::CacheRole::kFuse;
  return made;
}

// Unbound, with `datasets` as annotation.
inline model::Pod reader(std::string name, std::int64_t gpus, std::string datasets) {
  model::Pod made = pod(std::move(name), gpus);
  made.annotations.push_back({"berth.io/datasets", std::move(datasets)});
  return made;
}

inline model::Pod mounting(model::Pod what, std::string claim) {
  what.claims.push_back(std::move(claim));
  return what;
}

class Cluster {
 public:
  explicit Cluster(StateOptions options = {}) : state(options, clock) {}

  // Everything pushed by one call lands in one snapshot.
  template <class... Updates>
  void tell(Updates... updates) {
    (state.push(std::move(updates)), ...);
    state.step();
  }
  template <class... Nodes>
  void set_nodes(Nodes... nodes) {
    tell(model::NodeSet{std::move(nodes)}...);
  }
  template <class... Pods>
  void set_pods(Pods... pods) {
    tell(model::PodSet{std::move(pods)}...);
  }
  void remove_pod(const model::Pod& pod) { tell(model::PodGone{pod.ns, pod.name, pod.uid}); }
  void post(Attempt attempt) {
    state.post(std::move(attempt));
    state.step();
  }
  void pass(std::chrono::milliseconds time) {
    clock.advance(time);
    state.step();
  }

  [[nodiscard]] std::shared_ptr<const model::Snapshot> snapshot() const { return state.snapshots().load(); }
  // Of a node that must be known.
  [[nodiscard]] model::NodeState at(const std::string& name) const {
    const auto now = snapshot();
    return now->at(now->find(name));
  }

  // Holders of ns/NAME by node, readers likewise; both empty if it does not exist.
  using Holders = std::map<std::string, model::DatasetPlacement::Holder>;
  [[nodiscard]] Holders holders(const std::string& name) const {
    const auto now = snapshot();
    Holders found;
    if (const auto* const placement = now->placement({"ns", name})) {
      for (const auto& holder : placement->holders) found.emplace(now->index->name(holder.slot), holder);
    }
    return found;
  }
  using Readers = std::map<std::string, int>;
  [[nodiscard]] Readers readers(const std::string& name) const {
    const auto now = snapshot();
    Readers found;
    const model::DatasetId id = now->dataset_id({"ns", name});
    if (id == model::kNoDataset || !now->readers[id]) return found;
    for (const auto& [slot, pods] : now->readers[id]->counts) found.emplace(now->index->name(slot), pods);
    return found;
  }

  core::ManualClock clock;
  ClusterState state;
};

}  // namespace berth::state
