#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/codec/kubernetes_objects.h"

namespace berth::codec {
namespace {

using Operator = model::SelectorTerm::Operator;
using testing::ElementsAre;
using testing::IsEmpty;

core::Result<model::DisruptionBudget> try_read(const std::string& rest) {
  ObjectReader reader({});
  std::string json =
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"n"})" +
      (rest.empty() ? "" : "," + rest) + "}";
  return reader.read<model::DisruptionBudget>(json);
}

model::DisruptionBudget budget_of(const std::string& rest) {
  const auto budget = try_read(rest);
  EXPECT_TRUE(budget) << budget.error().to_string();
  return budget.value_or(model::DisruptionBudget{});
}

TEST(DisruptionBudgetReader, SelectorAndStatus) {
  const auto budget = budget_of(R"("spec":{"minAvailable":"50%","selector":{"matchLabels":{"app":"serving"},
      "matchExpressions":[{"key":"tier","operator":"In","values":["gold","silver"]},
      {"key":"tier","operator":"NotIn","values":["tin"]},{"key":"team","operator":"Exists"},
      {"key":"debug","operator":"DoesNotExist","values":null}]}},
      "status":{"currentHealthy":4,"disruptionsAllowed":2,"disruptedPods":{"serving-0":"2026-11-01T00:00:00Z"}})");
  EXPECT_EQ(budget.ns, "n");
  EXPECT_EQ(budget.name, "b");
  EXPECT_TRUE(budget.selects);
  EXPECT_EQ(budget.allowed, 2);
  EXPECT_THAT(budget.disrupted, ElementsAre("serving-0"));
  EXPECT_THAT(budget.selector, ElementsAre(model::SelectorTerm{"app", Operator::kIn, {"serving"}},
                                           model::SelectorTerm{"tier", Operator::kIn, {"gold", "silver"}},
                                           model::SelectorTerm{"tier", Operator::kNotIn, {"tin"}},
                                           model::SelectorTerm{"team", Operator::kExists, {}},
                                           model::SelectorTerm{"debug", Operator::kDoesNotExist, {}}));
}

TEST(DisruptionBudgetReader, NoSelectorSelectsNothingAndAnEmptyOneAll) {
  EXPECT_FALSE(budget_of("").selects);
  EXPECT_FALSE(budget_of(R"("spec":{"selector":null})").selects);
  const auto all = budget_of(R"("spec":{"selector":{}})");
  EXPECT_TRUE(all.selects);
  EXPECT_THAT(all.selector, IsEmpty());
}

TEST(DisruptionBudgetReader, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(try_read(R"("spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Is"}]}})").error().where,
            "spec.selector.matchExpressions[0].operator");
  EXPECT_EQ(try_read(R"("spec":{"selector":{"matchLabels":{"a":1}}})").error().where, "spec.selector.matchLabels.a");
  EXPECT_EQ(try_read(R"("status":{"disruptionsAllowed":-1})").error().where, "status.disruptionsAllowed");
}

}  // namespace
}  // namespace berth::codec
