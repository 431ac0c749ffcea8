// A sink that keeps the cluster as it is told and lets a test wait for a state of it.
//
// Thread-safe.
#pragma once

#include <algorithm>
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
    std::visit([this](auto& what) { take(what); }, update);
    changed_.notify_all();
  }

  // Waits until condition(nodes, pods) holds, by name and by "namespace/name"; false after 30 s.
  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return condition(nodes_, pods_); });
  }
  // Waits until this has been told, so many times; false after 30 s.
  bool wait_told(const std::string& what, std::ptrdiff_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return std::count(told_.begin(), told_.end(), what) >= times; });
  }
  // What Alluxio masters said, in order.
  [[nodiscard]] std::vector<model::Measured> measured() const {
    const std::lock_guard lock(mutex_);
    return measured_;
  }
  // Machines as they were told, in order.
  [[nodiscard]] std::vector<model::MachineSet> machines() const {
    const std::lock_guard lock(mutex_);
    return machines_;
  }
  // "all nodes 3", "node a", "node a gone", "pod ns/a", "dataset ns/d", "fluid served", "data listed", ...
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
  void take(model::DatasetSet& what) { told_.push_back("dataset " + what.dataset.ref.to_string()); }
  void take(model::DatasetGone& what) { told_.push_back("dataset " + what.ref.to_string() + " gone"); }
  void take(model::AllDatasets& what) { told_.push_back("all datasets " + std::to_string(what.datasets.size())); }
  void take(model::ClaimSet& what) {
    told_.push_back("claim " + what.claim.ns + "/" + what.claim.name + " of " + what.claim.dataset.to_string());
  }
  void take(model::ClaimGone& what) { told_.push_back("claim " + what.ns + "/" + what.name + " gone"); }
  void take(model::AllClaims& what) { told_.push_back("all claims " + std::to_string(what.claims.size())); }
  void take(model::RuntimeSet& what) {
    told_.push_back(what.runtime.type + " runtime " + what.runtime.dataset.to_string());
  }
  void take(model::RuntimeGone& what) { told_.push_back(what.type + " runtime " + what.dataset.to_string() + " gone"); }
  void take(model::AllRuntimes& what) {
    told_.push_back("all " + what.type + " runtimes " + std::to_string(what.runtimes.size()));
  }
  void take(model::DataLoadSet& what) { told_.push_back("load " + what.load.ns + "/" + what.load.name); }
  void take(model::DataLoadGone& what) { told_.push_back("load " + what.ns + "/" + what.name + " gone"); }
  void take(model::AllDataLoads& what) { told_.push_back("all loads " + std::to_string(what.loads.size())); }
  void take(model::Measured& what) {
    told_.push_back("measured " + what.dataset.to_string());
    measured_.push_back(std::move(what));
  }
  void take(model::FluidServed& what) { told_.push_back(what.served ? "fluid served" : "no fluid"); }
  void take(model::DataListed&) { told_.emplace_back("data listed"); }
  void take(model::MachineSet& what) {
    told_.push_back(std::string(to_string(what.machine->source)) + " machine " + what.node);
    machines_.push_back(std::move(what));
  }
  void take(model::MachineGone& what) {
    told_.push_back(std::string(to_string(what.source)) + " machine " + what.node + " gone");
  }
  void take(model::AllMachines& what) {
    told_.push_back("all " + std::string(to_string(what.source)) + " machines " + std::to_string(what.machines.size()));
    for (auto& machine : what.machines) machines_.push_back(std::move(machine));
  }
  void take(model::PolicySet& what) { told_.push_back("policy " + what.policy.ns + "/" + what.policy.name); }
  void take(model::PolicyGone& what) { told_.push_back("policy " + what.ns + "/" + what.name + " gone"); }
  void take(model::AllPolicies& what) { told_.push_back("all policies " + std::to_string(what.policies.size())); }
  void take(model::BudgetSet& what) { told_.push_back("budget " + what.budget.ns + "/" + what.budget.name); }
  void take(model::BudgetGone& what) { told_.push_back("budget " + what.ns + "/" + what.name + " gone"); }
  void take(model::AllBudgets& what) { told_.push_back("all budgets " + std::to_string(what.budgets.size())); }
  void take(model::Reserved& what) { told_.push_back("reserved " + what.uid + " on " + what.node); }
  void take(model::Unreserved& what) { told_.push_back("unreserved " + what.uid); }
  void take(model::PlacementFailed& what) { told_.push_back("failed " + what.owner + " on " + what.node); }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, model::Node> nodes_;
  std::map<std::string, model::Pod> pods_;
  std::vector<std::string> told_;
  std::vector<model::Measured> measured_;
  std::vector<model::MachineSet> machines_;
};

}  // namespace berth::testing
