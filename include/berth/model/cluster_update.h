// What sources tell about the cluster, and whom they tell.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "berth/model/node.h"
#include "berth/model/pod.h"

namespace berth::model {

struct NodeSet {
  Node node;
};
struct NodeGone {
  std::string name;
};
struct PodSet {
  Pod pod;
};
struct PodGone {
  std::string ns;
  std::string name;
  std::string uid;
};
// A complete list: what is not in it no longer exists.
struct AllNodes {
  std::vector<Node> nodes;
};
struct AllPods {
  std::vector<Pod> pods;
};

using ClusterUpdate = std::variant<NodeSet, NodeGone, PodSet, PodGone, AllNodes, AllPods>;

class UpdateSink {
 public:
  virtual ~UpdateSink() = default;
  // Thread-safe; returns at once. Updates of one kind must come in the order in which they happened.
  virtual void push(ClusterUpdate update) = 0;
};

}  // namespace berth::model
