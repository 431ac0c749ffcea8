// MIG profiles. Source: NVIDIA's MIG user guide, "Supported MIG profiles"; docs/gpu-topology.md, "MIG".
#include "berth/model/gpu_parts.h"

#include <array>
#include <utility>

#include "berth/model/part_placement.h"
#include "product_text.h"

namespace berth::model {
namespace {

constexpr std::array<std::int8_t, 7> kOneSlice = {0, 1, 2, 3, 4, 5, 6};
constexpr std::array<std::int8_t, 4> kWideSlice = {0, 2, 4, 6};
constexpr std::array<std::int8_t, 3> kTwoSlices = {0, 2, 4};
constexpr std::array<std::int8_t, 2> kHalf = {0, 4};
constexpr std::array<std::int8_t, 1> kFirst = {0};
// A GPU has one set of media engines: one partition with them. It is made where a small one costs the least.
constexpr std::array<std::int8_t, 1> kMediaSlice = {6};

using Seven = std::array<MigProfile, 7>;

// GPUs with seven compute and eight memory slices differ in the names alone.
constexpr Seven seven(std::array<std::string_view, 7> names) {
  return {MigProfile{names[0], 1, kOneSlice},  {names[1], 1, kMediaSlice}, {names[2], 2, kWideSlice},
          MigProfile{names[3], 2, kTwoSlices}, {names[4], 4, kHalf},       {names[5], 4, kFirst},
          MigProfile{names[6], 8, kFirst}};
}

constexpr Seven kOf40 = seven({"1g.5gb", "1g.5gb.me", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"});
constexpr Seven kOf80 = seven({"1g.10gb", "1g.10gb.me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"});
constexpr Seven kOf94 = seven({"1g.12gb", "1g.12gb.me", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"});
constexpr Seven kOf96 = seven({"1g.12gb", "1g.12gb.me", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"});
constexpr Seven kOf141 = seven({"1g.18gb", "1g.18gb.me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"});
constexpr Seven kOf180 = seven({"1g.23gb", "1g.23gb.me", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"});

constexpr std::array<std::int8_t, 4> kA30One = {0, 1, 2, 3};
constexpr std::array<std::int8_t, 1> kA30Media = {3};
constexpr std::array<std::int8_t, 2> kA30Two = {0, 2};
constexpr std::array<std::int8_t, 1> kA30TwoMedia = {2};
constexpr std::array kOfA30 = {MigProfile{"1g.6gb", 1, kA30One}, MigProfile{"1g.6gb.me", 1, kA30Media},
                               MigProfile{"2g.12gb", 2, kA30Two}, MigProfile{"2g.12gb.me", 2, kA30TwoMedia},
                               MigProfile{"4g.24gb", 4, kFirst}};

enum TableNumber : int { kA30 = 1, k40, k80, k94, k96, k141, k180 };

bool overlaps(std::uint8_t used, int start, int size) { return (used & slice_mask(start, size)) != 0; }

// Places left for larger partitions when `used` is taken.
int places_left(std::span<const MigProfile> profiles, int size, std::uint8_t used) {
  int places = 0;
  for (const MigProfile& other : profiles) {
    // One with media engines stands where one without could.
    if (other.size <= size || other.name.ends_with(".me")) continue;
    for (const std::int8_t start : other.starts) places += overlaps(used, start, other.size) ? 0 : 1;
  }
  return places;
}

}  // namespace

int mig_table_of(std::string_view product, std::int64_t memory_mib) {
  constexpr std::int64_t kGib = 1024;
  if (has(product, "A30") && !has(product, "A300")) return kA30;
  const bool hopper = has(product, "H100") || has(product, "H800") || has(product, "H200") || has(product, "GH200");
  const bool ampere = has(product, "A100") || has(product, "A800");
  const bool blackwell = has(product, "B200") || has(product, "B100");
  if (!hopper && !ampere && !blackwell) return 0;
  // Of the bytes that a product's name says, some hundred MiB are the driver's.
  if (memory_mib <= 0) return 0;
  if (ampere && memory_mib <= 41 * kGib) return k40;
  if (memory_mib <= 82 * kGib) return k80;
  if (hopper && memory_mib <= 94 * kGib) return k94;
  if (hopper && memory_mib <= 97 * kGib) return k96;
  if (hopper && memory_mib <= 142 * kGib) return k141;
  return blackwell ? k180 : 0;
}

std::span<const MigProfile> mig_table(int number) {
  switch (number) {
    case kA30:
      return kOfA30;
    case k40:
      return kOf40;
    case k80:
      return kOf80;
    case k94:
      return kOf94;
    case k96:
      return kOf96;
    case k141:
      return kOf141;
    case k180:
      return kOf180;
    default:
      return {};
  }
}

std::span<const MigProfile> mig_profiles(std::string_view product, std::int64_t memory_mib) {
  return mig_table(mig_table_of(product, memory_mib));
}

std::optional<std::int8_t> best_mig_start(std::span<const MigProfile> profiles, std::string_view profile,
                                          std::uint8_t used) {
  std::optional<std::int8_t> best;
  int most_left = -1;
  for (const MigProfile& one : profiles) {
    if (one.name != profile) continue;
    for (const std::int8_t start : one.starts) {
      if (overlaps(used, start, one.size)) continue;
      const int left = places_left(profiles, one.size, used | slice_mask(start, one.size));
      if (left < most_left) continue;
      most_left = left;
      best = start;
    }
  }
  return best;
}

}  // namespace berth::model
