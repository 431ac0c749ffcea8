// What updates are made of the objects of each kind: what ObjectTarget needs to know of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "berth/model/cluster_update.h"

namespace berth::sources {

struct NodeKind {
  using Object = model::Node;
  static model::ClusterUpdate all(std::vector<Object> nodes) { return model::AllNodes{std::move(nodes)}; }
  static model::ClusterUpdate set(Object node) { return model::NodeSet{std::move(node)}; }
  static model::ClusterUpdate gone(Object node) { return model::NodeGone{std::move(node.name)}; }
};

struct PodKind {
  using Object = model::Pod;
  static model::ClusterUpdate all(std::vector<Object> pods) { return model::AllPods{std::move(pods)}; }
  static model::ClusterUpdate set(Object pod) { return model::PodSet{std::move(pod)}; }
  static model::ClusterUpdate gone(Object pod) {
    return model::PodGone{std::move(pod.ns), std::move(pod.name), std::move(pod.uid)};
  }
};

struct ClaimKind {
  using Object = model::Claim;
  static model::ClusterUpdate all(std::vector<Object> claims) {
    std::erase_if(claims, [](const Object& claim) { return claim.dataset.name.empty(); });
    return model::AllClaims{std::move(claims)};
  }
  static model::ClusterUpdate set(Object claim) { return model::ClaimSet{std::move(claim)}; }
  static model::ClusterUpdate gone(Object claim) {
    return model::ClaimGone{std::move(claim.ns), std::move(claim.name)};
  }
};

struct DatasetKind {
  using Object = model::Dataset;
  static model::ClusterUpdate all(std::vector<Object> datasets) { return model::AllDatasets{std::move(datasets)}; }
  static model::ClusterUpdate set(Object dataset) { return model::DatasetSet{std::move(dataset)}; }
  static model::ClusterUpdate gone(Object dataset) { return model::DatasetGone{std::move(dataset.ref)}; }
};

struct DataLoadKind {
  using Object = model::DataLoad;
  static model::ClusterUpdate all(std::vector<Object> loads) { return model::AllDataLoads{std::move(loads)}; }
  static model::ClusterUpdate set(Object load) { return model::DataLoadSet{std::move(load)}; }
  static model::ClusterUpdate gone(Object load) {
    return model::DataLoadGone{std::move(load.ns), std::move(load.name)};
  }
};

// Runtimes of one type.
struct RuntimeKind {
  using Object = model::CacheRuntime;
  std::string type;  // "alluxio"

  [[nodiscard]] model::ClusterUpdate all(std::vector<Object> runtimes) const {
    return model::AllRuntimes{type, std::move(runtimes)};
  }
  static model::ClusterUpdate set(Object runtime) { return model::RuntimeSet{std::move(runtime)}; }
  [[nodiscard]] model::ClusterUpdate gone(Object runtime) const {
    return model::RuntimeGone{std::move(runtime.dataset), type};
  }
};

struct PolicyKind {
  using Object = model::SchedulingPolicy;
  static model::ClusterUpdate all(std::vector<Object> policies) { return model::AllPolicies{std::move(policies)}; }
  static model::ClusterUpdate set(Object policy) { return model::PolicySet{std::move(policy)}; }
  static model::ClusterUpdate gone(Object policy) {
    return model::PolicyGone{std::move(policy.ns), std::move(policy.name)};
  }
};

struct BudgetKind {
  using Object = model::DisruptionBudget;
  static model::ClusterUpdate all(std::vector<Object> budgets) { return model::AllBudgets{std::move(budgets)}; }
  static model::ClusterUpdate set(Object budget) { return model::BudgetSet{std::move(budget)}; }
  static model::ClusterUpdate gone(Object budget) {
    return model::BudgetGone{std::move(budget.ns), std::move(budget.name)};
  }
};

}  // namespace berth::sources
