#include "berth/model/packing_view.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "berth/model/part_placement.h"

namespace berth::model {
namespace {

constexpr std::int64_t kPlentyCpu = std::int64_t{1} << 40;
constexpr std::int64_t kDefaultCpuOfGpu = 4'000;

std::int32_t as_mib(std::int64_t mib) {
  return static_cast<std::int32_t>(
      std::clamp(mib, std::int64_t{0}, std::int64_t{std::numeric_limits<std::int32_t>::max()}));
}

GpuMask untouched_gpus(const std::vector<GpuUse>& uses) {
  GpuMask set = 0;
  for (std::size_t gpu = 0; gpu < uses.size() && gpu < std::size_t{kMaxGpus}; ++gpu) {
    if (uses[gpu].healthy && !uses[gpu].mig && untouched(uses[gpu])) set |= GpuMask{1} << gpu;
  }
  return set;
}

// As Room::made.
std::uint32_t made_on(const Gpu& gpu, int index) {
  const auto profiles = mig_profiles(gpu.product, gpu.memory_mib);
  const std::vector<MigSlot> layout = mig_layout(gpu, index);
  std::uint32_t made = 0;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const auto known = std::ranges::find(profiles, gpu.instances[i].profile, &MigProfile::name);
    if (known == profiles.end() || layout[i].size <= 0 || layout[i].start < 0) continue;
    made |= (static_cast<std::uint32_t>(known - profiles.begin()) + 1U)
            << (4U * static_cast<unsigned>(layout[i].start));
  }
  return made;
}

void set_partitions(Room& room, std::size_t gpu, const Machine* machine, const GpuUse& use) {
  room.milli[gpu] = -1;
  if (machine == nullptr || gpu >= machine->gpus.size() || !use.healthy) return;
  const Gpu& told = machine->gpus[gpu];
  room.mig_table[gpu] = static_cast<std::int8_t>(mig_table_of(told.product, told.memory_mib));
  room.used_slices[gpu] = use.used_slices;
  room.made[gpu] = told.instances.empty() ? 0 : made_on(told, static_cast<int>(gpu));
}

}  // namespace

RequestClass request_class(std::int64_t gpus, const GpuParts& parts, std::int64_t cpu_milli,
                           std::vector<std::string> products) {
  RequestClass request{.cpu_milli = cpu_milli};
  if (gpus > 0) {
    request.gpus = static_cast<std::int32_t>(std::min<std::int64_t>(gpus, kMaxGpus));
    request.milli = kWholeMilli;
  } else if (parts.gpus > 0) {
    request.gpus = std::min(parts.gpus, kMaxGpus);
    // All of a GPU's time is not yet a whole one, which a node may not give out.
    request.milli = std::min(parts.milli, kWholeMilli - 1);
    request.mib = parts.mib;
    request.memory_percent = parts.mib > 0 ? 0 : parts.memory_percent;
  } else if (!parts.mig.empty()) {
    const auto largest =
        std::ranges::max_element(parts.mig, {}, [](const MigDemand& demand) { return mig_size({}, demand.profile); });
    request.gpus = std::clamp(largest->count, 1, static_cast<std::int32_t>(kMaxSlots));
    request.mig = largest->profile;
  } else {
    return request;
  }
  request.products = std::move(products);
  std::ranges::sort(request.products);
  return request;
}

RequestMix default_mix() {
  RequestMix mix;
  for (const auto& [gpus, share] : {std::pair(1, 0.5), std::pair(2, 0.1), std::pair(4, 0.15), std::pair(8, 0.25)}) {
    mix.classes.push_back({{.cpu_milli = gpus * kDefaultCpuOfGpu, .gpus = gpus, .milli = kWholeMilli}, share});
  }
  return mix;
}

GpuMask unpromised(const NodeState& state, const Promised& promised) {
  GpuMask free = state.free & ~promised.firm_gpus;
  free &= ~likely_taken(state, free, promised.firm - count(promised.firm_gpus));
  return free & ~likely_taken(state, free, promised.soft);
}

Room room_of(const NodeState& state, const Promised& promised, const std::vector<GpuUse>* uses, const MixTable& mix) {
  Room room;
  const bool told = state.node->allocatable.basic.cpu_milli > 0;
  room.cpu_milli =
      told ? state.spare.cpu_milli - state.firm_requests.cpu_milli - state.soft_requests.cpu_milli : kPlentyCpu;
  room.product = mix.product(state.node->gpu_product);
  const std::int32_t left = std::clamp(state.gpus - state.used - promised.firm - promised.soft, 0, kMaxGpus);
  room.whole = state.free_known  ? unpromised(state, promised)
               : uses != nullptr ? lowest(untouched_gpus(*uses), left)
                                 : mask_all(left);
  room.gpus = std::clamp(uses != nullptr ? static_cast<int>(uses->size()) : state.gpus, 0, kMaxGpus);
  room.gpus = std::max(room.gpus, static_cast<int>(std::bit_width(room.whole)));
  const std::int32_t memory = as_mib(state.gpu_memory_mib());
  for (GpuMask whole = room.whole; whole != 0; whole &= whole - 1) {
    const auto gpu = static_cast<std::size_t>(std::countr_zero(whole));
    room.milli[gpu] = kWholeMilli;
    room.mib[gpu] = room.memory_mib[gpu] = memory;
  }
  if (uses == nullptr) return room;
  for (std::size_t gpu = 0; gpu < uses->size() && gpu < std::size_t{kMaxGpus}; ++gpu) {
    const GpuUse& use = (*uses)[gpu];
    if (use.mig) {
      set_partitions(room, gpu, state.machine.get(), use);
    } else if (!use.healthy) {
      room.milli[gpu] = -1;
    } else if (!untouched(use) || state.gpus == 0) {
      room.whole &= ~(GpuMask{1} << gpu);  // none is given out whole where no device plugin lists any
      room.milli[gpu] = std::clamp(kWholeMilli - use.used_milli, 0, kWholeMilli);
      room.memory_mib[gpu] = as_mib(use.memory_mib);
      room.mib[gpu] = as_mib(use.memory_mib - use.used_mib);
    } else if (contains(room.whole, static_cast<int>(gpu))) {
      room.mib[gpu] = room.memory_mib[gpu] = as_mib(use.memory_mib);
    }
  }
  return room;
}

std::shared_ptr<const PackingView> view_packing(const Snapshot& snapshot, MixTable mix, const Counting& counting) {
  auto view = std::make_shared<PackingView>();
  view->mix = std::move(mix);
  view->counting = counting;
  view->usable.resize(view->mix.size());
  std::vector<double> own(view->mix.size());
  for (Slot slot = 0; slot < snapshot.index->slots(); ++slot) {
    const NodeState& state = snapshot.at(slot);
    if (state.node == nullptr) continue;
    const Room room = room_of(state, Promised::by(state), state.uses.get(), view->mix);
    view->gpu_milli += static_cast<double>(room.gpus) * kWholeMilli;
    view->mix.usable(room, counting, own);
    for (std::size_t i = 0; i < own.size(); ++i) view->usable[i] += own[i];
  }
  view->memo = std::make_unique<CostMemo>(snapshot.index->slots());
  return view;
}

}  // namespace berth::model
