// The thread around the builder.
#include "berth/state/cluster_state.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using std::chrono::milliseconds;

// Looks at snapshots until one is as wanted; false after 30 s.
bool comes_true(const ClusterState& state, const std::function<bool(const model::Snapshot&)>& wanted) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < deadline) {
    if (wanted(*state.snapshots().load())) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST(ClusterStateThread, PublishesWhatIsPushedBeforeAndAfterItsStart) {
  core::SystemClock clock;
  ClusterState state({}, clock);
  state.push(model::AllNodes{{node("a")}});
  state.start();
  state.start();
  state.push(model::AllPods{{bound(pod("p", 2), "a")}});
  EXPECT_TRUE(comes_true(state, [](const auto& now) { return now.ready && now.gpus_used == 2; }));
  state.stop();
  state.stop();
}

TEST(ClusterStateThread, EndsSoftEntriesWithoutBeingAsked) {
  core::SystemClock clock;
  ClusterState state({.soft_lifetime = milliseconds(5)}, clock);
  state.start();
  state.push(model::NodeSet{node("a")});
  state.post({"p-uid", "a", 4});
  EXPECT_TRUE(comes_true(state, [](const auto& now) { return now.version > 0 && now.ledger->empty(); }));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (state.counters().soft_expired == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(state.counters().soft_expired, 1U);
}

TEST(ClusterStateThread, StartsAgainAfterAStop) {
  core::SystemClock clock;
  ClusterState state({}, clock);
  state.start();
  state.stop();
  state.push(model::NodeSet{node("a")});
  EXPECT_EQ(state.counters().queue, 1U);
  state.start();
  EXPECT_TRUE(comes_true(state, [](const auto& now) { return now.gpus == 8; }));
}

TEST(ClusterStateThread, ManyPushManyPostManyRead) {
  constexpr int kThreads = 3;
  constexpr int kPods = 300;
  core::SystemClock clock;
  ClusterState state({.soft_lifetime = milliseconds(1), .attempt_gap = milliseconds(0), .max_attempts_kept = 50},
                     clock);
  state.start();
  model::AllNodes nodes;
  for (int i = 0; i < 100; ++i) nodes.nodes.push_back(node("n" + std::to_string(i)));
  state.push(std::move(nodes));
  state.push(model::AllPods{});

  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!done) {
        const auto now = state.snapshots().load();
        EXPECT_GE(now->version, last);
        last = now->version;
        std::int64_t used = 0;
        for (model::Slot slot = 0; slot < now->index->slots(); ++slot) used += now->at(slot).used;
        EXPECT_EQ(used, now->gpus_used) << "a snapshot is of one moment";
        EXPECT_GE(state.attempt_number("p0-1-uid"), 1U);
        (void)state.counters();
      }
    });
  }
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kThreads; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kPods; ++i) {
        const auto each = pod("p" + std::to_string(writer) + "-" + std::to_string(i), 1);
        const std::string where = "n" + std::to_string(i % 100);
        state.push(model::PodSet{each});
        state.post({each.uid, where, 1});
        state.push(model::PodSet{bound(each, where)});
        if (i % 3 == 0) state.push(model::PodGone{each.ns, each.name, each.uid});
        if (i % 50 == 0) state.push(model::NodeGone{where});
        if (i % 50 == 1) state.push(model::NodeSet{node(where)});
        if (i % 50 == 25) state.step();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  model::AllNodes last;
  for (int i = 0; i < 100; ++i) last.nodes.push_back(node("n" + std::to_string(i)));
  state.push(std::move(last));
  // A third of the pods are gone; no promise outlives its pod's binding.
  EXPECT_TRUE(comes_true(state, [](const auto& now) {
    return now.gpus_used == kThreads * kPods * 2 / 3 && now.gpus == 800 && now.ledger->empty();
  }));
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(state.counters().queue, 0U);
}

}  // namespace
}  // namespace berth::state
