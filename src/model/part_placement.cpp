#include "berth/model/part_placement.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace berth::model {
namespace {

constexpr int kMemorySlices = 8;

GpuMask bit(std::size_t gpu) { return GpuMask{1} << gpu; }

// The part taken of what is scarcer.
double fill_of(const GpuUse& use) {
  const double time = static_cast<double>(use.used_milli) / kWholeMilli;
  const double memory =
      use.memory_mib > 0 ? static_cast<double>(use.used_mib) / static_cast<double>(use.memory_mib) : 0;
  return std::clamp(std::max(time, memory), 0.0, 1.0);
}

void add_share(const GpuParts& parts, GpuUse& use, int sign) {
  use.used_mib += sign * share_mib(parts, use.memory_mib);
  use.used_milli += sign * parts.milli;
}

// The GPUs of a share, the tightest first: where the least of what is scarcer is left.
bool place_share(const GpuParts& parts, std::span<const GpuUse> uses, const GpuShape* shape, PartPlacement& placed) {
  using Order = std::tuple<bool, double, std::size_t>;
  std::array<Order, kMaxGpus> fitting;
  std::size_t found = 0;
  for (std::size_t gpu = 0; gpu < uses.size(); ++gpu) {
    if (!share_fits(parts, uses[gpu])) continue;
    GpuUse then = uses[gpu];
    add_share(parts, then, 1);
    fitting[found++] = {untouched(uses[gpu]), -fill_of(then), gpu};
  }
  auto left = static_cast<std::size_t>(parts.gpus);
  if (found < left) return false;
  std::sort(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(found));
  const auto take = [&](std::size_t i) {
    const auto [fresh, fill, gpu] = fitting[i];
    placed.gpus |= bit(gpu);
    if (fresh) placed.fresh |= bit(gpu);
    --left;
  };
  std::size_t next = 0;
  for (; left > 0 && !std::get<0>(fitting[next]); ++next) take(next);
  if (left == 0) return true;
  // The fresh ones that are as tight as the tightest.
  GpuMask alike = 0;
  std::size_t end = next;
  for (; end < found && std::get<1>(fitting[end]) == std::get<1>(fitting[next]); ++end) {
    alike |= bit(std::get<2>(fitting[end]));
  }
  const bool by_shape = shape != nullptr && static_cast<std::size_t>(shape->table.gpus()) == uses.size();
  const auto best = by_shape ? shape->table.best(alike, static_cast<int>(left)) : std::nullopt;
  for (std::size_t i = next; left > 0 && i < found; ++i) {
    if (!best || (*best & bit(std::get<2>(fitting[i]))) != 0) take(i);
  }
  return true;
}

// Where a partition could go on one GPU.
std::optional<MigSlot> place_on(const Gpu& gpu, std::size_t index, std::string_view profile, std::uint8_t used) {
  const auto profiles = mig_profiles(gpu.product, gpu.memory_mib);
  if (gpu.instances.empty()) {
    const auto start = best_mig_start(profiles, profile, used);
    if (!start) return std::nullopt;
    return MigSlot{static_cast<std::int8_t>(index), *start, static_cast<std::int8_t>(mig_size(profiles, profile))};
  }
  const std::vector<MigSlot> layout = mig_layout(gpu, static_cast<int>(index));
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const bool free = layout[i].size > 0 && (used & slice_mask(layout[i].start, layout[i].size)) == 0;
    if (free && gpu.instances[i].profile == profile) return layout[i];
  }
  return std::nullopt;
}

int size_on(const Machine& machine, std::string_view profile) {
  int size = 0;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.mig) size = std::max(size, mig_size(mig_profiles(gpu.product, gpu.memory_mib), profile));
  }
  return size;
}

bool place_partitions(const GpuParts& parts, std::span<const GpuUse> uses, const Machine& machine,
                      PartPlacement& placed) {
  const std::size_t gpus = std::min({uses.size(), machine.gpus.size(), std::size_t{kMaxGpus}});
  std::array<std::uint8_t, kMaxGpus> used{};
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) used[gpu] = uses[gpu].used_slices;
  // The largest first: the small ones fit around them.
  std::vector<std::pair<int, const MigDemand*>> order;
  order.reserve(parts.mig.size());
  for (const MigDemand& demand : parts.mig) order.emplace_back(-size_on(machine, demand.profile), &demand);
  std::sort(order.begin(), order.end());  // of one size in the order of the list, in which they stand one after another

  for (const auto& [size, demand] : order) {
    for (std::int32_t n = 0; n < demand->count; ++n) {
      std::optional<MigSlot> best;
      int most_used = -1;
      for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
        if (!uses[gpu].mig || !uses[gpu].healthy) continue;
        const int taken = std::popcount(used[gpu]);
        if (taken <= most_used) continue;
        if (const auto slot = place_on(machine.gpus[gpu], gpu, demand->profile, used[gpu])) {
          best = slot;
          most_used = taken;
        }
      }
      if (!best || placed.slot_count == kMaxSlots) return false;
      const auto gpu = static_cast<std::size_t>(best->gpu);
      used[gpu] |= slice_mask(best->start, best->size);
      placed.slots[placed.slot_count++] = *best;
      if (uses[gpu].used_slices == 0) placed.fresh |= bit(gpu);
    }
  }
  std::sort(placed.slots.begin(), placed.slots.begin() + static_cast<std::ptrdiff_t>(placed.slot_count),
            [](const MigSlot& a, const MigSlot& b) { return std::tie(a.gpu, a.start) < std::tie(b.gpu, b.start); });
  return true;
}

}  // namespace

