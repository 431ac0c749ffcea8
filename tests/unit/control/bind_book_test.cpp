#include "berth/control/bind_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "berth/model/placement_text.h"
#include "unit/state/cluster.h"

namespace berth::control {
namespace {

using model::GpuMask;
using model::mask;
using model::Reason;
using state::bound;
using state::Cluster;
using state::node;
using state::pod;
using std::chrono::seconds;

class Book : public ::testing::Test {
 protected:
  Book() { cluster_.set_nodes(node("a"), node("b")); }

  static model::PodRequest wants(const std::string& name, std::int64_t gpus) {
    return model::make_request(pod(name, gpus), {});
  }
  policy::BindVerdict give(const std::string& name, std::int64_t gpus, const std::string& to = "a") {
    return book_.give(wants(name, gpus), to);
  }
  // What the watch shows of a pod that was bound with these GPUs.
  void show_bound(const std::string& name, std::int64_t gpus, GpuMask set, const std::string& to = "a") {
    cluster_.set_pods(state::with_gpu_list(bound(pod(name, gpus), to), model::write_gpu_list(set)));
  }

  Cluster cluster_;
  BindBook book_{cluster_.state.snapshots(), cluster_.state, {}, cluster_.clock};
};

// HAMi#2232, KAI-Scheduler#2153, volcano#3616: the same GPU given to two pods before the first is seen.
TEST_F(Book, NextPodSeesWhatWasGivenBeforeAnySnapshotDoes) {
  const GpuMask first = give("p", 4).placement.gpus;
  const GpuMask second = give("q", 4).placement.gpus;
  EXPECT_EQ(model::count(first), 4);
  EXPECT_EQ(model::count(second), 4);
  EXPECT_EQ(first & second, 0U);
  EXPECT_EQ(give("r", 1).reason, Reason::kReserved);
  EXPECT_EQ(give("r", 1, "b").reason, Reason::kNone);
}

TEST_F(Book, FilterCountsItFromTheNextSnapshotOn) {
  const GpuMask given = give("p", 4).placement.gpus;
  cluster_.state.step();
  EXPECT_EQ(cluster_.at("a").firm, 4);
  EXPECT_EQ(cluster_.at("a").firm_gpus, given);
  // Not twice.
  EXPECT_EQ(model::count(give("q", 4).placement.gpus), 4);
  EXPECT_EQ(give("r", 1).reason, Reason::kReserved);
}

TEST_F(Book, SamePodOnTheSameNodeGetsTheSameAgain) {
  const GpuMask given = give("p", 2).placement.gpus;
  give("q", 2);
  EXPECT_EQ(give("p", 2).placement.gpus, given);
  EXPECT_EQ(book_.size(), 2U);
}

// A restart, or an answer that was lost: the scheduler asks again for a pod that is bound already.
TEST_F(Book, PodThatIsBoundThereGetsWhatItHas) {
  show_bound("p", 8, mask({0, 1, 2, 3, 4, 5, 6, 7}));
  const auto verdict = give("p", 8);
  EXPECT_EQ(verdict.reason, Reason::kNone);
  EXPECT_EQ(verdict.placement.gpus, model::mask_all(8));
  EXPECT_EQ(book_.size(), 0U);
}

// volcano#5335: what was promised to a pod whose binding failed stays taken.
TEST_F(Book, FailedBindingGivesEverythingBack) {
  give("p", 8);
  cluster_.state.step();
  EXPECT_EQ(cluster_.at("a").firm, 8);
  book_.failed("p-uid", "a");
  EXPECT_EQ(book_.size(), 0U);
  cluster_.state.step();
  EXPECT_EQ(cluster_.at("a").firm, 0);
  EXPECT_EQ(cluster_.at("a").firm_gpus, 0U);
  EXPECT_EQ(give("q", 8).reason, Reason::kNone);
}

TEST_F(Book, FailureOfOneCallLeavesWhatAnotherGot) {
  give("p", 8);
  give("p", 8);
  book_.failed("p-uid", "a");
  EXPECT_EQ(give("q", 1).reason, Reason::kReserved);
  book_.bound("p-uid", "a");
  EXPECT_EQ(give("q", 1).reason, Reason::kReserved);
}

TEST_F(Book, EntryEndsWhenThePodIsSeenBound) {
  const GpuMask given = give("p", 4).placement.gpus;
  cluster_.state.step();
  book_.bound("p-uid", "a");
  book_.sweep();
  EXPECT_EQ(book_.size(), 1U);
  show_bound("p", 4, given);
  book_.sweep();
  EXPECT_EQ(book_.size(), 0U);
  EXPECT_EQ(give("q", 4).placement.gpus, model::mask_all(8) & ~given);
}

// Bound and ended before anybody looked.
TEST_F(Book, EntryOfAPodThatIsGoneEndsWithTheSnapshotAfterNext) {
  const GpuMask given = give("p", 8).placement.gpus;
  book_.bound("p-uid", "a");
  show_bound("p", 8, given);
  cluster_.remove_pod(pod("p", 8));
  cluster_.set_nodes(node("c"));
  EXPECT_EQ(give("q", 8).reason, Reason::kNone);
}

TEST_F(Book, UnansweredBindingHoldsForHalfAMinute) {
  give("p", 8);
  book_.unanswered("p-uid", "a");
  cluster_.pass(seconds(29));
  book_.sweep();
  EXPECT_EQ(give("q", 1).reason, Reason::kReserved);
  cluster_.pass(seconds(1));
  book_.sweep();
  EXPECT_EQ(book_.size(), 0U);
  cluster_.state.step();
  EXPECT_EQ(cluster_.at("a").firm, 0);
  EXPECT_EQ(give("q", 8).reason, Reason::kNone);
}

TEST_F(Book, UnansweredBindingThatHappenedIsSeenByTheWatch) {
  const GpuMask given = give("p", 4).placement.gpus;
  book_.unanswered("p-uid", "a");
  show_bound("p", 4, given);
  EXPECT_EQ(give("q", 4).placement.gpus, model::mask_all(8) & ~given);
  cluster_.pass(seconds(31));
  book_.sweep();
  EXPECT_EQ(book_.size(), 1U);  // q's
  EXPECT_EQ(cluster_.at("a").used, 4);
}

// The status of an unbound pod changes while it is being bound.
TEST_F(Book, PromiseOutlivesNewsOfTheUnboundPod) {
  give("p", 8);
  cluster_.set_pods(pod("p", 8));
  EXPECT_EQ(cluster_.at("a").firm, 8);
  EXPECT_EQ(give("q", 1).reason, Reason::kReserved);
}

TEST_F(Book, PodOfHigherPriorityTakesNothingThatIsBeingBound) {
  give("p", 8);
  cluster_.state.step();
  model::PodRequest urgent = wants("q", 1);
  urgent.priority = 1'000;
  EXPECT_EQ(book_.give(urgent, "a").reason, Reason::kReserved);
}

TEST_F(Book, SharesOfPodsThatAreBeingBoundAddUp) {
  const auto share = [](const std::string& name) {
    model::PodRequest pod = wants(name, 0);
    pod.parts.gpus = 1;
    pod.parts.milli = 600;
    return pod;
  };
  GpuMask taken = 0;
  for (int i = 0; i < 8; ++i) {
    if (i == 4) cluster_.state.step();  // from here on half of them are in the snapshot
    const auto verdict = book_.give(share("p" + std::to_string(i)), "a");
    ASSERT_EQ(verdict.reason, Reason::kNone);
    EXPECT_EQ(model::count(verdict.placement.gpus), 1);
    EXPECT_EQ(taken & verdict.placement.gpus, 0U);
    taken |= verdict.placement.gpus;
  }
  EXPECT_EQ(book_.give(share("p8"), "a").reason, Reason::kGpuShareExhausted);
  EXPECT_EQ(give("q", 1).reason, Reason::kReserved);
}

TEST_F(Book, PodWithoutGpusHasNoEntry) {
  EXPECT_EQ(give("p", 0).reason, Reason::kNone);
  EXPECT_EQ(book_.size(), 0U);
  book_.bound("p-uid", "a");
}

// HAMi#2232 again, by many threads at once, while snapshots come and go: 40 pods of 1 to 4 GPUs for 16 GPUs.
TEST_F(Book, ConcurrentBindsNeverShareAGpu) {
  constexpr int kThreads = 8;
  constexpr int kPods = 40;
  std::array<std::array<policy::BindVerdict, kPods / kThreads>, kThreads> verdicts;
  const auto name = [](int thread, int i) { return "p" + std::to_string(thread) + "-" + std::to_string(i); };
  std::vector<std::thread> threads;
  cluster_.state.start();
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kPods / kThreads; ++i) {
        const auto verdict = give(name(thread, i), 1 + (thread + i) % 4, i % 2 == 0 ? "a" : "b");
        verdicts[thread][i] = verdict;
        if (verdict.reason == Reason::kNone) book_.bound(name(thread, i) + "-uid", i % 2 == 0 ? "a" : "b");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  cluster_.state.stop();
  std::array<GpuMask, 2> taken{};
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int i = 0; i < kPods / kThreads; ++i) {
      const auto& verdict = verdicts[thread][i];
      if (verdict.reason != Reason::kNone) continue;
      EXPECT_EQ(model::count(verdict.placement.gpus), 1 + (thread + i) % 4);
      EXPECT_EQ(taken[i % 2] & verdict.placement.gpus, 0U);
      taken[i % 2] |= verdict.placement.gpus;
    }
  }
  EXPECT_GE(model::count(taken[0]), 5);  // at most three stay free where the last that came wanted four
  EXPECT_GE(model::count(taken[1]), 5);
}

}  // namespace
}  // namespace berth::control
