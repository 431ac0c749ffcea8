#include "told_gpus.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace berth::codec {

std::string short_name(const Field& field, Reading& reading) {
  const std::string_view name = text(field, reading);
  if (name.size() > kLongestGpuName) {
    reading.fail("is longer than " + std::to_string(kLongestGpuName) + " bytes", field.name);
    return {};
  }
  return std::string(name);
}

std::string product_label(std::string_view name) {
  std::string label(name);
  std::replace(label.begin(), label.end(), ' ', '-');
  return label;
}

std::int8_t numa_node(std::int64_t number) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int8_t>::max();
  return number >= 0 && number <= kMost ? static_cast<std::int8_t>(number) : std::int8_t{-1};
}

std::int64_t mib_of(std::int64_t bytes) { return std::max(bytes, std::int64_t{0}) >> 20U; }

std::vector<model::Gpu> by_index(std::map<std::int64_t, model::Gpu> gpus) {
  if (gpus.empty() || gpus.begin()->first < 0 || gpus.rbegin()->first >= model::kMaxGpus) return {};
  const auto size = static_cast<std::size_t>(gpus.rbegin()->first) + 1;
  std::vector<model::Gpu> all(size,
                              model::Gpu{.uuid = {}, .product = {}, .healthy = false, .pcie = {}, .instances = {}});
  for (auto& [index, gpu] : gpus) all[static_cast<std::size_t>(index)] = std::move(gpu);
  return all;
}

bool has_nvlink(std::string_view product, int gpus) {
  if (product.find("SXM") != std::string_view::npos) return true;
  const auto shape = model::find_shape(product, gpus);
  if (shape == nullptr || gpus < 2) return false;
  for (int other = 1; other < gpus; ++other) {
    if (model::is_nvlink(shape->links.at(0, other))) return true;
  }
  return false;
}

void add_claim(std::vector<model::DeviceClaim>& claims, model::DeviceClaim claim) {
  const auto same = [&claim](const model::DeviceClaim& one) {
    return one.uuid == claim.uuid && one.index == claim.index && one.source == claim.source;
  };
  const auto known = std::ranges::find_if(claims, same);
  if (known == claims.end()) {
    claims.push_back(std::move(claim));
    return;
  }
  // Far above what a GPU has, and small enough that sums can't overflow, however many containers there are.
  constexpr std::int64_t kMostMib = std::int64_t{1} << 40U;
  constexpr std::int32_t kMostMilli = 1 << 20;
  known->mib = std::min(known->mib + claim.mib, kMostMib);
  known->milli = std::min(known->milli + claim.milli, kMostMilli);
}

}  // namespace berth::codec
