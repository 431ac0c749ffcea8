// The tables of best sets against a plain search that shares nothing with them but the links.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "berth/model/gpu_topology.h"

namespace berth::model {
namespace {

struct RandomMachine {
  LinkMatrix links;
  NumaNodes numa{};
};

RandomMachine random_machine(std::mt19937& random, int gpus) {
  constexpr Link kClasses[] = {Link::kSys, Link::kNode, Link::kPhb, Link::kPxb, Link::kPix, nvlink(1), nvlink(2)};
  // Few classes make many ties.
  const std::size_t classes = 1 + random() % std::size(kClasses);
  const std::size_t from = random() % (std::size(kClasses) - classes + 1);
  RandomMachine machine;
  machine.links.gpus = gpus;
  machine.numa.fill(-1);
  const auto nodes = 1 + random() % 3;
  for (int a = 0; a < gpus; ++a) {
    machine.numa[static_cast<std::size_t>(a)] = static_cast<std::int8_t>(static_cast<int>(random() % (nodes + 1)) - 1);
    for (int b = 0; b < a; ++b) machine.links.set(a, b, kClasses[from + random() % classes]);
  }
  return machine;
}

std::vector<int> gpus_of(GpuMask set) {
  std::vector<int> gpus;
  for (int gpu = 0; gpu < kMaxGpus; ++gpu) {
    if (contains(set, gpu)) gpus.push_back(gpu);
  }
  return gpus;
}

int largest_island(const RandomMachine& machine, const std::vector<int>& gpus) {
  std::vector<int> island(kMaxGpus);
  for (const int gpu : gpus) island[static_cast<std::size_t>(gpu)] = gpu;
  for (std::size_t round = 0; round < gpus.size(); ++round) {
    for (const int a : gpus) {
      for (const int b : gpus) {
        if (a == b || !is_nvlink(machine.links.at(a, b))) continue;
        int& at_a = island[static_cast<std::size_t>(a)];
        at_a = std::min(at_a, island[static_cast<std::size_t>(b)]);
      }
    }
  }
  std::ptrdiff_t largest = 0;
  for (const int root : gpus) {
    largest = std::max(
        largest, std::ranges::count_if(gpus, [&](int gpu) { return island[static_cast<std::size_t>(gpu)] == root; }));
  }
  return static_cast<int>(largest);
}

int numa_nodes(const RandomMachine& machine, const std::vector<int>& gpus) {
  std::set<int> nodes;
  for (const int gpu : gpus) nodes.insert(machine.numa[static_cast<std::size_t>(gpu)]);
  nodes.erase(-1);
  return static_cast<int>(nodes.size());
}

int most_on_one_node(const RandomMachine& machine, const std::vector<int>& gpus) {
  std::ptrdiff_t most = 0;
  for (int node = 0; node < 4; ++node) {
    most = std::max(most, std::ranges::count_if(
                              gpus, [&](int gpu) { return machine.numa[static_cast<std::size_t>(gpu)] == node; }));
  }
  return static_cast<int>(most);
}

bool is_connected(const RandomMachine& machine, const std::vector<int>& gpus, bool has_nvlink) {
  if (has_nvlink) return largest_island(machine, gpus) == static_cast<int>(gpus.size());
  for (const int a : gpus) {
    for (const int b : gpus) {
      const int at_a = machine.numa[static_cast<std::size_t>(a)];
      const int at_b = machine.numa[static_cast<std::size_t>(b)];
      if (at_a >= 0 && at_b >= 0 && at_a != at_b) return false;
      if ((at_a < 0 || at_b < 0) && machine.links.at(a, b) == Link::kSys) return false;
    }
  }
  return true;
}

// What decides, the greater the better.
using Worth = std::tuple<int, int, int, int, int>;

Worth worth_of(const RandomMachine& machine, GpuMask free, GpuMask set) {
  const auto gpus = gpus_of(set);
  const auto left = gpus_of(free & ~set);
  int bottleneck = gpus.size() < 2 ? 0 : 1'000'000;
  int sum = 0;
  for (const int a : gpus) {
    for (const int b : gpus) {
      if (a >= b) continue;
      bottleneck = std::min(bottleneck, bandwidth(machine.links.at(a, b)));
      sum += bandwidth(machine.links.at(a, b));
    }
  }
  return {bottleneck, sum, largest_island(machine, left), -numa_nodes(machine, gpus), most_on_one_node(machine, left)};
}

std::optional<GpuMask> searched(const RandomMachine& machine, GpuMask free, int wanted, bool connected) {
  bool has_nvlink = false;
  for (int a = 0; a < machine.links.gpus; ++a) {
    for (int b = 0; b < a; ++b) has_nvlink = has_nvlink || is_nvlink(machine.links.at(a, b));
  }
  std::optional<GpuMask> best;
  for (GpuMask set = 1; set <= free; ++set) {
    if ((set & ~free) != 0 || count(set) != wanted) continue;
    if (connected && !is_connected(machine, gpus_of(set), has_nvlink)) continue;
    if (best) {
      const Worth mine = worth_of(machine, free, set);
      const Worth other = worth_of(machine, free, *best);
      if (mine < other || (mine == other && gpus_of(set) > gpus_of(*best))) continue;
    }
    best = set;
  }
  return best;
}

TEST(BestSetProperty, TablesSayWhatAPlainSearchFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int gpus = 1 + static_cast<int>(random() % 6);
    const RandomMachine machine = random_machine(random, gpus);
    const auto table = BestSetTable::build(machine.links, machine.numa).value();
    for (GpuMask free = 1; free <= mask_all(gpus); ++free) {
      ASSERT_EQ(table.connected(free), searched(machine, free, count(free), true).has_value()) << round << " " << free;
      for (int wanted = 1; wanted <= gpus; ++wanted) {
        ASSERT_EQ(table.best(free, wanted), searched(machine, free, wanted, false)) << round << " " << free;
        ASSERT_EQ(table.best_connected(free, wanted), searched(machine, free, wanted, true)) << round << " " << free;
      }
    }
  }
}

// Beyond ten GPUs rows are filled when they are asked for; a few free GPUs of sixteen are searched quickly.
TEST(BestSetProperty, RowsThatAreFilledLate) {
  std::mt19937 random(8);
  const RandomMachine machine = random_machine(random, 16);
  const auto table = BestSetTable::build(machine.links, machine.numa).value();
  for (const GpuMask free : {mask({0, 3, 7, 11, 15}), mask({1, 2, 14}), mask({8, 9, 10, 12, 13, 15})}) {
    for (int wanted = 1; wanted <= count(free); ++wanted) {
      EXPECT_EQ(table.best(free, wanted), searched(machine, free, wanted, false));
      EXPECT_EQ(table.best_connected(free, wanted), searched(machine, free, wanted, true));
    }
  }
}

TEST(BestSetProperty, ThreadsThatAskForTheSameRowsAgree) {
  std::mt19937 random(9);
  const RandomMachine machine = random_machine(random, 11);
  const auto table = BestSetTable::build(machine.links, machine.numa).value();
  std::array<std::vector<std::optional<GpuMask>>, 4> found;
  {
    std::vector<std::jthread> threads;
    for (auto& mine : found) {
      threads.emplace_back([&table, &mine] {
        for (GpuMask free = 1; free <= mask_all(11); ++free) mine.push_back(table.best(free, 3));
      });
    }
  }
  for (const auto& other : found) EXPECT_EQ(other, found[0]);
}

}  // namespace
}  // namespace berth::model
