#include "../../../src/state/request_window.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "berth/model/packing_view.h"

namespace berth::state {
namespace {

using model::RequestClass;
using model::RequestMix;

RequestClass asks(int gpus, std::int64_t cpu_milli = 0) {
  return {.cpu_milli = cpu_milli, .gpus = gpus, .milli = model::kWholeMilli};
}

double share_of(const RequestMix& mix, const RequestClass& request) {
  const auto found = std::ranges::find(mix.classes, request, &model::RequestShare::request);
  return found == mix.classes.end() ? 0 : found->share;
}

double sum_of(const RequestMix& mix) {
  double sum = 0;
  for (const auto& one : mix.classes) sum += one.share;
  return sum;
}

TEST(RequestWindow, HasTheDefaultMixBeforeAnyPod) {
  const RequestMix mix = RequestWindow({}).mix();
  const RequestMix known = model::default_mix();
  ASSERT_EQ(mix.classes.size(), known.classes.size());
  for (const auto& one : known.classes) EXPECT_DOUBLE_EQ(share_of(mix, one.request), one.share);
}

// 60 pods of one GPU and 20 of eight, and the default mix as 20 more, in which other classes stand for these.
TEST(RequestWindow, LearnsFromPodsAndForgetsNothingQuite) {
  RequestWindow window({});
  for (int i = 0; i < 60; ++i) window.add(asks(1, 8'000));
  for (int i = 0; i < 20; ++i) window.add(asks(8, 96'000));
  const RequestMix mix = window.mix();
  EXPECT_DOUBLE_EQ(share_of(mix, asks(1, 8'000)), 0.6);
  EXPECT_DOUBLE_EQ(share_of(mix, asks(8, 96'000)), 0.2);
  EXPECT_DOUBLE_EQ(share_of(mix, asks(4, 16'000)), 0.15 * 0.2);
  EXPECT_NEAR(sum_of(mix), 1, 1e-12);
}

TEST(RequestWindow, SlidesOverTheLastPods) {
  RequestWindow window({.window = 100});
  for (int i = 0; i < 500; ++i) window.add(asks(2));
  for (int i = 0; i < 100; ++i) window.add(asks(4));
  EXPECT_EQ(window.seen(), 600U);
  EXPECT_EQ(share_of(window.mix(), asks(2)), 0);
  EXPECT_NEAR(share_of(window.mix(), asks(4)), 100.0 / 120, 1e-12);
}

TEST(RequestWindow, ADeclaredClassHasItsShareAtLeastAndTheOthersWhatIsLeft) {
  RequestWindow window({.declared = {{asks(8), 0.5}}});
  EXPECT_DOUBLE_EQ(share_of(window.mix(), asks(8)), 1) << "it stands for the default mix";
  for (int i = 0; i < 60; ++i) window.add(asks(1));
  for (int i = 0; i < 20; ++i) window.add(asks(2));
  // 20 of 100 are raised to a half; 60 and 20 share the other half.
  EXPECT_DOUBLE_EQ(share_of(window.mix(), asks(8)), 0.5);
  EXPECT_DOUBLE_EQ(share_of(window.mix(), asks(1)), 0.375);
  EXPECT_DOUBLE_EQ(share_of(window.mix(), asks(2)), 0.125);
  for (int i = 0; i < 300; ++i) window.add(asks(8));
  EXPECT_DOUBLE_EQ(share_of(window.mix(), asks(8)), 320.0 / 400) << "more than declared is not taken away";
}

// A has 10 of 100 and B 31; with A raised to a half B would have 17.
TEST(RequestWindow, SeveralDeclaredClassesHaveTheirShares) {
  RequestWindow window({.declared = {{asks(4), 0.5}, {asks(8), 0.3}}});
  for (int i = 0; i < 100; ++i) window.add(asks(i < 10 ? 4 : i < 41 ? 8 : 1));
  EXPECT_GE(share_of(window.mix(), asks(4)), 0.5 - 1e-12);
  EXPECT_GE(share_of(window.mix(), asks(8)), 0.3 - 1e-12);
  EXPECT_NEAR(sum_of(window.mix()), 1, 1e-12);
}

// Daemons, sidecars, batches: there may be a hundred of them for each job, and of many sizes.
TEST(RequestWindow, PodsWithoutGpusDoNotDrownTheOthers) {
  RequestWindow window({.window = 1'000});
  for (int i = 0; i < 600; ++i) window.add(asks(i % 2 == 0 ? 8 : 1));
  for (int i = 0; i < 10'000; ++i) window.add({.cpu_milli = 100 * (i % 500)});
  const RequestMix mix = window.mix();
  double without = 0;
  std::size_t classes = 0;
  for (const auto& one : mix.classes) {
    if (one.request.gpus > 0) continue;
    without += one.share;
    ++classes;
  }
  EXPECT_NEAR(without, 0.2, 1e-12);
  EXPECT_EQ(classes, RequestWindow::kMostClassesWithout);
  EXPECT_NEAR(share_of(mix, asks(8)), 0.8 * 300 / 620, 1e-12);
}

TEST(RequestWindow, TakesSizesToTwoDigits) {
  RequestWindow window({});
  window.add({.cpu_milli = 96'789, .gpus = 1, .milli = 123, .mib = 10'240});
  EXPECT_GT(share_of(window.mix(), {.cpu_milli = 96'000, .gpus = 1, .milli = 123, .mib = 10'200}), 0);
}

// Pods of which each asks for CPU of its own.
TEST(RequestWindow, CountsWhatIsTooRareAsItsNeighbour) {
  RequestWindow window({});
  for (std::int64_t cpu = 1; cpu <= 1'000; ++cpu) {
    for (std::int64_t n = 0; n <= (cpu > 900 ? 1 : 0); ++n) window.add(asks(1, cpu));
  }
  const RequestMix mix = window.mix();
  EXPECT_EQ(mix.classes.size(), RequestWindow::kMostClasses);
  EXPECT_NEAR(sum_of(mix), 1, 1e-12);
  double one_gpu = 0;
  for (const auto& one : mix.classes) one_gpu += one.request.gpus == 1 ? one.share : 0;
  EXPECT_NEAR(one_gpu, 1110.0 / 1120, 1e-12) << "1,100 pods, and half of the 20 of the default mix";
  EXPECT_GT(share_of(mix, asks(8, 32'000)), 0) << "what wants other GPUs is no neighbour";
}

}  // namespace
}  // namespace berth::state
