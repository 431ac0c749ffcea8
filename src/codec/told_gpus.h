// What readers of GPUs told by others have in common.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/machine.h"
#include "berth/model/pod.h"
#include "json_fields.h"
#include "text_lines.h"

namespace berth::codec {

inline constexpr std::size_t kLongestGpuName = 128;
inline constexpr std::size_t kMostDevices = 1024;  // that are looked at in one object

// A name of bounded length; longer ones are wrong.
std::string short_name(const Field& field, Reading& reading);
// A product as GPU-feature-discovery writes it into nvidia.com/gpu.product: dashes for blanks.
std::string product_label(std::string_view name);
// NUMA nodes are 0 to 127; -1 for anything else.
std::int8_t numa_node(std::int64_t number);
std::int64_t mib_of(std::int64_t bytes);

// By index, those in between that nobody tells of unhealthy; empty for none and if one is kMaxGpus or more.
std::vector<model::Gpu> by_index(std::map<std::int64_t, model::Gpu> gpus);

// True if GPUs of this product have NVLink: it says SXM, or the table of machine shapes has it so.
bool has_nvlink(std::string_view product, int gpus);

// Adds to the claim on the same GPU, or appends one.
void add_claim(std::vector<model::DeviceClaim>& claims, model::DeviceClaim claim);

}  // namespace berth::codec
