// A made-up cluster of any size for the benches: mixed machines in random use, always the same for the same size.
//
// Node i is one of five products with eight GPUs and holds a few of 300 datasets; every fiftieth holds both datasets
// that the benches' pods ask for. Of its pods, some hold GPUs and the others, as daemons do, none. The JSON has the
// size and the parts of real objects (a Node with 50 images, 30 labels and 1 KB of annotations is 14.2 KB).
//
// Thread-safe: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/node.h"
#include "berth/model/pod.h"

namespace berth::bench {

inline constexpr std::string_view kNamespace = "research";
// Held together by every fiftieth node.
inline constexpr std::string_view kDatasets = "imagenet-0,imagenet-1";

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
std::uint64_t mixed(std::uint64_t value);

class GeneratedCluster {
 public:
  // `labelled`: nodes carry labels of datasets, as without Fluid's API; otherwise none does.
  GeneratedCluster(std::size_t nodes, std::size_t pods_per_node, bool labelled = true);

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] std::size_t pods() const { return nodes_ * pods_per_node_; }
  [[nodiscard]] std::size_t pods_per_node() const { return pods_per_node_; }

  [[nodiscard]] static std::string node_name(std::size_t node);
  [[nodiscard]] model::Node node(std::size_t node) const;
  // Pod number `pod` of pods(), bound to node pod / pods_per_node().
  [[nodiscard]] model::Pod pod(std::size_t pod) const;
  // GPUs that the pods of a node hold.
  [[nodiscard]] std::int64_t used(std::size_t node) const;

 private:
  std::size_t nodes_;
  std::size_t pods_per_node_;
  bool labelled_;
};

// A pod of the benches that waits to be scheduled.
model::Pod waiting_pod(std::string name, std::string uid, std::int64_t gpus, std::string_view datasets);

// The objects as the API server gives them. `resource_version` as it stands in metadata.
void append_node_json(std::string& out, const model::Node& node, std::string_view resource_version);
void append_pod_json(std::string& out, const model::Pod& pod, std::string_view resource_version);

}  // namespace berth::bench
