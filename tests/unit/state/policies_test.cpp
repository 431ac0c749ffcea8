#include <gtest/gtest.h>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

model::SchedulingPolicy policy(std::string name, double packing = 1) {
  model::SchedulingPolicy made{"team", std::move(name), {}, {}};
  made.terms.weights.packing = packing;
  return made;
}

TEST(Policies, ComeChangeAndGo) {
  Cluster cluster;
  cluster.tell(model::AllPolicies{{policy("a"), policy("b")}});
  EXPECT_EQ(cluster.snapshot()->policies->size(), 2U);
  cluster.tell(model::PolicySet{policy("a", 7)});
  EXPECT_EQ(cluster.snapshot()->policies->find("team/a")->second->terms.weights.packing, 7);
  cluster.tell(model::PolicyGone{"team", "a"});
  EXPECT_EQ(cluster.snapshot()->policies->size(), 1U);
  cluster.tell(model::AllPolicies{{policy("c")}});
  EXPECT_TRUE(cluster.snapshot()->policies->contains("team/c"));
  EXPECT_EQ(cluster.snapshot()->policies->size(), 1U);
}

TEST(Policies, OtherChangesKeepTheMap) {
  Cluster cluster;
  cluster.tell(model::AllPolicies{{policy("a")}});
  const auto before = cluster.snapshot()->policies;
  cluster.set_nodes(node("n1"));
  EXPECT_EQ(cluster.snapshot()->policies, before);
}

}  // namespace
}  // namespace berth::state
