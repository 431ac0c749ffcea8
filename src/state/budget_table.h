// The PodDisruptionBudgets that preemption counts.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/model/disruption_budget.h"
#include "berth/model/snapshot.h"

namespace berth::state {

class BudgetTable {
 public:
  void set(model::DisruptionBudget budget);
  void remove(const std::string& ns, const std::string& name);
  void replace(std::vector<model::DisruptionBudget> all);

  [[nodiscard]] bool changed() const { return changed_; }
  // By namespace and name.
  void write(model::Snapshot& snapshot);

 private:
  using Key = std::pair<std::string, std::string>;  // namespace, name
  std::map<Key, model::DisruptionBudget> known_;
  bool changed_ = false;
  std::shared_ptr<const model::BudgetList> published_ = std::make_shared<const model::BudgetList>();
};

}  // namespace berth::state
