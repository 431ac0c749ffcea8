#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

model::DisruptionBudget budget(std::string name, std::int32_t allowed = 0, std::string ns = "ns") {
  model::DisruptionBudget made;
  made.ns = std::move(ns);
  made.name = std::move(name);
  made.allowed = allowed;
  return made;
}

TEST(Budgets, AreInTheSnapshotByNamespaceAndName) {
  Cluster cluster;
  cluster.tell(model::BudgetSet{budget("b")}, model::BudgetSet{budget("a")}, model::BudgetSet{budget("z", 0, "ahead")});
  EXPECT_THAT(*cluster.snapshot()->budgets, ElementsAre(budget("z", 0, "ahead"), budget("a"), budget("b")));
  cluster.tell(model::BudgetSet{budget("a", 2)}, model::BudgetGone{"ns", "b"}, model::BudgetGone{"ns", "unknown"});
  EXPECT_THAT(*cluster.snapshot()->budgets, ElementsAre(budget("z", 0, "ahead"), budget("a", 2)));
}

TEST(Budgets, ACompleteListReplacesThem) {
  Cluster cluster;
  cluster.tell(model::BudgetSet{budget("old")});
  cluster.tell(model::AllBudgets{{budget("new", 1)}});
  EXPECT_THAT(*cluster.snapshot()->budgets, ElementsAre(budget("new", 1)));
  cluster.tell(model::AllBudgets{});
  EXPECT_THAT(*cluster.snapshot()->budgets, IsEmpty());
}

TEST(Budgets, WhatChangesNothingMakesNoSnapshot) {
  Cluster cluster;
  cluster.tell(model::AllBudgets{{budget("a", 1)}});
  const auto before = cluster.snapshot();
  cluster.tell(model::BudgetSet{budget("a", 1)}, model::AllBudgets{{budget("a", 1)}}, model::BudgetGone{"ns", "b"});
  EXPECT_EQ(cluster.snapshot(), before);
}

}  // namespace
}  // namespace berth::state
