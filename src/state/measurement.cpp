#include "measurement.h"

#include <algorithm>
#include <string>
#include <vector>

namespace berth::state {

namespace {

// More than any worker holds, and sums of it over a node don't overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 52;

}  // namespace

void match(const model::Measured& measured, std::span<CacheMember* const> workers) {
  std::vector<CacheMember*> there;
  for (CacheMember* const worker : workers) {
    worker->bytes.reset();
    const core::WallTime started = worker->pod.started;
    if (started != core::WallTime{} && started <= measured.at) there.push_back(worker);
  }
  std::ranges::sort(there, {}, &CacheMember::name);

  const auto known_as = [&](const std::string& host, auto name_of) {
    std::vector<CacheMember*> found;
    std::ranges::copy_if(there, std::back_inserter(found),
                         [&](const CacheMember* worker) { return name_of(*worker) == host; });
    return found;
  };
  for (const model::WorkerBytes& told : measured.workers) {
    if (told.host.empty()) continue;
    auto found = known_as(told.host, [](const CacheMember& worker) { return worker.pod.host_ip; });
    if (found.empty()) found = known_as(told.host, [](const CacheMember& worker) { return worker.pod.pod_ip; });
    if (found.empty()) found = known_as(told.host, [](const CacheMember& worker) { return worker.node->name; });
    if (found.empty()) continue;
    const auto free = std::ranges::find_if(found, [](const CacheMember* worker) { return !worker->bytes; });
    CacheMember& worker = free != found.end() ? **free : *found.front();
    const std::int64_t bytes = std::clamp(told.bytes, std::int64_t{0}, kMost);
    worker.bytes = std::min(worker.bytes.value_or(0) + bytes, kMost);
  }
}

}  // namespace berth::state
