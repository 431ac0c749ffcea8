// The kube-scheduler of a rehearsal: in-tree checks, Filter, Prioritize, the choice among the best, Bind.
//
// As deploy/examples/scheduler-config-bind.yaml sets it up: all nodes are looked at, NodeResourcesFit scores by
// MostAllocated, Berth has weight 101 and binds. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/core/result.h"
#include "berth/simulate/chooser.h"
#include "berth_child.h"
#include "played_api.h"

namespace berth::rehearse {

class PlayedScheduler {
 public:
  // `order` is that of the cluster's nodes. All must outlive it.
  PlayedScheduler(const simulate::Workload& workload, const simulate::Cluster& cluster,
                  const std::vector<std::uint32_t>& order, const PlayedApi& api, BerthChild& berth, std::uint64_t seed);

  struct Outcome {
    std::optional<simulate::Choice> choice = {};  // where the pod is bound; nullopt: nowhere
    bool preferred = false;  // nowhere, but Berth notes the node that it preferred: Bind found no room on it
  };
  // Places the pod of this arrival, whose JSON is `pod`.
  core::Result<Outcome> place(std::size_t arrival, const simulate::Task& task, std::string_view pod);

 private:
  // What the tasks on a node ask for of extended resources.
  struct Node {
    const simulate::TraceNode* trace = nullptr;
    std::string quoted;  // name
    std::int64_t whole = 0;
    std::int64_t shares_milli = 0;
  };

  [[nodiscard]] bool in_tree_fits(simulate::NodeNumber number, const simulate::Kind& kind,
                                  std::int64_t memory_mib) const;
  [[nodiscard]] std::int64_t in_tree_score(simulate::NodeNumber number, const simulate::Kind& kind,
                                           std::int64_t memory_mib) const;
  core::Result<std::vector<simulate::NodeNumber>> numbers_of(const std::vector<std::string>& names) const;
  core::Result<simulate::NodeNumber> prefer(const std::vector<simulate::NodeNumber>& nodes, const simulate::Task& task,
                                            std::string_view pod);
  // nullopt: refused.
  core::Result<std::optional<simulate::Choice>> bind(std::size_t arrival, simulate::NodeNumber number,
                                                     const simulate::Kind& kind);

  const simulate::Workload& workload_;
  const simulate::Cluster& cluster_;
  const PlayedApi& api_;
  BerthChild& berth_;
  std::mt19937_64 random_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string_view, simulate::NodeNumber> numbers_;  // by name
};

}  // namespace berth::rehearse
