#include "pod_parts.h"

#include <algorithm>
#include <limits>
#include <string>

namespace berth::codec {
namespace {

using model::ShareUnit;

// Beyond any machine, and small enough that sums can't overflow.
constexpr std::int64_t kMostPart = std::int64_t{1} << 40;
constexpr std::int64_t kMostCount = std::int64_t{1} << 20;

struct Amount {
  ShareUnit unit = ShareUnit::kMib;  // MiB, per cent of memory, or thousandths
  std::int64_t value = 0;
};

Amount in_base_unit(ShareUnit unit, std::int64_t value) {
  constexpr std::int64_t kMibPerGib = 1024;
  constexpr std::int64_t kBytesPerMib = 1 << 20;
  constexpr std::int64_t kMilliPerPercent = 10;
  if (unit == ShareUnit::kBytes) return {ShareUnit::kMib, value / kBytesPerMib + (value % kBytesPerMib != 0 ? 1 : 0)};
  value = std::min(value, kMostPart);
  if (unit == ShareUnit::kGib) return {ShareUnit::kMib, value * kMibPerGib};
  if (unit == ShareUnit::kPercent) return {ShareUnit::kMilli, value * kMilliPerPercent};
  return {unit, value};
}

void put(model::GpuParts& parts, Amount amount) {
  const auto count = static_cast<std::int32_t>(std::min(amount.value, kMostCount));
  if (amount.unit == ShareUnit::kMib) parts.mib = std::max(parts.mib, std::min(amount.value, kMostPart));
  if (amount.unit == ShareUnit::kMemoryPercent) parts.memory_percent = std::max(parts.memory_percent, count);
  if (amount.unit == ShareUnit::kMilli) parts.milli = std::max(parts.milli, count);
}

bool takes_any(const model::GpuParts& parts) { return parts.mib > 0 || parts.memory_percent > 0 || parts.milli > 0; }

}  // namespace

std::int64_t PartCount::add_container(const Container& container) {
  return add(container.gpus, container.parts, Role::kContainer);
}

std::int64_t PartCount::add_init_container(const Container& container) {
  return add(container.gpus, container.parts, container.restarts ? Role::kSidecar : Role::kInitContainer);
}

std::int64_t PartCount::add_overhead(const GpuAmounts& amounts) {
  return add(amounts.gpus.value_or(0), amounts.parts, Role::kOverhead);
}

void PartCount::add(GpuCount& count, std::int64_t amount, Role role) {
  if (role == Role::kContainer) return count.add_container(amount);
  if (role == Role::kOverhead) return count.add_overhead(amount);
  count.add_init_container(amount, role == Role::kSidecar);
}

bool PartCount::has_room(std::size_t kinds) {
  if (kinds < kMostParts) return true;
  reading_.fail("asks for more than " + std::to_string(kMostParts) + " different parts of GPUs");
  return false;
}

std::int64_t PartCount::add(std::int64_t gpus, const std::vector<PartAmount>& parts, Role role) {
  if (parts.empty()) return gpus;
  model::GpuParts of_each;
  for (const PartAmount& part : parts) {
    if (part.share == nullptr) {
      auto found = std::find_if(partitions_.begin(), partitions_.end(),
                                [&](const Partitions& one) { return one.profile == part.profile; });
      if (found == partitions_.end()) {
        if (!has_room(partitions_.size())) return gpus;
        partitions_.push_back({part.profile, GpuCount(reading_)});
        found = partitions_.end() - 1;
      }
      add(found->count, part.amount, role);
      continue;
    }
    const Amount amount = in_base_unit(part.share->unit, part.amount);
    if (part.share->of_each) {
      put(of_each, amount);
      continue;
    }
    auto found = std::find_if(one_.begin(), one_.end(), [&](const auto& one) { return one.first == amount.unit; });
    if (found == one_.end()) {
      one_.emplace_back(amount.unit, GpuCount(reading_));
      found = one_.end() - 1;
    }
    add(found->second, amount.value, role);
  }
  if (!takes_any(of_each)) return gpus;
  if (of_each.mib > 0) of_each.memory_percent = 0;  // HAMi looks at the amount first
  if (of_each.mib == 0 && of_each.memory_percent == 0) of_each.memory_percent = 100;
  auto found = std::find_if(each_.begin(), each_.end(), [&](const Share& one) { return one.of == of_each; });
  if (found == each_.end()) {
    if (!has_room(each_.size())) return 0;
    each_.push_back({of_each, GpuCount(reading_)});
    found = each_.end() - 1;
  }
  add(found->gpus, std::max<std::int64_t>(gpus, 1), role);
  return 0;
}

model::GpuParts PartCount::total(std::int64_t whole) {
  model::GpuParts total;
  std::int64_t gpus = 0;
  int kinds = 0;
  for (Share& share : each_) {
    const std::int64_t of = std::min(share.gpus.total(), kMostCount);
    if (of == 0) continue;
    ++kinds;
    gpus += of;
    put(total, {ShareUnit::kMib, share.of.mib});
    put(total, {ShareUnit::kMemoryPercent, share.of.memory_percent});
    put(total, {ShareUnit::kMilli, share.of.milli});
  }
  model::GpuParts of_one;
  for (auto& [unit, count] : one_) put(of_one, {unit, count.total()});
  if (takes_any(of_one)) {
    ++kinds;
    ++gpus;
    put(total, {ShareUnit::kMib, of_one.mib});
    put(total, {ShareUnit::kMemoryPercent, of_one.memory_percent});
    put(total, {ShareUnit::kMilli, of_one.milli});
  }
  total.gpus = static_cast<std::int32_t>(std::min(gpus, kMostCount));
  total.uneven = kinds > 1 || (kinds > 0 && whole > 0);
  for (Partitions& one : partitions_) {
    const auto count = static_cast<std::int32_t>(std::min(one.count.total(), kMostCount));
    if (count > 0) total.mig.push_back({std::string(one.profile), count});
  }
  std::sort(total.mig.begin(), total.mig.end(),
            [](const model::MigDemand& a, const model::MigDemand& b) { return a.profile < b.profile; });
  return total;
}

}  // namespace berth::codec
