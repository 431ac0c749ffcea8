#include "berth/server/decision_log.h"

#include <gtest/gtest.h>

namespace berth::server {
namespace {

std::shared_ptr<const model::Decision> decision(model::Verb verb, const std::string& pod, const std::string& uid = "u",
                                                std::size_t rejected = 0) {
  model::Decision decision;
  decision.verb = verb;
  decision.pod.ns = "team";
  decision.pod.name = pod;
  decision.pod.uid = uid;
  decision.rejected.resize(rejected);
  return std::make_shared<const model::Decision>(std::move(decision));
}

TEST(DecisionLog, KeepsTheLastOfEachVerbByPod) {
  DecisionLog log(10, 1 << 20);
  const auto first = decision(model::Verb::kFilter, "a");
  const auto second = decision(model::Verb::kFilter, "a");
  const auto scored = decision(model::Verb::kPrioritize, "a");
  log.add(first);
  log.add(second);
  log.add(scored);
  const auto found = log.find("team/a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->filter, second);
  EXPECT_EQ(found->prioritize, scored);
  EXPECT_EQ(log.pods(), 1U);
  EXPECT_FALSE(log.find("team/b"));
}

TEST(DecisionLog, APodCreatedAnewStartsAnew) {
  DecisionLog log(10, 1 << 20);
  log.add(decision(model::Verb::kFilter, "a", "old"));
  log.add(decision(model::Verb::kPrioritize, "a", "old"));
  log.add(decision(model::Verb::kFilter, "a", "new"));
  EXPECT_EQ(log.find("team/a")->prioritize, nullptr);
}

TEST(DecisionLog, DropsTheOldestPodsAboveItsNumber) {
  DecisionLog log(2, 1 << 20);
  for (const char* pod : {"a", "b", "a", "c"}) log.add(decision(model::Verb::kFilter, pod));
  EXPECT_TRUE(log.find("team/a"));
  EXPECT_FALSE(log.find("team/b"));
  const auto latest = log.latest(10);
  ASSERT_EQ(latest.size(), 2U);
  EXPECT_EQ(latest[0].filter->pod.name, "c");
  EXPECT_EQ(latest[1].filter->pod.name, "a");
  EXPECT_EQ(log.latest(1).size(), 1U);
}

TEST(DecisionLog, DropsTheOldestPodsAboveItsBytesButNeverTheNewest) {
  DecisionLog log(1000, 100'000);
  for (int i = 0; i < 50; ++i) {
    log.add(decision(model::Verb::kFilter, "p" + std::to_string(i), "u", 5000));  // 40 kB each
  }
  EXPECT_EQ(log.pods(), 2U);
  EXPECT_TRUE(log.find("team/p49"));
  log.add(decision(model::Verb::kFilter, "huge", "u", 50'000));
  EXPECT_EQ(log.pods(), 1U);
  EXPECT_TRUE(log.find("team/huge"));
}

// With nodes coming and going every decision refers to another index of all names.
TEST(DecisionLog, CountsEachNodeIndexOnce) {
  std::vector<std::string> names(1000, "");
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = "a-node-with-a-long-name-" + std::to_string(i);
  const auto one_of = [&](const std::shared_ptr<const model::NodeIndex>& index, int i) {
    auto copy = *decision(model::Verb::kFilter, "p" + std::to_string(i));
    copy.index = index;
    return std::make_shared<const model::Decision>(std::move(copy));
  };
  const auto shared = std::make_shared<const model::NodeIndex>(names);
  ASSERT_GT(shared->bytes(), 60'000U);
  DecisionLog same(1000, 400'000);
  DecisionLog fresh(1000, 400'000);
  for (int i = 0; i < 100; ++i) {
    same.add(one_of(shared, i));
    fresh.add(one_of(std::make_shared<const model::NodeIndex>(names), i));
  }
  EXPECT_EQ(same.pods(), 100U);
  EXPECT_EQ(fresh.pods(), 400'000 / (shared->bytes() + sizeof(model::Decision)));
}

}  // namespace
}  // namespace berth::server
