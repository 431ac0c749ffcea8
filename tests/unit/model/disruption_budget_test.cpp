#include "berth/model/disruption_budget.h"

#include <gtest/gtest.h>

#include "berth/model/pod.h"

namespace berth::model {
namespace {

using Operator = SelectorTerm::Operator;

bool matches(std::vector<SelectorTerm> terms, const std::vector<Label>& labels) {
  DisruptionBudget budget;
  budget.selector = std::move(terms);
  return budget.matches(labels);
}

const std::vector<Label> kLabels = {{"app", "serving"}, {"tier", "gold"}};

TEST(DisruptionBudget, EveryTermMustHold) {
  EXPECT_TRUE(matches({{"app", Operator::kIn, {"serving"}}}, kLabels));
  EXPECT_TRUE(matches({{"app", Operator::kIn, {"other", "serving"}}, {"tier", Operator::kExists, {}}}, kLabels));
  EXPECT_FALSE(matches({{"app", Operator::kIn, {"serving"}}, {"tier", Operator::kIn, {"tin"}}}, kLabels));
}

// The operators as k8s.io/apimachinery/pkg/labels/selector.go has them.
TEST(DisruptionBudget, OperatorsOfALabelSelector) {
  EXPECT_FALSE(matches({{"none", Operator::kIn, {""}}}, kLabels));
  EXPECT_TRUE(matches({{"none", Operator::kNotIn, {"x"}}}, kLabels));
  EXPECT_FALSE(matches({{"app", Operator::kNotIn, {"serving"}}}, kLabels));
  EXPECT_FALSE(matches({{"none", Operator::kExists, {}}}, kLabels));
  EXPECT_TRUE(matches({{"none", Operator::kDoesNotExist, {}}}, kLabels));
  EXPECT_FALSE(matches({{"app", Operator::kDoesNotExist, {}}}, kLabels));
}

TEST(DisruptionBudget, AnEmptySelectorSelectsAllAndNoneNothing) {
  EXPECT_TRUE(matches({}, kLabels));
  EXPECT_TRUE(matches({}, {}));
  DisruptionBudget none;
  none.selects = false;
  EXPECT_FALSE(none.matches(kLabels));
}

}  // namespace
}  // namespace berth::model
