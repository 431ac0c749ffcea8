// The annotations in which Bind writes which GPUs a pod gets, and from which a restart knows it again.
//
// berth.io/gpus: "0,1,2,3", indices as nvidia-smi has them. berth.io/mig-slots: "GPU:START:SIZE,...", in memory slices.
//
// Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/gpu_set.h"
#include "berth/model/machine.h"

namespace berth::model {

inline constexpr std::string_view kGpusKey = "berth.io/gpus";
inline constexpr std::string_view kMigSlotsKey = "berth.io/mig-slots";

// nullopt for anything else than a list, for an index of kMaxGpus or more and for one that is named twice.
std::optional<GpuMask> parse_gpu_list(std::string_view text);
std::string write_gpu_list(GpuMask gpus);  // ascending; empty for none

// By GPU and start. nullopt for anything else than a list, for a slot beyond the eight slices of a GPU and for slots
// that overlap.
std::optional<std::vector<MigSlot>> parse_mig_slots(std::string_view text);
std::string write_mig_slots(const std::vector<MigSlot>& slots);

}  // namespace berth::model
