// Memory that runs out: the last snapshot stays in use, and the next is as if nothing had happened.
#include <gtest/gtest.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../src/state/builder.h"
#include "unit/state/cluster.h"

namespace berth::state {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Allocations of this size and more fail, on every thread but those that are spared.
std::atomic<std::size_t> fails_from{kNever};
thread_local bool spared = false;
// On this thread: so many succeed, one fails.
thread_local std::size_t succeed = kNever;

void* allocate(std::size_t bytes, std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
  if (!spared && bytes >= fails_from.load()) throw std::bad_alloc();
  if (succeed != kNever && succeed-- == 0) throw std::bad_alloc();
  // What comes without a wish is aligned as malloc does it.
  const std::size_t whole = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* const got = std::aligned_alloc(alignment, whole);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}

using model::AllNodes;
using model::AllPods;
using model::NodeGone;
using model::NodeSet;
using model::PodSet;

model::Node rich(std::string name, std::string rack, std::vector<std::string> labels,
                 std::vector<model::NodeImage> images, std::int64_t gpus = 8) {
  model::Node made = node(std::move(name), gpus, kV100, std::move(labels));
  made.rack = std::move(rack);
  made.images = std::move(images);
  return made;
}

// All that a snapshot holds: nodes in two blocks, GPUs held and claimed, a firm and a soft entry, datasets with workers
// and with labels, readers, claims, images and racks.
void first_changes(Builder& builder) {
  std::vector<model::Node> nodes;
  for (int i = 0; i < 70; ++i) {
    nodes.push_back(rich("n" + std::to_string(i), i < 35 ? "r1" : "r2",
                         {"fluid.io/f-ns-y", "fluid.io/s-ns-x", "fluid.io/s-ns-y"}, {{1, 10}, {257, 20}}));
  }
  builder.apply(AllNodes{std::move(nodes)}, {});
  builder.apply(AllPods{{bound(reader("a", 2, "x,y"), "n0"), bound(mounting(pod("b", 4), "pvc"), "n69"),
                         nominated(reader("c", 1, "x"), "n1"), worker("x", 0, "n3"), fuse("x", "n4")}},
                {});
  builder.apply(model::FluidServed{true}, {});
  builder.apply(model::AllDatasets{{dataset("x"), dataset("y"), referring("z", "y")}}, {});
  builder.apply(model::AllClaims{{{"ns", "pvc", {"ns", "z"}}}}, {});
  builder.apply(Attempt{.uid = "d-uid", .winner = "n2", .gpus = 8}, core::SteadyTime());
}
void further_changes(Builder& builder) {
  builder.apply(NodeSet{rich("n0", "r3", {"fluid.io/s-ns-y"}, {{1, 10}, {2, 5}})}, {});
  builder.apply(NodeSet{rich("n69", "", {"fluid.io/s-ns-x"}, {}, 4)}, {});
  builder.apply(NodeSet{node("new", 8, kV100)}, {});
  builder.apply(NodeGone{"n5"}, {});
  builder.apply(PodSet{bound(reader("e", 3, "y"), "n0")}, {});
  builder.apply(PodSet{bound(reader("c", 1, "x"), "n1")}, {});
  builder.apply(PodSet{worker("y", 0, "n7")}, {});
  builder.apply(model::DatasetSet{with_cached(dataset("x"), 0.5)}, {});
  builder.apply(model::DatasetSet{dataset("w")}, {});
  builder.apply(model::DatasetGone{{"ns", "z"}}, {});
  builder.apply(model::ClaimSet{{"ns", "pvc-2", {"ns", "w"}}}, {});
  builder.apply(model::Measured{{"ns", "x"}, {{"ip-of-n3", kGib}}, second(9)}, {});
}

void expect_same(const model::Snapshot& one, const model::Snapshot& other) {
  EXPECT_EQ(one.version, other.version);
  EXPECT_EQ(one.ready, other.ready);
  EXPECT_EQ(one.pods, other.pods);
  EXPECT_EQ(one.bound_pods, other.bound_pods);
  EXPECT_EQ(one.gpus, other.gpus);
  EXPECT_EQ(one.gpus_used, other.gpus_used);
  ASSERT_EQ(one.blocks.size(), other.blocks.size());
  for (std::size_t block = 0; block < one.blocks.size(); ++block) {
    for (std::size_t slot = 0; slot < one.blocks[block]->size(); ++slot) {
      const model::NodeState& a = (*one.blocks[block])[slot];
      const model::NodeState& b = (*other.blocks[block])[slot];
      ASSERT_EQ(a.node == nullptr, b.node == nullptr) << slot;
      EXPECT_TRUE(a.node == nullptr || *a.node == *b.node) << slot;
      EXPECT_EQ(a.gpus, b.gpus);
      EXPECT_EQ(a.used, b.used);
      EXPECT_EQ(a.firm, b.firm);
      EXPECT_EQ(a.soft, b.soft);
      EXPECT_EQ(a.free, b.free);
      EXPECT_EQ(a.place, b.place);
    }
  }
  EXPECT_EQ(one.find("new"), other.find("new"));
  EXPECT_EQ(one.ledger->size(), other.ledger->size());
  ASSERT_EQ(one.dataset_names->size(), other.dataset_names->size());
  for (const auto& [name, id] : *one.dataset_names) {
    ASSERT_EQ(other.dataset_names->at(name), id);
    EXPECT_EQ(*one.datasets[id], *other.datasets[id]) << name;
    ASSERT_EQ(one.readers[id] == nullptr, other.readers[id] == nullptr) << name;
    if (one.readers[id]) {
      EXPECT_EQ(one.readers[id]->counts, other.readers[id]->counts) << name;
    }
  }
  EXPECT_EQ(*one.claims, *other.claims);
  EXPECT_EQ(one.places->size(), other.places->size());
  for (const std::uint64_t image : {1, 2, 257}) {
    const auto* const a = one.images.find(image);
    const auto* const b = other.images.find(image);
    ASSERT_EQ(a == nullptr, b == nullptr) << image;
    if (a != nullptr) {
      EXPECT_EQ(a->holders, b->holders) << image;
    }
  }
}

TEST(OutOfMemory, WhereverABuildFailsTheNextIsWhole) {
  const StateOptions options;
  AttemptCounter attempts(std::chrono::milliseconds(1000), 10);
  Builder lucky(options, attempts);
  first_changes(lucky);
  const auto first = lucky.build({});
  further_changes(lucky);
  const auto second = lucky.build({});

  std::size_t failures = 0;
  for (std::size_t allowed = 0;; ++allowed) {
    Builder builder(options, attempts);
    std::shared_ptr<const model::Snapshot> got;
    bool failed = false;
    const auto build = [&] {
      succeed = allowed;
      try {
        got = builder.build({});
      } catch (const std::bad_alloc&) {
        failed = true;
        ++failures;
        EXPECT_TRUE(builder.changed()) << "else nobody would try again";
        got = builder.build({});  // `succeed` is used up
      }
      succeed = kNever;
      EXPECT_FALSE(builder.changed());
    };
    first_changes(builder);
    build();
    expect_same(*got, *first);
    further_changes(builder);
    build();
    expect_same(*got, *second);
    if (::testing::Test::HasFailure()) FAIL() << "after " << allowed << " allocations";
    if (!failed) break;
  }
  EXPECT_GT(failures, 20U) << "a build makes at least so many allocations here";
}

class OutOfMemoryState : public ::testing::Test {
 protected:
  OutOfMemoryState() { cluster.tell(AllNodes{{node("a")}}, AllPods{}); }
  ~OutOfMemoryState() override {
    fails_from = kNever;
    spared = false;
  }
  Cluster cluster;
};

TEST_F(OutOfMemoryState, KeepsTheLastSnapshotAndBuildsAgain) {
  fails_from = sizeof(model::NodeBlock);
  cluster.set_nodes(node("a", 4));
  EXPECT_EQ(cluster.at("a").gpus, 8);
  EXPECT_EQ(cluster.state.counters().failed_builds, 1U);
  fails_from = kNever;
  cluster.state.step();
  EXPECT_EQ(cluster.at("a").gpus, 4);
  EXPECT_EQ(cluster.state.counters().failed_builds, 1U);
  EXPECT_EQ(cluster.state.counters().publications, 2U);
}

TEST_F(OutOfMemoryState, TheThreadTriesAgainByItself) {
  spared = true;
  const auto wait_until = [](auto&& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return condition();
  };
  cluster.state.start();
  fails_from = sizeof(model::NodeBlock);
  cluster.state.push(NodeSet{node("a", 4)});
  EXPECT_TRUE(wait_until([&] { return cluster.state.counters().failed_builds > 0; }));
  EXPECT_EQ(cluster.at("a").gpus, 8);
  fails_from = kNever;
  EXPECT_TRUE(wait_until([&] { return cluster.at("a").gpus == 4; }));
  cluster.state.stop();
}

using OutOfMemoryDeathTest = OutOfMemoryState;

TEST_F(OutOfMemoryDeathTest, HalfAnUpdateEndsTheProgramAndSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        cluster.state.push(NodeSet{node("a-node-that-is-new-and-has-a-long-name")});
        spdlog::set_default_logger(spdlog::stderr_logger_mt("death"));
        succeed = 0;
        cluster.state.step();
      },
      "no memory to take an update of the cluster");
}

}  // namespace
}  // namespace berth::state

// Not inlined: GCC would see malloc behind new, or free behind delete, and call the pair mismatched.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return berth::state::allocate(bytes); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return berth::state::allocate(bytes); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return berth::state::allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return berth::state::allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& nothrow) noexcept {
  return operator new(bytes, nothrow);
}
[[gnu::noinline]] void operator delete(void* given) noexcept { std::free(given); }
[[gnu::noinline]] void operator delete[](void* given) noexcept { std::free(given); }
[[gnu::noinline]] void operator delete(void* given, std::size_t) noexcept { std::free(given); }
[[gnu::noinline]] void operator delete[](void* given, std::size_t) noexcept { std::free(given); }
[[gnu::noinline]] void operator delete(void* given, std::align_val_t) noexcept { std::free(given); }
[[gnu::noinline]] void operator delete(void* given, std::size_t, std::align_val_t) noexcept { std::free(given); }
