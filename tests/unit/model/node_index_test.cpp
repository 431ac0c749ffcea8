#include <gtest/gtest.h>

#include "berth/model/snapshot.h"

namespace berth::model {
namespace {

TEST(NodeIndex, FindsEverySlotAndNothingElse) {
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back("gpu-node-" + std::to_string(i));
  names[17].clear();
  const NodeIndex index(names);
  EXPECT_EQ(index.nodes(), 4999U);
  EXPECT_EQ(index.slots(), 5000U);
  for (Slot slot = 0; slot < 5000; ++slot) {
    const Slot want = slot == 17 ? kNoSlot : slot;
    EXPECT_EQ(index.find("gpu-node-" + std::to_string(slot)), want);
  }
  EXPECT_EQ(index.find("gpu-node-5000"), kNoSlot);
  EXPECT_EQ(index.find(""), kNoSlot);
}

TEST(NodeIndex, RanksByName) {
  const NodeIndex index({"b", "", "a", "c"});
  EXPECT_EQ(index.rank(2), 0U);
  EXPECT_EQ(index.rank(0), 1U);
  EXPECT_EQ(index.rank(3), 2U);
}

TEST(NodeIndex, EmptyKnowsNothing) {
  EXPECT_EQ(NodeIndex().find("a"), kNoSlot);
  EXPECT_EQ(NodeIndex(std::vector<std::string>{}).find("a"), kNoSlot);
}

}  // namespace
}  // namespace berth::model