GpuPlacement PartPlacement::placement() const { return {gpus, {taken().begin(), taken().end()}}; }

std::int64_t share_mib(const GpuParts& parts, std::int64_t memory_mib) {
  if (parts.mib > 0) return parts.mib;
  const std::int64_t percent = std::min(parts.memory_percent, 101);  // more than there is, how much more is the same
  return (memory_mib * percent + 99) / 100;
}

bool untouched(const GpuUse& use) { return use.used_mib == 0 && use.used_milli == 0 && use.used_slices == 0; }

void count_whole(GpuUse& use) {
  use.used_mib = use.memory_mib;
  use.used_milli = kWholeMilli;
}

bool share_fits(const GpuParts& parts, const GpuUse& use) {
  if (use.mig || !use.healthy) return false;
  const bool wants_memory = parts.mib > 0 || parts.memory_percent > 0;
  if (wants_memory && use.memory_mib <= 0) return false;
  return use.used_mib + share_mib(parts, use.memory_mib) <= use.memory_mib &&
         use.used_milli + parts.milli <= kWholeMilli;
}

std::optional<PartPlacement> place_parts(const GpuParts& parts, std::span<const GpuUse> uses, const Machine* machine,
                                         const GpuShape* shape) {
  PartPlacement placed;
  if (parts.gpus > kMaxGpus || uses.size() > kMaxGpus) return std::nullopt;
  if (parts.gpus > 0 && !place_share(parts, uses, shape, placed)) return std::nullopt;
  const bool partitions = !parts.mig.empty() && machine != nullptr && !machine->gpus.empty();
  if (partitions && !place_partitions(parts, uses, *machine, placed)) return std::nullopt;
  return placed;
}

void count_parts(const GpuParts& parts, const GpuPlacement& placement, std::span<GpuUse> uses, int sign) {
  for (std::size_t gpu = 0; gpu < uses.size(); ++gpu) {
    if (parts.gpus > 0 && (placement.gpus & bit(gpu)) != 0) add_share(parts, uses[gpu], sign);
  }
  for (const MigSlot& slot : placement.slots) {
    if (slot.gpu < 0 || static_cast<std::size_t>(slot.gpu) >= uses.size()) continue;
    std::uint8_t& used = uses[static_cast<std::size_t>(slot.gpu)].used_slices;
    const std::uint8_t slices = slice_mask(slot.start, slot.size);
    used = sign > 0 ? used | slices : used & static_cast<std::uint8_t>(~slices);
  }
}

std::vector<MigSlot> mig_layout(const Gpu& gpu, int index) {
  const auto profiles = mig_profiles(gpu.product, gpu.memory_mib);
  std::vector<MigSlot> layout;
  layout.reserve(gpu.instances.size());
  std::uint8_t used = 0;
  for (const MigInstance& instance : gpu.instances) {
    const auto size = static_cast<std::int8_t>(mig_size(profiles, instance.profile));
    layout.push_back({static_cast<std::int8_t>(index), instance.start, size});
    if (instance.start >= 0) used |= slice_mask(instance.start, size);
  }
  for (int size = kMemorySlices; size > 0; --size) {
    for (std::size_t i = 0; i < layout.size(); ++i) {
      if (layout[i].start >= 0 || layout[i].size != size) continue;
      const auto start = best_mig_start(profiles, gpu.instances[i].profile, used);
      layout[i].start = start.value_or(0);
      if (!start) layout[i].size = 0;  // more than there is room for: not to be given out
      used |= slice_mask(layout[i].start, layout[i].size);
    }
  }
  return layout;
}

int mig_size(std::span<const MigProfile> profiles, std::string_view profile) {
  const auto known =
      std::find_if(profiles.begin(), profiles.end(), [&](const auto& one) { return one.name == profile; });
  if (known != profiles.end()) return known->size;
  int compute = 0;
  const auto [end, error] = std::from_chars(profile.data(), profile.data() + profile.size(), compute);
  const bool named = error == std::errc() && end != profile.data() + profile.size() && *end == 'g';
  if (!named || compute < 1 || compute > 7) return 0;
  return compute <= 2 ? compute : compute <= 4 ? 4 : kMemorySlices;
}

std::uint8_t slice_mask(int start, int size) {
  if (start < 0 || start >= kMemorySlices || size <= 0) return 0;
  return static_cast<std::uint8_t>(((1U << static_cast<unsigned>(size)) - 1U) << static_cast<unsigned>(start));
}

}  // namespace berth::model
