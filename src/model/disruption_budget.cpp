#include "berth/model/disruption_budget.h"

#include <algorithm>

#include "berth/model/pod.h"

namespace berth::model {
namespace {

// As labels.Requirement of k8s.io/apimachinery: a pod without the key is not in any set of values.
bool holds(const SelectorTerm& term, const std::vector<Label>& labels) {
  const auto found = std::ranges::find(labels, term.key, &Label::key);
  const bool has = found != labels.end();
  const bool among = has && std::ranges::find(term.values, found->value) != term.values.end();
  switch (term.op) {
    case SelectorTerm::Operator::kIn:
      return among;
    case SelectorTerm::Operator::kNotIn:
      return !among;
    case SelectorTerm::Operator::kExists:
      return has;
    case SelectorTerm::Operator::kDoesNotExist:
      return !has;
  }
  return false;
}

}  // namespace

bool DisruptionBudget::matches(const std::vector<Label>& labels) const {
  return selects && std::ranges::all_of(selector, [&](const SelectorTerm& term) { return holds(term, labels); });
}

}  // namespace berth::model
