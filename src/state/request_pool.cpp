#include "request_pool.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

namespace berth::state {

std::size_t RequestPool::Hash::operator()(const model::Resources& requests) const {
  std::uint64_t hash = 0;
  const auto mix = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
  };
  mix(static_cast<std::uint64_t>(requests.basic.cpu_milli));
  mix(static_cast<std::uint64_t>(requests.basic.memory_bytes));
  mix(static_cast<std::uint64_t>(requests.basic.ephemeral_storage_bytes));
  for (const model::ScalarAmount& one : requests.scalars) {
    mix(std::hash<std::string>{}(one.name));
    mix(static_cast<std::uint64_t>(one.amount));
  }
  return hash;
}

std::shared_ptr<const model::Resources> RequestPool::share(const model::Resources& requests) {
  if (const auto found = known_.find(requests); found != known_.end()) return *found;
  if (known_.size() >= sweep_at_) sweep();
  return *known_.insert(std::make_shared<const model::Resources>(requests)).first;
}

// Nobody but the pool can hold on to what nobody else holds.
void RequestPool::sweep() {
  std::erase_if(known_, [](const Shared& one) { return one.use_count() == 1; });
  sweep_at_ = std::max<std::size_t>(1024, 2 * known_.size());
}

}  // namespace berth::state
