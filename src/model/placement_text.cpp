#include "berth/model/placement_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

namespace berth::model {
namespace {

constexpr int kSlices = 8;  // of memory, on one GPU

// Takes a number from 0 to `most` off the front of `text`.
std::optional<int> take_number(std::string_view& text, int most) {
  int value = 0;
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > most || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  return value;
}

bool take(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<MigSlot> take_slot(std::string_view& text) {
  const auto gpu = take_number(text, kMaxGpus - 1);
  if (!gpu || !take(text, ':')) return std::nullopt;
  const auto start = take_number(text, kSlices - 1);
  if (!start || !take(text, ':')) return std::nullopt;
  const auto size = take_number(text, kSlices - *start);
  if (!size || *size == 0) return std::nullopt;
  return MigSlot{static_cast<std::int8_t>(*gpu), static_cast<std::int8_t>(*start), static_cast<std::int8_t>(*size)};
}

}  // namespace

std::optional<GpuMask> parse_gpu_list(std::string_view text) {
  GpuMask set = 0;
  do {
    const auto gpu = text.empty() ? std::nullopt : take_number(text, kMaxGpus - 1);
    if (!gpu || contains(set, *gpu)) return std::nullopt;
    set |= GpuMask{1} << *gpu;
  } while (take(text, ','));
  return text.empty() ? std::optional(set) : std::nullopt;
}

std::string write_gpu_list(GpuMask gpus) {
  std::string text;
  for (int gpu = 0; gpu < kMaxGpus; ++gpu) {
    if (!contains(gpus, gpu)) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(gpu);
  }
  return text;
}

std::optional<std::vector<MigSlot>> parse_mig_slots(std::string_view text) {
  std::vector<MigSlot> slots;
  std::array<unsigned, kMaxGpus> taken{};
  do {
    const auto slot = text.empty() ? std::nullopt : take_slot(text);
    if (!slot) return std::nullopt;
    const unsigned slices = ((1U << static_cast<unsigned>(slot->size)) - 1) << static_cast<unsigned>(slot->start);
    unsigned& used = taken[static_cast<std::size_t>(slot->gpu)];
    if ((used & slices) != 0) return std::nullopt;
    used |= slices;
    slots.push_back(*slot);
  } while (take(text, ','));
  if (!text.empty()) return std::nullopt;
  std::ranges::sort(slots, {}, [](const MigSlot& slot) { return std::tuple(slot.gpu, slot.start); });
  return slots;
}

std::string write_mig_slots(const std::vector<MigSlot>& slots) {
  std::string text;
  for (const MigSlot& slot : slots) {
    if (!text.empty()) text += ',';
    text += std::to_string(slot.gpu) + ':' + std::to_string(slot.start) + ':' + std::to_string(slot.size);
  }
  return text;
}

}  // namespace berth::model
