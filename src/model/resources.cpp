#include "berth/model/resources.h"

#include <algorithm>

namespace berth::model {

BasicResources& BasicResources::operator+=(const BasicResources& other) {
  cpu_milli += other.cpu_milli;
  memory_bytes += other.memory_bytes;
  ephemeral_storage_bytes += other.ephemeral_storage_bytes;
  pods += other.pods;
  return *this;
}

BasicResources& BasicResources::operator-=(const BasicResources& other) {
  cpu_milli -= other.cpu_milli;
  memory_bytes -= other.memory_bytes;
  ephemeral_storage_bytes -= other.ephemeral_storage_bytes;
  pods -= other.pods;
  return *this;
}

void count_pod(BasicResources& sum, const BasicResources& requests, int sign) {
  if (sign < 0) {
    sum -= requests;
    --sum.pods;
  } else {
    sum += requests;
    ++sum.pods;
  }
}

bool is_scalar_resource(std::string_view name) {
  if (name.find('/') != std::string_view::npos) return !name.starts_with("requests.");
  return name.starts_with("hugepages-") || name.starts_with("attachable-volumes-");
}

std::int64_t amount_of(const ScalarResources& scalars, std::string_view name) {
  const auto at = std::ranges::lower_bound(scalars, name, {}, &ScalarAmount::name);
  return at != scalars.end() && at->name == name ? at->amount : 0;
}

void count_scalars(ScalarResources& scalars, const ScalarResources& more, int sign) {
  for (const ScalarAmount& one : more) {
    auto at = std::ranges::lower_bound(scalars, one.name, {}, &ScalarAmount::name);
    if (at == scalars.end() || at->name != one.name) at = scalars.insert(at, {one.name, 0});
    at->amount += sign * one.amount;
    if (at->amount == 0) scalars.erase(at);
  }
}

Resources within_bounds(Resources resources, std::int64_t most) {
  const auto bound = [most](std::int64_t& amount) { amount = std::clamp(amount, std::int64_t{0}, most); };
  bound(resources.basic.cpu_milli);
  bound(resources.basic.memory_bytes);
  bound(resources.basic.ephemeral_storage_bytes);
  bound(resources.basic.pods);
  for (ScalarAmount& one : resources.scalars) bound(one.amount);
  return resources;
}

}  // namespace berth::model
