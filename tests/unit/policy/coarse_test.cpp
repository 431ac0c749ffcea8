#include <functional>

#include "policy_fixture.h"

namespace berth::policy {
namespace {

// 200 nodes, of which the last holds the dataset.
SnapshotBuilder many() {
  SnapshotBuilder cluster;
  for (int i = 0; i < 200; ++i) cluster.node(name_of(i));
  return cluster.holds("team", "a");
}

struct Names {
  std::vector<std::string> text;
  std::vector<std::string_view> views;
  Names() {
    for (int i = 0; i < 200; ++i) text.push_back(name_of(i));
    views.assign(text.begin(), text.end());
  }
};

std::size_t kept(const Settings& settings, std::uint32_t attempt, const model::PodRequest& pod = request(1)) {
  return filter(many(), pod, Names().views, settings, attempt).kept.size();
}

TEST(Coarse, HandsOnTheBestAndCallsTheOthersOutranked) {
  const auto filtered = filter(many(), request(1, {{"datasets", "a"}}), Names().views);
  EXPECT_EQ(filtered.kept.size(), 32U);
  EXPECT_EQ(filtered.kept.front(), "n199");
  EXPECT_EQ(filtered.kept[1], "n000");  // equal otherwise: the lower name
  EXPECT_EQ(filtered.rejected.size(), 168U);
  EXPECT_EQ(filtered.rejected.at("n100"), "OUTRANKED");
}

TEST(Coarse, WidensFourfoldThenIsOff) {
  EXPECT_EQ(kept({}, 1), 32U);
  EXPECT_EQ(kept({}, 2), 128U);
  EXPECT_EQ(kept({}, 3), 200U);
}

TEST(Coarse, IsOffWhereItMustBe) {
  Settings settings;
  settings.coarse = Coarse::kOff;
  EXPECT_EQ(kept(settings, 1), 200U);
  settings = {};
  settings.other_filtering_extender = true;
  EXPECT_EQ(kept(settings, 1), 200U);
  auto nominated = request(1);
  nominated.nominated_node = "n003";
  EXPECT_EQ(kept({}, 1, nominated), 200U);
}

TEST(Coarse, DatasetsOnlyNarrowsPodsWithDatasets) {
  Settings settings;
  settings.coarse = Coarse::kDatasets;
  EXPECT_EQ(kept(settings, 1), 200U);
  EXPECT_EQ(kept(settings, 1, request(1, {{"datasets", "a"}})), 32U);
}

// Data first: a node that holds the data is handed on even if all others are better packed.
TEST(Coarse, NodesWithTheDataComeFirstWhateverTheirOtherParts) {
  SnapshotBuilder cluster;
  std::vector<std::string> text;
  for (int i = 0; i < 40; ++i) text.push_back("packed" + std::to_string(i));
  for (const auto& name : text) cluster.node(name, 8, 7);
  cluster.node("holder").holds("team", "a", 0.1F);
  text.emplace_back("holder");
  auto pod = request(1, {{"datasets", "a"}});
  pod.weights = {0.01, 1, 1};
  const auto filtered = filter(cluster, pod, {text.begin(), text.end()});
  EXPECT_THAT(filtered.kept, testing::Contains("holder"));
}

// 40 better packed nodes of each kind beside one, in another zone where the copy is not.
Filtered beside_forty(const std::function<void(SnapshotBuilder&)>& forty,
                      const std::function<void(SnapshotBuilder&)>& one) {
  SnapshotBuilder cluster;
  cluster.sized("team", "a", 100 * kGiB);
  std::vector<std::string> text;
  for (int i = 0; i < 40; ++i) text.push_back(name_of(i));
  for (const auto& name : text) forty(cluster.node(name, 8, 7));
  one(cluster.node("one"));
  text.emplace_back("one");
  auto pod = request(1, {{"datasets", "a"}});
  pod.weights = {0, 0, 1};
  return filter(cluster, pod, {text.begin(), text.end()});
}

TEST(Coarse, AmongNodesThatHoldNotAllTheFasterOnesComeFirst) {
  const auto filtered = beside_forty([](auto& node) { node.stands(1).hints("team", "a", 0.01F); },
                                     [](auto& node) { node.stands(0).hints("team", "a", 0.5F); });
  EXPECT_THAT(filtered.kept, testing::Contains("one"));
}

TEST(Coarse, AWorkerThatIsReadyComesBeforeOnesThatAreNot) {
  const auto filtered = beside_forty([](auto& node) { node.stands(0).hints("team", "a", 0.5F); },
                                     [](auto& node) { node.stands(1).holds("team", "a", 0.25F); });
  EXPECT_THAT(filtered.kept, testing::Contains("one"));
}

TEST(Coarse, ADifferenceTooSmallToMatterNarrowsNothingAway) {
  // One per cent of 100 GiB over the zone: less than a second.
  const auto filtered = beside_forty([](auto& node) { node.stands(0).holds("team", "a", 0.1F); },
                                     [](auto& node) { node.stands(0).holds("team", "a", 0.11F); });
  EXPECT_EQ(filtered.rejected.at("one"), "OUTRANKED");
}

// Images count as their weight says, not before all else.
TEST(Coarse, ImagesAloneDoNotComeFirst) {
  SnapshotBuilder cluster;
  std::vector<std::string> text;
  for (int i = 0; i < 40; ++i) text.push_back(name_of(i));
  for (const auto& name : text) cluster.node(name).has_image(1, 10 * kGiB);
  cluster.node("packed", 8, 7);
  text.emplace_back("packed");
  auto pod = request(1);
  pod.weights = {0, 0, 1};
  pod.images = {1};
  EXPECT_EQ(filter(cluster, pod, {text.begin(), text.end()}).kept.front(), "packed");
}

TEST(Coarse, NodesThatAreFullByOurCountComeLast) {
  SnapshotBuilder cluster;
  std::vector<std::string> text;
  for (int i = 0; i < 40; ++i) text.push_back("a-full" + std::to_string(i));
  for (const auto& name : text) cluster.node(name, 8, 8).holds("team", "a");
  cluster.node("free");
  text.emplace_back("free");
  const auto filtered = filter(cluster, request(1, {{"datasets", "a"}}), {text.begin(), text.end()});
  EXPECT_EQ(filtered.kept.front(), "free");
}

TEST(Coarse, DoesNotDependOnTheOrderOfTheRequest) {
  Names names;
  auto forward = filter(many(), request(1), names.views).kept;
  std::reverse(names.views.begin(), names.views.end());
  EXPECT_EQ(filter(many(), request(1), names.views).kept, forward);
}

}  // namespace
}  // namespace berth::policy
