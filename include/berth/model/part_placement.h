// Where shares and partitions of GPUs go on one node.
//
// A share goes to the GPU on which it leaves the least: one that has shares already before a fresh one, and of fresh
// ones to that which leaves the best sets. A partition goes to the GPU with the most partitions, at the slot that keeps
// the larger profiles possible (best_mig_start()), or where partitions are made beforehand to one of its profile.
//
// Thread-safe: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/model/gpu_parts.h"
#include "berth/model/gpu_set.h"
#include "berth/model/machine.h"
#include "berth/model/snapshot.h"

namespace berth::model {

// Seven of the smallest partitions on each of sixteen GPUs.
inline constexpr std::size_t kMaxSlots = 112;

struct PartPlacement {
  GpuMask gpus = 0;  // of which it gets a share
  std::array<MigSlot, kMaxSlots> slots{};
  std::size_t slot_count = 0;
  GpuMask fresh = 0;  // GPUs, of shares or partitions, of which nothing was used before

  [[nodiscard]] std::span<const MigSlot> taken() const { return {slots.data(), slot_count}; }
  [[nodiscard]] GpuPlacement placement() const;
};

// What of one GPU's memory the share takes; it does not fit where more than 0 is asked of memory that is not known.
std::int64_t share_mib(const GpuParts& parts, std::int64_t memory_mib);
// Whether one more such share fits on a GPU that is used like that.
bool share_fits(const GpuParts& parts, const GpuUse& use);

// nullopt if the parts don't fit on the GPUs used like `uses` (by index). `machine` tells of partitions, `shape` of
// sets; both may be null. Without a machine nothing is known of partitions, and they are left to kubelet.
std::optional<PartPlacement> place_parts(const GpuParts& parts, std::span<const GpuUse> uses, const Machine* machine,
                                         const GpuShape* shape);
// Whether nothing is used of the GPU.
bool untouched(const GpuUse& use);
// A GPU that a pod holds whole.
void count_whole(GpuUse& use);

// Counts parts placed like that, or takes them back with `sign` -1. Indices that are not there are passed over.
void count_parts(const GpuParts& parts, const GpuPlacement& placement, std::span<GpuUse> uses, int sign = 1);

// The partitions that exist on a GPU, each with its place; those whose start nobody tells are laid out the largest
// first. Empty where partitions are made on demand.
std::vector<MigSlot> mig_layout(const Gpu& gpu, int index);
// Memory slices of a partition: by the table, else by its name ("3g.20gb": 4); 0 for what is no profile.
int mig_size(std::span<const MigProfile> profiles, std::string_view profile);
// Bits of the memory slices.
std::uint8_t slice_mask(int start, int size);

}  // namespace berth::model
