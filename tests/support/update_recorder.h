// A sink that keeps the cluster as it is told and lets a test wait for a state of it.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "berth/model/cluster_update.h"

namespace berth::testing {

class UpdateRecorder final : public model::UpdateSink {
 public:
  void push(model::ClusterUpdate update) override {
    const std::lock_guard lock(mutex_);
    std::visit(
        [this](auto& what) {
          if constexpr (requires { take(what); }) take(what);
        },
        update);
    changed_.notify_all();
  }

  // Waits until condition(nodes, pods) holds, by name and by "namespace/name"; false after 30 s.
  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return condition(nodes_, pods_); });
  }
  bool wait_told(std::size_t updates) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return told_.size() >= updates; });
  }
  // "all nodes 3", "node a", "node a gone", "pod ns/a", ...
  [[nodiscard]] std::vector<std::string> told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  void take(model::NodeSet& what) {
    told_.push_back("node " + what.node.name);
    nodes_[what.node.name] = std::move(what.node);
  }
  void take(model::NodeGone& what) {
    told_.push_back("node " + what.name + " gone");
    nodes_.erase(what.name);
  }
  void take(model::PodSet& what) {
    const std::string key = what.pod.ns + "/" + what.pod.name;
    told_.push_back("pod " + key);
    pods_[key] = std::move(what.pod);
  }
  void take(model::PodGone& what) {
    told_.push_back("pod " + what.ns + "/" + what.name + " " + what.uid + " gone");
    pods_.erase(what.ns + "/" + what.name);
  }
  void take(model::AllNodes& what) {
    told_.push_back("all nodes " + std::to_string(what.nodes.size()));
    nodes_.clear();
    for (auto& node : what.nodes) nodes_[node.name] = std::move(node);
  }
  void take(model::AllPods& what) {
    told_.push_back("all pods " + std::to_string(what.pods.size()));
    pods_.clear();
    for (auto& pod : what.pods) pods_[pod.ns + "/" + pod.name] = std::move(pod);
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, model::Node> nodes_;
  std::map<std::string, model::Pod> pods_;
  std::vector<std::string> told_;
};

}  // namespace berth::testing
