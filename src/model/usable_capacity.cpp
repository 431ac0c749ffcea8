#include "berth/model/usable_capacity.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "berth/model/part_placement.h"

namespace berth::model {
namespace {

constexpr std::size_t kMostProducts = 62;
constexpr std::int32_t kOtherProducts = 63;
constexpr double kPlenty = 1e9;

std::size_t at(int gpu) { return static_cast<std::size_t>(gpu); }

bool same_memory(const Room& room, GpuMask gpus) {
  if (gpus == 0) return true;
  const std::int32_t first = room.memory_mib[at(std::countr_zero(gpus))];
  for (; gpus != 0; gpus &= gpus - 1) {
    if (room.memory_mib[at(std::countr_zero(gpus))] != first) return false;
  }
  return true;
}

std::int64_t demanded_mib(std::int64_t mib, std::int32_t percent, std::int64_t memory_mib) {
  return share_mib({.gpus = 1, .mib = mib, .memory_percent = percent}, memory_mib);
}

bool share_meets(const Room& room, std::size_t gpu, std::int32_t milli, std::int64_t mib, std::int32_t percent) {
  if (room.milli[gpu] < milli || room.milli[gpu] < 0) return false;
  if (mib == 0 && percent == 0) return true;
  return room.memory_mib[gpu] > 0 && room.mib[gpu] >= demanded_mib(mib, percent, room.memory_mib[gpu]);
}

// The number of a partition made at `start`, and 1; 0 if none begins there.
std::uint32_t made_at(std::uint32_t made, int start) { return (made >> (4U * static_cast<unsigned>(start))) & 15U; }

// Where partitions of the profile can go on a GPU: bit i for memory slice i.
unsigned free_starts(const Room& room, std::size_t gpu, const MigProfile& profile, std::uint32_t number) {
  unsigned starts = 0;
  for (const std::int8_t start : profile.starts) {
    if ((room.used_slices[gpu] & slice_mask(start, profile.size)) != 0) continue;
    if (room.made[gpu] != 0 && made_at(room.made[gpu], start) != number) continue;
    starts |= 1U << static_cast<unsigned>(start);
  }
  return starts;
}

const MigProfile* find_profile(int table, std::string_view name, std::uint32_t& number) {
  const auto profiles = mig_table(table);
  const auto found = std::ranges::find(profiles, name, &MigProfile::name);
  if (found == profiles.end()) return nullptr;
  number = static_cast<std::uint32_t>(found - profiles.begin()) + 1;
  return &*found;
}

unsigned free_starts(const Room& room, std::size_t gpu, std::string_view name) {
  std::uint32_t number = 0;
  const MigProfile* profile = find_profile(room.mig_table[gpu], name, number);
  return profile == nullptr ? 0 : free_starts(room, gpu, *profile, number);
}

}  // namespace

std::int64_t Room::free_milli() const {
  std::int64_t sum = 0;
  for (int gpu = 0; gpu < gpus; ++gpu) sum += std::max(milli[at(gpu)], 0);
  return sum;
}

Room empty_room(std::int64_t cpu_milli, int gpus, std::int32_t product, std::int64_t memory_mib) {
  Room room{.cpu_milli = cpu_milli, .gpus = std::min(gpus, kMaxGpus), .product = product};
  room.whole = mask_all(room.gpus);
  const auto mib = static_cast<std::int32_t>(
      std::clamp(memory_mib, std::int64_t{0}, std::int64_t{std::numeric_limits<std::int32_t>::max()}));
  for (int gpu = 0; gpu < room.gpus; ++gpu) {
    room.milli[at(gpu)] = kWholeMilli;
    room.mib[at(gpu)] = mib;
    room.memory_mib[at(gpu)] = mib;
  }
  return room;
}

GpuMask meeting(const Room& room, const RequestClass& request) {
  if (request.whole()) return room.whole;
  GpuMask met = 0;
  for (int gpu = 0; gpu < room.gpus; ++gpu) {
    const bool meets = request.mig.empty()
                           ? share_meets(room, at(gpu), request.milli, request.mib, request.memory_percent)
                           : free_starts(room, at(gpu), request.mig) != 0;
    if (meets) met |= GpuMask{1} << gpu;
  }
  return met;
}

void take_gpus(Room& room, const RequestClass& request, GpuMask gpus) {
  room.whole &= ~gpus;
  for (GpuMask left = gpus; left != 0; left &= left - 1) {
    const auto gpu = at(std::countr_zero(left));
    if (request.whole()) {
      room.milli[gpu] = 0;
      room.mib[gpu] = 0;
      continue;
    }
    room.milli[gpu] -= request.milli;
    room.mib[gpu] -= static_cast<std::int32_t>(demanded_mib(request.mib, request.memory_percent, room.memory_mib[gpu]));
  }
}

void take_partition(Room& room, const RequestClass& request, int gpu) {
  std::uint32_t number = 0;
  const int table = room.mig_table[at(gpu)];
  const MigProfile* profile = find_profile(table, request.mig, number);
  if (profile == nullptr) return;
  int start = 0;
  if (room.made[at(gpu)] == 0) {
    start = best_mig_start(mig_table(table), request.mig, room.used_slices[at(gpu)]).value_or(std::int8_t{0});
  } else {
    start = std::countr_zero(free_starts(room, at(gpu), *profile, number));
  }
  room.used_slices[at(gpu)] |= slice_mask(start, profile->size);
}

MixTable::MixTable(const RequestMix& mix) : version_(mix.version) {
  for (const RequestShare& one : mix.classes) {
    requests_.push_back(one);
    const auto& named = one.request.products;
    products_.insert(products_.end(), named.begin(), named.end());
  }
  std::ranges::sort(products_);
  products_.erase(std::unique(products_.begin(), products_.end()), products_.end());

  const auto key = [](const RequestShare& one) {
    const RequestClass& request = one.request;
    return std::tuple(request.gpus > 0, !request.whole(), request.milli, request.mib, request.memory_percent,
                      std::string_view(request.mig), request.gpus, request.cpu_milli);
  };
  std::ranges::sort(requests_, [&](const auto& a, const auto& b) {
    const auto left = key(a);
    const auto right = key(b);
    return left != right ? left < right : a.request.products < b.request.products;
  });

  needs_.reserve(requests_.size());
  for (const RequestShare& one : requests_) {
    const RequestClass& request = one.request;
    Demand demand = demand_of(request);
    if (!demands_.empty()) demand.end = demands_.back().end;
    if (demands_.empty() || demands_.back() != demand) demands_.push_back(demand);
    const auto cpu = static_cast<double>(std::max<std::int64_t>(request.cpu_milli, 0));
    // Where too much CPU is given out already, those who ask for none still find a place.
    Need need{.cpu = cpu > 0 ? cpu : std::numeric_limits<double>::lowest(), .gpus = request.gpus};
    if (cpu > 0) {
      need.slope = request.gpus / cpu;
    } else {
      need.base = kPlenty;
    }
    if (request.products.empty()) need.products = ~std::uint64_t{0};
    for (const std::string& name : request.products) need.products |= std::uint64_t{1} << product(name);
    needs_.push_back(need);
    demands_.back().end = static_cast<std::uint32_t>(needs_.size());
  }
}

std::int32_t MixTable::product(std::string_view name) const {
  const auto found = std::ranges::lower_bound(products_, name);
  if (found == products_.end() || *found != name) return 0;
  const auto number = static_cast<std::size_t>(found - products_.begin());
  return number < kMostProducts ? static_cast<std::int32_t>(number) + 1 : kOtherProducts;
}

MixTable::Demand MixTable::demand_of(const RequestClass& request) {
  Demand demand;
  if (request.gpus <= 0) {
    demand.kind = Kind::kCpu;
  } else if (request.whole()) {
    demand.kind = Kind::kWhole;
  } else if (!request.mig.empty()) {
    demand.kind = Kind::kPartition;
    for (int table = 1; table <= kMigTables; ++table) {
      std::uint32_t number = 0;
      if (find_profile(table, request.mig, number) != nullptr)
        demand.profile[at(table)] = static_cast<std::int8_t>(number);
    }
  } else {
    demand.kind = request.mib == 0 && request.memory_percent == 0 ? Kind::kTime : Kind::kMemory;
    demand.milli = request.milli;
    demand.mib = request.mib;
    demand.memory_percent = request.memory_percent;
  }
  return demand;
}

MixTable::Supply MixTable::partitions(const Room& room, const Demand& demand) {
  Supply found;
  for (int index = 0; index < room.gpus; ++index) {
    const std::size_t gpu = at(index);
    const std::uint32_t number = static_cast<std::uint32_t>(demand.profile[at(room.mig_table[gpu])]);
    if (number == 0) continue;
    const auto profiles = mig_table(room.mig_table[gpu]);
    const MigProfile& profile = profiles[number - 1];
    const int places = std::popcount(free_starts(room, gpu, profile, number));
    found.gpus += places;
    found.milli += places * static_cast<double>(kWholeMilli) * profile.size / profiles.back().size;
  }
  return found;
}

MixTable::Supply MixTable::shares_of(const Room& room, const Demand& demand, GpuMask gpus) {
  Supply found;
  for (; gpus != 0; gpus &= gpus - 1) {
    const auto gpu = at(std::countr_zero(gpus));
    if (!share_meets(room, gpu, demand.milli, demand.mib, demand.memory_percent)) continue;
    const double memory = static_cast<double>(room.mib[gpu]) / room.memory_mib[gpu] * kWholeMilli;
    ++found.gpus;
    found.milli += std::min<double>(room.milli[gpu], memory);
  }
  return found;
}

template <class Use>
void MixTable::for_usable(const Room& room, const Counting& counting, const Use& use) const {
  // GPUs that are shared, with what is left of them, apart from those that are free.
  std::array<std::int32_t, kMaxGpus> shared;
  std::size_t shared_count = 0;
  GpuMask partly = 0;
  for (int gpu = 0; gpu < room.gpus; ++gpu) {
    const bool some = room.milli[at(gpu)] > 0 && !contains(room.whole, gpu);
    shared[shared_count] = room.milli[at(gpu)];
    shared_count += some ? 1 : 0;
    partly |= (some ? GpuMask{1} : GpuMask{0}) << gpu;
  }
  const bool alike = same_memory(room, room.whole);
  const Supply whole{count(room.whole), count(room.whole) * static_cast<double>(kWholeMilli)};
  const auto cpu = static_cast<double>(room.cpu_milli);
  const std::uint64_t product = std::uint64_t{1} << static_cast<unsigned>(room.product);

  std::size_t i = 0;
  for (const Demand& demand : demands_) {
    if (demand.kind == Kind::kCpu) {
      for (; i < demand.end; ++i) use(i, cpu >= needs_[i].cpu ? std::max(cpu, 0.0) : 0.0);
      continue;
    }
    Supply met = whole;
    if (demand.kind == Kind::kTime) {
      for (std::size_t gpu = 0; gpu < shared_count; ++gpu) {
        if (shared[gpu] < demand.milli) continue;
        ++met.gpus;
        met.milli += shared[gpu];
      }
    } else if (demand.kind == Kind::kPartition) {
      met = partitions(room, demand);
    } else if (demand.kind == Kind::kMemory) {
      met = shares_of(room, demand, partly | (alike ? 0 : room.whole));
      // Of free GPUs that are alike one tells for all.
      if (alike && shares_of(room, demand, lowest(room.whole, 1)).gpus > 0) {
        met.gpus += whole.gpus;
        met.milli += whole.milli;
      }
    }
    if (met.gpus == 0) {
      for (; i < demand.end; ++i) use(i, 0.0);
      continue;
    }
    const double per_gpu = 1.0 / met.gpus;
    const double always = met.milli * (1 - counting.cpu_weight);
    const double fed = met.milli * counting.cpu_weight;
    // Of partitions it is not known how many the node could have.
    const double nearly = demand.kind == Kind::kPartition ? 0 : met.milli * counting.nearly_whole;
    for (; i < demand.end; ++i) {
      const Need& need = needs_[i];
      if ((need.products & product) == 0 || cpu < need.cpu) {
        use(i, 0.0);
        continue;
      }
      if (met.gpus >= need.gpus) {
        const double feeds = cpu * need.slope + need.base;  // GPUs
        use(i, always + fed * std::min(1.0, feeds * per_gpu));
      } else if (need.gpus <= room.gpus) {
        const double part = static_cast<double>(met.gpus) / need.gpus;
        use(i, nearly * part * part * part * part);
      } else {
        use(i, 0.0);
      }
    }
  }
}

void MixTable::usable(const Room& room, const Counting& counting, std::span<double> out) const {
  for_usable(room, counting, [&](std::size_t i, double usable) { out[i] = usable; });
}

double MixTable::worth(const Room& room, const Counting& counting, std::span<const double> prices) const {
  double sum = 0;
  for_usable(room, counting, [&](std::size_t i, double usable) { sum += prices[i] * usable; });
  return sum;
}

}  // namespace berth::model
