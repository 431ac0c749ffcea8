// Where pods could not run lately: refused by kubelet, or their bindings by the API server.
//
// Each failure counts for its node, and for the owner of the pod there, at first as one and less every 30 seconds until
// ten minutes are over. Values change in these steps only, so that a failure does not make every snapshot a new one.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/pod.h"
#include "berth/state/cluster_state.h"
#include "moment.h"
#include "node_table.h"

namespace berth::state {

// What kubelet's refusal of a pod (status.reason of one that failed) says about the node; nullopt if it is none. The
// reasons: k8s.io/kubernetes pkg/kubelet/lifecycle/predicate.go, pkg/kubelet/cm (topology and CPU manager),
// pkg/kubelet/nodeshutdown.
std::optional<FailureCause> refusal_cause(std::string_view reason);

class FailureMemory {
 public:
  explicit FailureMemory(NodeTable& nodes) : nodes_(nodes) {}

  // `owner` may be empty. What is ten minutes old or more is not taken.
  void add(std::string_view node, const std::string& owner, core::SteadyTime at, FailureCause cause);

  // Fades; to be called before add() with a later time, and when next_step() is due.
  void step(core::SteadyTime now);
  [[nodiscard]] std::optional<core::SteadyTime> next_step() const;

  // To be called when a node has become known, and when it stops to be.
  void node_comes(NodeRecord& node);
  void node_goes(const NodeRecord& node);

  [[nodiscard]] bool changed() const { return changed_; }
  void write(model::Snapshot& snapshot);
  [[nodiscard]] const FailureCounts& counts() const { return counts_; }

 private:
  struct Failure {
    std::string owner;
    core::SteadyTime at;
  };
  using Failures = std::vector<Failure>;  // of one node, as they came

  [[nodiscard]] float weight(const Failure& failure) const;
  [[nodiscard]] float sum(const Failures& failures) const;

  NodeTable& nodes_;
  model::StringMap<Failures> by_node_;  // none empty
  core::SteadyTime now_{};              // of the last step
  FailureCounts counts_{};
  bool changed_ = false;
  std::shared_ptr<const model::FailureMap> published_ = std::make_shared<const model::FailureMap>();
};

}  // namespace berth::state
