#include "gpu_account.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "berth/model/part_placement.h"

namespace berth::state {

using model::FreeSource;
using model::GpuMask;
using model::GpuPlacement;

std::int32_t gpu_count(std::int64_t value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  return static_cast<std::int32_t>(std::clamp(value, std::int64_t{0}, kMost));
}

namespace {

constexpr std::int64_t kMostMib = std::int64_t{1} << 40;  // sums can't overflow

GpuMask bit(std::size_t gpu) { return GpuMask{1} << gpu; }

}  // namespace

void GpuAccount::set_capacity(std::shared_ptr<const model::Node> node, std::shared_ptr<const model::GpuShape> shape,
                              std::shared_ptr<const model::Machine> machine) {
  node_ = std::move(node);
  machine_ =
      machine && !machine->gpus.empty() && machine->gpus.size() <= model::kMaxGpus ? std::move(machine) : nullptr;
  shape_ = std::move(shape);
  dirty_ = true;
  read_gpus();
  // A node that loses its shape for a while (a GPU drops out, the node is gone) finds its pods as they were.
  if (shape_ == nullptr || shape_ == handed_for_) return;
  handed_for_ = shape_;
  for (Held& held : held_) held.kept = {};
}

void GpuAccount::read_gpus() {
  gpu_.clear();
  whole_ = 0;
  alike_ = true;
  doubtful_ = false;
  const std::int32_t handed_out = gpu_count(node_->gpus);
  gpus_ = handed_out;
  if (machine_) {
    for (const model::Gpu& gpu : machine_->gpus) {
      const std::int64_t memory = gpu.memory_mib > 0 ? gpu.memory_mib : node_->gpu_memory_mib;
      gpu_.push_back({.memory_mib = memory, .mig = gpu.mig, .healthy = gpu.healthy});
      const bool whole = gpu.healthy && !gpu.mig;
      if (whole) whole_ |= bit(gpu_.size() - 1);
      alike_ = alike_ && whole && memory == gpu_.front().memory_mib && gpu.product == machine_->gpus.front().product;
    }
    doubtful_ = handed_out > 0 && handed_out < model::count(whole_);
    gpus_ = std::min(handed_out, model::count(whole_));
  } else {
    const std::int32_t there = gpu_count(node_->gpu_count);
    doubtful_ = handed_out > 0 && handed_out < there;
    const std::int32_t gpus = doubtful_ || handed_out == 0 ? there : handed_out;
    if (gpus > model::kMaxGpus) return;
    gpu_.assign(static_cast<std::size_t>(gpus), {.memory_mib = node_->gpu_memory_mib});
    whole_ = model::mask_all(gpus);
  }
  // GPUs that no device plugin hands out whole are there for shares alone.
  if (handed_out == 0) whole_ = 0;
  const bool of_this_size = shape_ && static_cast<std::size_t>(shape_->table.gpus()) == gpu_.size();
  if (!of_this_size) shape_ = nullptr;
}

bool GpuAccount::put(const Holder& holder) {
  auto found = std::ranges::find(held_, holder.uid, [](const Held& held) { return held.holder.uid; });
  if (found == held_.end()) {
    found = held_.emplace(held_.end());
  } else {
    if (found->holder == holder) return false;
    const model::Occupant& pod = found->holder.pod;
    if (pod.gpus != holder.pod.gpus || pod.parts != holder.pod.parts) found->kept = {};
  }
  found->holder = holder;
  found->parts = holder.pod.parts;
  // A pod that wants both is not let in by us; of one that came another way the shares count as whole GPUs.
  found->whole = holder.pod.gpus;
  if (found->whole > 0) found->whole = gpu_count(std::int64_t{found->whole} + std::exchange(found->parts.gpus, 0));
  dirty_ = true;
  return true;
}

void GpuAccount::remove(const std::string* uid) {
  const auto found = std::ranges::find(held_, uid, [](const Held& held) { return held.holder.uid; });
  if (found == held_.end()) return;
  *found = std::move(held_.back());
  held_.pop_back();
  dirty_ = true;
}

void GpuAccount::promise(Promise promise) {
  const auto at = std::ranges::lower_bound(promises_, promise.uid, {}, &Promise::uid);
  if (at != promises_.end() && at->uid == promise.uid) {
    *at = std::move(promise);
  } else {
    promises_.insert(at, std::move(promise));
  }
}

void GpuAccount::withdraw(std::string_view uid) {
  std::erase_if(promises_, [&](const Promise& promise) { return promise.uid == uid; });
}

std::vector<GpuAccount::Held*> GpuAccount::by_age() {
  std::vector<Held*> all;
  all.reserve(held_.size());
  for (Held& held : held_) all.push_back(&held);
  std::ranges::sort(all, [](const Held* a, const Held* b) {
    return std::forward_as_tuple(a->holder.created, *a->holder.uid) <
           std::forward_as_tuple(b->holder.created, *b->holder.uid);
  });
  return all;
}

void GpuAccount::settle() {
  if (!dirty_) return;
  used_ = gpu_;
  held_whole_ = held_part_ = 0;
  blind_ = overfull_ = parts_ = false;
  source_ = node_ && node_->holders ? FreeSource::kAgent : held_.empty() ? FreeSource::kModelled : FreeSource::kAgent;
  const std::vector<Held*> all = by_age();
  for (Held* held : all) {
    held->placed = {};
    held->source = FreeSource::kUnknown;
    const GpuPlacement* const told = told_too_early(*held) ? nullptr : told_by_agent(*held);
    if (told != nullptr) take(*held, *told, FreeSource::kAgent);
  }
  const auto others = [&](auto&& settle_one) {
    for (Held* held : all) {
      if (held->source == FreeSource::kUnknown) settle_one(*held);
    }
  };
  others([&](Held& held) {
    GpuPlacement told = told_by_devices(held);
    if (told.empty()) return;
    take(held, std::move(told), FreeSource::kAnnotations);
    if (held.whole == 0) count_devices(held);
  });
  others([&](Held& held) {
    if (fits(held, held.holder.claim)) take(held, held.holder.claim, FreeSource::kAnnotations);
  });
  others([&](Held& held) {
    const GpuPlacement* const told = told_by_agent(held);
    if (told != nullptr && fits(held, *told)) take(held, *told, FreeSource::kAgent);
  });
  others([&](Held& held) {
    if (fits(held, held.kept)) take(held, held.kept, FreeSource::kModelled);
  });
  others([&](Held& held) { hand_out(held); });
  for (const Held* held : all) {
    // Partitions of GPUs that nobody tells apart leave open only themselves.
    const bool of_gpus = held->whole > 0 || held->parts.gpus > 0;
    if (of_gpus || !held->placed.empty()) source_ = std::max(source_, held->source);
  }
  dirty_ = false;  // at the end: where memory fails on the way, the next call begins anew
}

const GpuPlacement* GpuAccount::told_by_agent(const Held& held) const {
  if (!node_ || !node_->holders || gpu_.empty()) return nullptr;
  const auto key = std::forward_as_tuple(held.holder.pod.ns, held.holder.pod.name);
  const auto& pods = node_->holders->pods;
  const auto found = std::ranges::lower_bound(
      pods, key, {}, [](const model::GpuHolder& pod) { return std::forward_as_tuple(pod.ns, pod.pod); });
  if (found == pods.end() || std::forward_as_tuple(found->ns, found->pod) != key || found->holds.empty())
    return nullptr;
  const auto here = [this](const model::MigSlot& slot) {
    return slot.gpu >= 0 && static_cast<std::size_t>(slot.gpu) < gpu_.size();
  };
  const bool in_range = (found->holds.gpus & ~model::mask_all(static_cast<int>(gpu_.size()))) == 0;
  return in_range && std::ranges::all_of(found->holds.slots, here) ? &found->holds : nullptr;
}

// Controllers give the name of a pod that is gone to the next one, which the agent has not seen yet, or has with the
// same GPUs.
bool GpuAccount::told_too_early(const Held& held) const {
  return node_ && node_->holders && node_->holders->at != core::WallTime{} && node_->holders->at < held.holder.created;
}

// As many as there are if it is none of them.
std::size_t GpuAccount::index_of(const model::DeviceClaim& device) const {
  if (device.uuid.empty()) return device.index >= 0 ? static_cast<std::size_t>(device.index) : gpu_.size();
  std::size_t gpu = machine_ ? 0 : gpu_.size();
  while (gpu < gpu_.size() && machine_->gpus[gpu].uuid != device.uuid) ++gpu;
  return gpu;
}

// What another scheduler handed out counts even where it goes beyond a GPU's memory, which HAMi can be told to do.
GpuPlacement GpuAccount::told_by_devices(const Held& held) const {
  GpuPlacement told;
  const GpuMask barred = held.whole > 0 ? held_whole_ | held_part_ : held_whole_;
  for (const model::DeviceClaim& device : held.holder.devices) {
    const std::size_t gpu = index_of(device);
    if (gpu >= gpu_.size() || gpu_[gpu].mig || (barred & bit(gpu)) != 0) return {};
    told.gpus |= bit(gpu);
  }
  return told;
}

// Puts what the annotation says of each GPU in the place of what the pod asks for, which may differ by container.
void GpuAccount::count_devices(const Held& held) {
  const auto& devices = held.holder.devices;
  if (std::ranges::any_of(devices, [](const model::DeviceClaim& device) { return device.mib <= 0; })) return;
  model::count_parts(held.parts, held.placed, used_, -1);
  for (const model::DeviceClaim& device : devices) {
    model::GpuUse& use = used_[index_of(device)];
    use.used_mib += std::min(device.mib, kMostMib);
    use.used_milli += std::clamp(device.milli, 0, model::kWholeMilli);
  }
}

bool GpuAccount::fits(const Held& held, const GpuPlacement& placement) const {
  const GpuMask wanted = placement.gpus;
  if (placement.empty() || (wanted & ~model::mask_all(static_cast<int>(gpu_.size()))) != 0) return false;
  if (model::count(wanted) != (held.whole > 0 ? held.whole : held.parts.gpus)) return false;
  for (std::size_t gpu = 0; gpu < gpu_.size(); ++gpu) {
    if ((wanted & bit(gpu)) == 0) continue;
    // A GPU that has failed under its pod is still the pod's.
    model::GpuUse use = used_[gpu];
    use.healthy = true;
    if (use.mig || (held_whole_ & bit(gpu)) != 0) return false;
    if (held.whole > 0 ? !model::untouched(use) : !model::share_fits(held.parts, use)) return false;
  }
  std::vector<model::MigDemand> left = held.parts.mig;
  std::vector<std::uint8_t> taken(gpu_.size());
  for (const model::MigSlot& slot : placement.slots) {
    const auto gpu = static_cast<std::size_t>(slot.gpu);
    if (slot.gpu < 0 || gpu >= gpu_.size() || !gpu_[gpu].mig || !machine_) return false;
    const std::uint8_t slices = model::slice_mask(slot.start, slot.size);
    if (slices == 0 || ((used_[gpu].used_slices | taken[gpu]) & slices) != 0) return false;
    taken[gpu] |= slices;
    const model::Gpu& on = machine_->gpus[gpu];
    const auto profiles = model::mig_profiles(on.product, on.memory_mib);
    const auto one = std::ranges::find_if(left, [&](const model::MigDemand& demand) {
      return demand.count > 0 && model::mig_size(profiles, demand.profile) == slot.size;
    });
    if (one == left.end()) return false;
    --one->count;
  }
  return std::ranges::all_of(left, [](const model::MigDemand& demand) { return demand.count == 0; });
}

void GpuAccount::take(Held& held, GpuPlacement placement, FreeSource source) {
  held.placed = std::move(placement);
  held.source = source;
  if (held.whole > 0) {
    held_whole_ |= held.placed.gpus;
    for (std::size_t gpu = 0; gpu < used_.size(); ++gpu) {
      if ((held.placed.gpus & bit(gpu)) != 0) model::count_whole(used_[gpu]);
    }
  } else {
    held_part_ |= held.placed.gpus;
    parts_ = parts_ || held.placed.gpus != 0;
  }
  parts_ = parts_ || !held.placed.slots.empty();
  model::count_parts(held.parts, held.placed, used_);
  // What the modelled plugin gives whole on a machine whose links are not known is not worth remembering.
  if (source == FreeSource::kModelled && (held.whole == 0 || shape_)) held.kept = held.placed;
}

void GpuAccount::hand_out(Held& held) {
  GpuPlacement placement;
  if (held.whole > 0) {
    const GpuMask left = whole_ & ~held_whole_ & ~held_part_;
    if (gpu_.empty() || model::count(left) < held.whole) {
      overfull_ = true;
      return;
    }
    placement.gpus = shape_ ? shape_->table.best(left, held.whole).value_or(0) : model::lowest(left, held.whole);
    blind_ = blind_ || !shape_;
  }
  if (held.parts.any()) {
    if (const auto placed = model::place_parts(held.parts, used_, machine_.get(), shape_.get())) {
      placement.gpus |= placed->gpus;
      placement.slots.assign(placed->taken().begin(), placed->taken().end());
    } else if (held.parts.gpus > 0) {
      placement.gpus = crowded(held);
      overfull_ = overfull_ || placement.gpus == 0;
    }
  }
  if (!placement.empty()) take(held, std::move(placement), FreeSource::kModelled);
}

// For a share that fits nowhere and yet is there: the GPUs with the most memory left.
GpuMask GpuAccount::crowded(const Held& held) const {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t gpu = 0; gpu < used_.size(); ++gpu) {
    const model::GpuUse& use = used_[gpu];
    if (use.mig || !use.healthy || (held_whole_ & bit(gpu)) != 0) continue;
    order.emplace_back(use.used_mib - use.memory_mib, gpu);
  }
  if (order.size() < static_cast<std::size_t>(held.parts.gpus)) return 0;
  std::ranges::sort(order);
  GpuMask set = 0;
  for (std::int32_t i = 0; i < held.parts.gpus; ++i) set |= bit(order[static_cast<std::size_t>(i)].second);
  return set;
}

}  // namespace berth::state
