#include "event_latency.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "api_server.h"
#include "berth/kube/api_client.h"
#include "berth/kube/kubeconfig.h"
#include "berth/sources/api_source.h"
#include "berth/state/cluster_state.h"
#include "server_process.h"

namespace berth::bench {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::microseconds kLookEvery{100};
constexpr std::chrono::seconds kPatience{30};

class Changes {
 public:
  void add(const UsageChange& change) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(change);
  }
  // Takes out those from the front that `snapshot` holds. Those from before `ready`, when the first snapshot that was
  // complete appeared, tell of the start.
  void see(const model::Snapshot& snapshot, core::SteadyTime now, core::SteadyTime ready, Latencies& latencies) {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty()) {
      const UsageChange& change = waiting_.front();
      const model::Slot slot = snapshot.find(GeneratedCluster::node_name(change.node));
      if (slot == model::kNoSlot || snapshot.at(slot).used != change.used) return;
      if (change.written >= ready) latencies.add(now - change.written);
      waiting_.pop_front();
    }
  }
  [[nodiscard]] bool overdue(core::SteadyTime now) const {
    const std::lock_guard lock(mutex_);
    return !waiting_.empty() && now - waiting_.front().written > kPatience;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<UsageChange> waiting_;
};

}  // namespace

core::Result<Latencies> measure_events(const GeneratedCluster& cluster, double changes_per_second,
                                       std::chrono::seconds duration, const std::string& kubeconfig_directory) {
  Changes changes;
  ApiServer api(cluster, changes_per_second, [&changes](const UsageChange& change) { changes.add(change); });
  const auto port = api.start();
  if (!port) return tl::unexpected(port.error());
  auto access = kube::load_kubeconfig(write_kubeconfig(kubeconfig_directory, *port));
  if (!access) return tl::unexpected(access.error());
  const core::SystemClock clock;
  auto client = kube::ApiClient::create(*std::move(access), clock);
  if (!client) return tl::unexpected(client.error());
  state::ClusterState state({}, clock);
  sources::ApiSource source(*std::move(client), state, {}, clock);
  state.start();
  if (auto started = source.start(); !started) return tl::unexpected(started.error());

  Latencies latencies;
  std::uint64_t version = 0;
  core::SteadyTime ready = core::SteadyTime::max();
  while (true) {
    const auto snapshot = state.snapshots().load();
    const auto now = steady_clock::now();
    if (snapshot->ready) ready = std::min(ready, now);
    if (snapshot->ready && snapshot->version != version) {
      version = snapshot->version;
      changes.see(*snapshot, now, ready, latencies);
    }
    if (snapshot->ready && now > ready + duration) break;
    if (changes.overdue(now)) return core::fail(core::ErrorCode::kTimeout, "a change was not seen within 30 s");
    std::this_thread::sleep_for(kLookEvery);
  }
  source.stop();
  state.stop();
  return latencies;
}

}  // namespace berth::bench
