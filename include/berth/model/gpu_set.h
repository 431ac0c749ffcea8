// Sets of the GPUs of one node, by index.
//
// Thread-safe: plain values.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

namespace berth::model {

// More GPUs on one node than this are counted but not told apart.
inline constexpr int kMaxGpus = 16;

// Bit i stands for GPU i; only the low 16 are used.
using GpuMask = std::uint32_t;

constexpr int count(GpuMask mask) { return std::popcount(mask); }
constexpr GpuMask mask_all(int gpus) { return (GpuMask{1} << gpus) - 1; }
constexpr bool contains(GpuMask mask, int gpu) { return ((mask >> gpu) & 1U) != 0; }
constexpr GpuMask mask(std::initializer_list<int> gpus) {
  GpuMask set = 0;
  for (const int gpu : gpus) set |= GpuMask{1} << gpu;
  return set;
}
// The GPUs of `of` with the lowest indices, so many or all.
constexpr GpuMask lowest(GpuMask of, int gpus) {
  GpuMask set = 0;
  for (; gpus > 0 && of != 0; --gpus, of &= of - 1) set |= of & (~of + 1);
  return set;
}
// True if the ascending list of a's indices comes before that of b, both of the same size.
constexpr bool lower_indices(GpuMask a, GpuMask b) {
  const GpuMask differing = a ^ b;
  return (a & differing & (~differing + 1)) != 0;
}

}  // namespace berth::model
