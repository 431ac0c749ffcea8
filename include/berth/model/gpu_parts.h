// What a pod asks for that is less than a whole GPU, and the table of MIG profiles.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::model {

// All of one GPU's time.
inline constexpr std::int32_t kWholeMilli = 1000;

struct MigDemand {
  std::string profile;  // "1g.5gb", as in resource nvidia.com/mig-1g.5gb
  std::int32_t count = 0;
  friend bool operator==(const MigDemand&, const MigDemand&) = default;
};

// A share of each of so many GPUs, and partitions.
struct GpuParts {
  std::int32_t gpus = 0;            // GPUs of which it wants a share; 0: no share
  std::int64_t mib = 0;             // of each one's memory; 0: as memory_percent says
  std::int32_t memory_percent = 0;  // of each one's memory, where mib is 0
  std::int32_t milli = 0;           // thousandths of each one's time
  std::vector<MigDemand> mig = {};  // by profile, each once
  // Its containers want shares of different sizes, or whole GPUs beside shares: what this can't say. The numbers are
  // then bounds from above.
  bool uneven = false;

  [[nodiscard]] bool any() const { return gpus > 0 || !mig.empty(); }
  friend bool operator==(const GpuParts&, const GpuParts&) = default;
};

// Where partitions of one profile may begin on a GPU, in memory slices (8 on A100, H100 and newer; 4 on A30).
struct MigProfile {
  std::string_view name;                // "3g.40gb"
  std::int8_t size = 0;                 // memory slices
  std::span<const std::int8_t> starts;  // ascending
};
// The profiles of a GPU of this product (label nvidia.com/gpu.product) with this much memory; empty for one that can't
// be partitioned or is not known. Source: NVIDIA's MIG user guide, "Supported MIG profiles" (docs/gpu-topology.md).
std::span<const MigProfile> mig_profiles(std::string_view product, std::int64_t memory_mib);
// The same by number, which fits in a byte: 1 to kMigTables, 0 for a GPU that can't be partitioned or is not known. The
// last profile of a table is the whole GPU.
inline constexpr int kMigTables = 7;
int mig_table_of(std::string_view product, std::int64_t memory_mib);
std::span<const MigProfile> mig_table(int number);

// The start at which a partition of `profile` costs the least on a GPU whose memory slices in `used` (bit i: slice i)
// are taken: the one that leaves the most of the larger profiles possible, then the highest start. nullopt if none is
// free.
std::optional<std::int8_t> best_mig_start(std::span<const MigProfile> profiles, std::string_view profile,
                                          std::uint8_t used);

}  // namespace berth::model
