#include "budget_table.h"

namespace berth::state {

void BudgetTable::set(model::DisruptionBudget budget) {
  model::DisruptionBudget& known = known_[{budget.ns, budget.name}];
  // A budget without a name is none, so that a fresh entry always differs.
  if (known == budget) return;
  known = std::move(budget);
  changed_ = true;
}

void BudgetTable::remove(const std::string& ns, const std::string& name) {
  if (known_.erase({ns, name}) > 0) changed_ = true;
}

void BudgetTable::replace(std::vector<model::DisruptionBudget> all) {
  std::map<Key, model::DisruptionBudget> next;
  for (model::DisruptionBudget& budget : all) {
    Key key{budget.ns, budget.name};
    next.insert_or_assign(std::move(key), std::move(budget));
  }
  if (next == known_) return;
  known_ = std::move(next);
  changed_ = true;
}

void BudgetTable::write(model::Snapshot& snapshot) {
  if (changed_) {
    auto list = std::make_shared<model::BudgetList>();
    list->reserve(known_.size());
    for (const auto& [key, budget] : known_) list->push_back(budget);
    published_ = std::move(list);
    changed_ = false;
  }
  snapshot.budgets = published_;
}

}  // namespace berth::state
