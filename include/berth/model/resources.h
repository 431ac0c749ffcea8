// What a node has, and what pods ask of it, as kube-scheduler counts it.
//
// Thread-safe: plain values and pure functions. Source: Resource in pkg/scheduler/framework/types.go of Kubernetes
// v1.37.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::model {

// Beyond what any pod asks for, and so little that sums over the pods of a node can't overflow; and beyond what any
// machine has.
inline constexpr std::int64_t kMostAsked = std::int64_t{1} << 46;
inline constexpr std::int64_t kMostThere = std::int64_t{1} << 62;

// The resources that every node has.
struct BasicResources {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t ephemeral_storage_bytes = 0;
  std::int64_t pods = 0;  // of a node: how many it may hold; of a request: 0

  BasicResources& operator+=(const BasicResources& other);
  BasicResources& operator-=(const BasicResources& other);
  friend BasicResources operator-(BasicResources a, const BasicResources& b) { return a -= b; }
  friend BasicResources operator+(BasicResources a, const BasicResources& b) { return a += b; }
  friend bool operator==(const BasicResources&, const BasicResources&) = default;
};

struct ScalarAmount {
  std::string name;
  std::int64_t amount = 0;
  friend bool operator==(const ScalarAmount&, const ScalarAmount&) = default;
};
// The others: extended resources (whole GPUs and parts of them among these), huge pages, attachable volumes. By name,
// each once, none zero; empty for most pods.
using ScalarResources = std::vector<ScalarAmount>;

struct Resources {
  BasicResources basic;
  ScalarResources scalars;

  [[nodiscard]] bool none() const { return basic == BasicResources{} && scalars.empty(); }
  friend bool operator==(const Resources&, const Resources&) = default;
};

// Adds a pod that asks for `requests`, or takes it away if `sign` is negative.
void count_pod(BasicResources& sum, const BasicResources& requests, int sign);

// What kube-scheduler counts beside the basic ones; it ignores every other name.
bool is_scalar_resource(std::string_view name);
// 0 if it isn't there.
std::int64_t amount_of(const ScalarResources& scalars, std::string_view name);
// Adds `sign` times each amount of `more`.
void count_scalars(ScalarResources& scalars, const ScalarResources& more, int sign);
// No amount below zero or above `most`.
Resources within_bounds(Resources resources, std::int64_t most);

}  // namespace berth::model
