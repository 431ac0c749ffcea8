// Among sets of GPUs that are equally good by links and NUMA nodes: which one of this very machine.
#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

#include "berth/model/machine.h"

namespace berth::model {
namespace {

// NICs by number; more than the first 64 are not looked at.
using NicMask = std::uint64_t;

constexpr std::array kClasses = {Link::kPix, Link::kPxb, Link::kPhb, Link::kNode};

struct NicsOfGpu {
  std::array<NicMask, kClasses.size()> within{};  // by class: NICs this near or nearer
  NicMask nearest = 0;                            // of the nearest class there is, SYS included
};

using NicsByGpu = std::array<NicsOfGpu, kMaxGpus>;

NicsByGpu nics_of(const Machine& machine) {
  NicsByGpu all;
  const std::size_t nics = std::min<std::size_t>(machine.nics.size(), 64);
  for (std::size_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    Link best = Link::kSelf;
    for (std::size_t nic = 0; nic < nics; ++nic) {
      const Link link = machine.nics[nic].links[gpu];
      if (link == Link::kSelf) continue;
      const NicMask bit = NicMask{1} << nic;
      for (std::size_t i = 0; i < kClasses.size(); ++i) {
        if (link >= kClasses[i]) all[gpu].within[i] |= bit;
      }
      if (link > best) all[gpu].nearest = 0;
      best = std::max(best, link);
      if (link == best) all[gpu].nearest |= bit;
    }
  }
  return all;
}

// How many GPUs of `busy` use what GPU `gpu` would use: its PCIe switch, and of its nearest NICs the least used one.
int use_beside(const Machine& machine, const NicsByGpu& nics, std::size_t gpu, GpuMask busy) {
  int on_switch = 0;
  std::array<int, 64> on_nic{};
  for (GpuMask rest = busy; rest != 0; rest &= rest - 1) {
    const auto other = static_cast<std::size_t>(std::countr_zero(rest));
    if (!machine.gpus[gpu].pcie.empty() && machine.gpus[gpu].pcie == machine.gpus[other].pcie) ++on_switch;
    for (NicMask shared = nics[gpu].nearest & nics[other].nearest; shared != 0; shared &= shared - 1) {
      ++on_nic[static_cast<std::size_t>(std::countr_zero(shared))];
    }
  }
  int least = nics[gpu].nearest == 0 ? 0 : kMaxGpus;
  for (NicMask rest = nics[gpu].nearest; rest != 0; rest &= rest - 1) {
    least = std::min(least, on_nic[static_cast<std::size_t>(std::countr_zero(rest))]);
  }
  return on_switch + least;
}

// Gives `gpu` a NIC of its own out of those `allowed`, moving others to other NICs where needed (Kuhn's algorithm).
bool assign(std::size_t gpu, const std::array<NicMask, kMaxGpus>& allowed, std::array<std::int8_t, 64>& owner,
            NicMask& seen) {
  for (NicMask rest = allowed[gpu] & ~seen; rest != 0; rest = allowed[gpu] & ~seen) {
    const auto nic = static_cast<std::size_t>(std::countr_zero(rest));
    seen |= NicMask{1} << nic;
    if (owner[nic] < 0 || assign(static_cast<std::size_t>(owner[nic]), allowed, owner, seen)) {
      owner[nic] = static_cast<std::int8_t>(gpu);
      return true;
    }
  }
  return false;
}

// How many GPUs of `set` can have a NIC of their own, by class.
std::array<int, kClasses.size()> own_nics(const NicsByGpu& nics, GpuMask set) {
  std::array<int, kClasses.size()> counts{};
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    std::array<NicMask, kMaxGpus> allowed{};
    for (std::size_t gpu = 0; gpu < kMaxGpus; ++gpu) allowed[gpu] = nics[gpu].within[i];
    std::array<std::int8_t, 64> owner{};
    owner.fill(-1);
    for (GpuMask rest = set; rest != 0; rest &= rest - 1) {
      NicMask seen = 0;
      if (assign(static_cast<std::size_t>(std::countr_zero(rest)), allowed, owner, seen)) ++counts[i];
    }
  }
  return counts;
}

}  // namespace

std::optional<GpuMask> best_refined(const GpuShape& shape, const Machine* machine, GpuMask free, int count,
                                    bool connected, GpuMask busy) {
  const bool told = machine != nullptr && static_cast<int>(machine->gpus.size()) == shape.table.gpus();
  if (!told) return connected ? shape.best_connected(free, count) : shape.table.best(free, count);
  std::vector<GpuMask> sets = shape.table.equals(free, count, connected);
  if (sets.empty()) return std::nullopt;

  const NicsByGpu nics = nics_of(*machine);
  busy &= mask_all(shape.table.gpus()) & ~free;
  std::array<int, kMaxGpus> use{};
  for (std::size_t gpu = 0; gpu < machine->gpus.size(); ++gpu) use[gpu] = use_beside(*machine, nics, gpu, busy);
  const auto use_of = [&](GpuMask set) {
    int sum = 0;
    for (GpuMask rest = set; rest != 0; rest &= rest - 1) sum += use[static_cast<std::size_t>(std::countr_zero(rest))];
    return sum;
  };
  int least = use_of(sets.front());
  for (const GpuMask set : sets) least = std::min(least, use_of(set));
  std::erase_if(sets, [&](GpuMask set) { return use_of(set) != least; });
  if (machine->nics.empty()) return sets.front();

  // The first of those with most.
  return *std::ranges::max_element(sets, {}, [&](GpuMask set) { return own_nics(nics, set); });
}

}  // namespace berth::model
