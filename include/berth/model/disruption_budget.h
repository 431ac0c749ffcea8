// A PodDisruptionBudget of policy/v1, as preemption counts it.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::model {

struct Label;

// One term of a label selector: matchLabels are terms with kIn and one value.
struct SelectorTerm {
  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist };
  std::string key;
  Operator op = Operator::kIn;
  std::vector<std::string> values;
  friend bool operator==(const SelectorTerm&, const SelectorTerm&) = default;
};

struct DisruptionBudget {
  std::string ns;
  std::string name;
  std::vector<SelectorTerm> selector;  // all must hold; an empty one selects every pod of the namespace
  bool selects = true;                 // false: there is no selector, which selects nothing
  std::int32_t allowed = 0;            // status.disruptionsAllowed
  // Names of pods that are being evicted already and counted in `allowed`: status.disruptedPods.
  std::vector<std::string> disrupted = {};
  friend bool operator==(const DisruptionBudget&, const DisruptionBudget&) = default;
  // Whether it selects a pod of its namespace that has these labels.
  [[nodiscard]] bool matches(const std::vector<Label>& labels) const;
};

}  // namespace berth::model
