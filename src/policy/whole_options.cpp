#include "whole_options.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "least_cost.h"
#include "sum_by_set.h"

namespace berth::policy {
namespace {

using model::GpuMask;

// GPUs, and who holds them.
struct Taken {
  GpuMask gpus = 0;
  std::uint32_t units = 0;
  Taken& operator+=(const Taken& other) {
    gpus |= other.gpus;
    units |= other.units;
    return *this;
  }
};
struct Pods {
  OccupantSet set;
  Pods& operator+=(const Pods& other) {
    set |= other.set;
    return *this;
  }
};

// The cheapest of all that are offered to it.
class Cheapest {
 public:
  Cheapest(const EvictionCost* below, std::size_t most) : below_(below), most_(most) {}
  [[nodiscard]] bool takes(const EvictionCost& cost) const {
    if (options_.size() == most_) return cost < options_.front().cost;
    return below_ == nullptr || cost < *below_;
  }
  void take(const WholeOption& option) {
    if (options_.size() == most_) {
      std::ranges::pop_heap(options_, {}, &WholeOption::cost);
      options_.pop_back();
    }
    options_.push_back(option);
    std::ranges::push_heap(options_, {}, &WholeOption::cost);
  }
  std::vector<WholeOption> sorted() {
    std::ranges::sort_heap(options_, {}, &WholeOption::cost);
    return std::move(options_);
  }

 private:
  const EvictionCost* below_;
  std::size_t most_;
  std::vector<WholeOption> options_;  // a heap, the dearest on top
};

class Search {
 public:
  Search(const WholeDemand& demand, std::size_t most) : demand_(demand), cheapest_(demand.below, most) { divide(); }

  std::vector<WholeOption> run() {
    find_ways();
    std::vector<Pods> pods;
    pods.reserve(units_.size());
    for (const Unit& unit : units_) pods.push_back({unit.pods});
    const SumBySet<Pods> pods_of(pods);
    const LeastCost least(demand_.pods, demand_.stand_ins, demand_.by_count, units_);
    for (std::uint32_t units = 1; units < ways_.size(); ++units) {
      if (ways_[units] == kNone) continue;
      EvictionCost bound = least.of(units);
      bound.apart = ways_[units] == kApart;
      if (!cheapest_.takes(bound)) continue;
      least.raise(units, bound);
      if (!cheapest_.takes(bound)) continue;
      Pods needed;
      pods_of.add(units, needed);
      if (!overlap_ || !pass_on(units, needed.set)) add(needed.set, bound.apart);
    }
    return cheapest_.sorted();
  }

 private:
  enum Way : std::uint8_t { kNone, kApart, kTogether };

  // The pool by who holds it.
  void divide() {
    const StandIns& stand_ins = demand_.stand_ins;
    OccupantSet all;
    for (GpuMask rest = demand_.pool; rest != 0; rest &= rest - 1) {
      const int gpu = std::countr_zero(rest);
      OccupantSet pods;
      for (std::size_t i = 0; i < demand_.pods.size(); ++i) {
        pods[i] = model::contains(demand_.pods.pod(i).placement.gpus, gpu);
      }
      if (!demand_.connected_only && (pods & ~stand_ins.in_place()).any()) continue;
      pool_ |= GpuMask{1} << gpu;
      if (pods.none()) continue;
      const auto known = std::ranges::find(units_, pods, &Unit::pods);
      if (known != units_.end()) {
        known->gpus |= GpuMask{1} << gpu;
        continue;
      }
      overlap_ = overlap_ || (pods & all).any();
      all |= pods;
      units_.push_back({pods, GpuMask{1} << gpu});
    }
    // The cheapest first: most of what follows is dearer than what was found.
    std::ranges::sort(units_, {}, [&](const Unit& unit) {
      EvictionCost cost = demand_.pods.sum(unit.pods);
      cost.unlike = -static_cast<std::int64_t>((unit.pods & stand_ins.offered()).count());
      return cost;
    });
  }

  // Every set of GPUs, by the units that it touches.
  void find_ways() {
    std::vector<Taken> gpus;
    for (GpuMask rest = pool_; rest != 0; rest &= rest - 1) {
      Taken& gpu = gpus.emplace_back();
      gpu.gpus = rest & (~rest + 1);
      for (std::size_t i = 0; i < units_.size(); ++i) {
        if ((units_[i].gpus & gpu.gpus) != 0) gpu.units = std::uint32_t{1} << i;
      }
    }
    ways_.assign(std::size_t{1} << units_.size(), kNone);
    const SumBySet<Taken> taken_by(gpus);
    const std::uint32_t end = std::uint32_t{1} << gpus.size();
    for (std::uint32_t set = model::mask_all(demand_.gpus); set < end; set = next_of_its_size(set)) {
      Taken taken;
      taken_by.add(set, taken);
      const bool connected = demand_.sets.connected(taken.gpus);
      if (demand_.connected_only && !connected) continue;
      const Way way = connected || !demand_.links_count ? kTogether : kApart;
      ways_[taken.units] = std::max(ways_[taken.units], way);
    }
  }

  static std::uint32_t next_of_its_size(std::uint32_t set) {
    const std::uint32_t lowest = set & (~set + 1);
    const std::uint32_t carried = set + lowest;
    return carried | (((set ^ carried) >> 2U) >> static_cast<unsigned>(std::countr_zero(set)));
  }

  // Where shares make the same pods hold other GPUs as well, the sets of GPUs come together in the greatest set of
  // units.
  bool pass_on(std::uint32_t units, const OccupantSet& needed) {
    std::uint32_t all = 0;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if ((units_[i].pods & ~needed).none()) all |= std::uint32_t{1} << i;
    }
    if (all == units) return false;
    ways_[all] = std::max(ways_[all], ways_[units]);
    return true;
  }

  void add(const OccupantSet& needed, bool apart) {
    const OccupantSet victims = demand_.stand_ins.exchanged(needed);
    add(victims, apart, 0);
    if (!demand_.by_count) return;
    const OccupantSet fewer = demand_.stand_ins.exchanged_by_count(needed, victims);
    if (fewer != victims) add(fewer, apart, (victims & ~fewer).count());
  }

  void add(const OccupantSet& victims, bool apart, std::size_t unlike) {
    if (victims == demand_.stand_ins.offered() || victims.none()) return;
    WholeOption option{victims, demand_.pods.sum(victims)};
    option.cost.apart = apart;
    option.cost.unlike = static_cast<std::int64_t>(unlike);
    if (!cheapest_.takes(option.cost)) return;
    option.cost.violations = demand_.pods.violations(victims);
    if (cheapest_.takes(option.cost)) cheapest_.take(option);
  }

  const WholeDemand& demand_;
  Cheapest cheapest_;
  GpuMask pool_ = 0;
  std::vector<Unit> units_;
  bool overlap_ = false;   // a pod is of several units
  std::vector<Way> ways_;  // by set of units
};

}  // namespace

std::vector<WholeOption> whole_options(const WholeDemand& demand, std::size_t most) {
  return Search(demand, most).run();
}

}  // namespace berth::policy
