// The kinds of Kubernetes objects that are read, by their names in the API.
//
// Thread-safe: pure functions.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "berth/codec/gpu_objects.h"
#include "berth/codec/kubernetes_objects.h"

namespace berth::codec {

template <class... T>
struct Kinds {};
using AllKinds =
    Kinds<model::Node, model::Pod, model::Claim, model::Dataset, model::CacheRuntime, model::DataLoad,
          model::DisruptionBudget, model::SchedulingPolicy, KoordinatorDevice, NumaTopology, ResourceSlice>;

template <class T>
struct Kind;

struct CoreKind {
  static bool in_group(std::string_view version) { return version == "v1"; }
};
struct FluidKind {
  static bool in_group(std::string_view version) { return version.starts_with("data.fluid.io/"); }
};

template <>
struct Kind<model::Node> : CoreKind {
  static constexpr std::string_view kName = "Node";
  static std::string name(const model::Node& node) { return node.name; }
};
template <>
struct Kind<model::Pod> : CoreKind {
  static constexpr std::string_view kName = "Pod";
  static std::string name(const model::Pod& pod) { return pod.name.empty() ? "" : pod.ns + "/" + pod.name; }
};
template <>
struct Kind<model::Claim> : CoreKind {
  static constexpr std::string_view kName = "PersistentVolumeClaim";
  static std::string name(const model::Claim& claim) { return claim.name.empty() ? "" : claim.ns + "/" + claim.name; }
};
template <>
struct Kind<model::Dataset> : FluidKind {
  static constexpr std::string_view kName = "Dataset";
  static std::string name(const model::Dataset& dataset) {
    return dataset.ref.name.empty() ? "" : dataset.ref.to_string();
  }
};
template <>
struct Kind<model::CacheRuntime> : FluidKind {
  static constexpr std::string_view kName = "Runtime";  // each type has a kind of its own, which ends like this
  static std::string name(const model::CacheRuntime& runtime) {
    return runtime.dataset.name.empty() ? "" : runtime.dataset.to_string();
  }
};
template <>
struct Kind<model::DataLoad> : FluidKind {
  static constexpr std::string_view kName = "DataLoad";
  static std::string name(const model::DataLoad& load) { return load.name.empty() ? "" : load.ns + "/" + load.name; }
};

template <>
struct Kind<model::DisruptionBudget> {
  static constexpr std::string_view kName = "PodDisruptionBudget";
  static bool in_group(std::string_view version) { return version == "policy/v1"; }
  static std::string name(const model::DisruptionBudget& budget) {
    return budget.name.empty() ? "" : budget.ns + "/" + budget.name;
  }
};
template <>
struct Kind<KoordinatorDevice> {
  static constexpr std::string_view kName = "Device";
  static bool in_group(std::string_view version) { return version.starts_with("scheduling.koordinator.sh/"); }
  static std::string name(const KoordinatorDevice& device) { return device.node; }
};
template <>
struct Kind<NumaTopology> {
  static constexpr std::string_view kName = "NodeResourceTopology";
  static bool in_group(std::string_view version) { return version.starts_with("topology.node.k8s.io/"); }
  static std::string name(const NumaTopology& topology) { return topology.node; }
};
template <>
struct Kind<ResourceSlice> {
  static constexpr std::string_view kName = "ResourceSlice";
  static bool in_group(std::string_view version) { return version.starts_with("resource.k8s.io/"); }
  static std::string name(const ResourceSlice& slice) { return slice.name; }
};

template <>
struct Kind<model::SchedulingPolicy> {
  static constexpr std::string_view kName = "SchedulingPolicy";
  static bool in_group(std::string_view version) { return version.starts_with("berth.io/"); }
  static std::string name(const model::SchedulingPolicy& policy) {
    return policy.name.empty() ? "" : policy.ns + "/" + policy.name;
  }
};

// nullptr if `kind` is not that of a runtime we know.
inline const RuntimeKind* runtime_kind(std::string_view kind) {
  const auto kinds = runtime_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const RuntimeKind& one) { return one.kind == kind; });
  return found == kinds.end() ? nullptr : &*found;
}

template <class T>
bool is_kind(std::string_view kind) {
  return kind == Kind<T>::kName;
}
template <>
inline bool is_kind<model::CacheRuntime>(std::string_view kind) {
  return runtime_kind(kind) != nullptr;
}

}  // namespace berth::codec
