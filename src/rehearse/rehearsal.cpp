#include "berth/rehearse/rehearsal.h"

#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "berth/codec/scheduler_json.h"
#include "berth/core/text.h"
#include "berth/simulate/tally.h"
#include "berth_child.h"
#include "played_api.h"
#include "played_scheduler.h"

namespace berth::rehearse {
namespace {

using core::ErrorCode;
using core::Result;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kSnapshotPatience{60};
constexpr std::chrono::milliseconds kPreference{1'000};
constexpr std::chrono::microseconds kLookAtSnapshot{500};  // between looks at the snapshot
// Two generators of one seed must not run alike.
constexpr std::uint64_t kTieStream = 0xd6e8feb86659fd93;

Result<void> check(const simulate::Workload& workload) {
  std::set<std::string_view> names;
  for (const simulate::TraceNode& node : workload.nodes) {
    if (!core::is_name(node.name)) {
      return core::fail(ErrorCode::kInvalid, "node \"" + node.name +
                                                 "\" has a name that Kubernetes does not allow (small letters, digits, "
                                                 "- and .), so it can't go through HTTP");
    }
    if (!names.insert(node.name).second) {
      return core::fail(ErrorCode::kInvalid, "two nodes are called \"" + node.name + "\"");
    }
  }
  for (const simulate::Kind& kind : workload.kinds) {
    if (!kind.request.whole() && kind.request.gpus > 1) {
      return core::fail(ErrorCode::kInvalid,
                        "a task asks for parts of several GPUs, which berth.io/gpu-milli can't say, so it can't go "
                        "through HTTP");
    }
  }
  return {};
}

// What the API holds.
struct Shown {
  std::size_t pods = 0;
  std::size_t bound = 0;
};

// The counts of Berth's newest snapshot as soon as `enough` says so, or else as they are after `patience`.
template <class Enough>
Result<codec::SummaryCounts> look(BerthChild& berth, std::chrono::milliseconds patience, const Enough& enough) {
  const auto until = steady_clock::now() + patience;
  while (true) {
    const auto body = berth.get(BerthChild::Port::kAdmin, "/api/v1/summary");
    if (!body) return tl::unexpected(body.error());
    auto counts = codec::read_summary(*body);
    if (!counts || enough(*counts) || steady_clock::now() > until) return counts;
    std::this_thread::sleep_for(kLookAtSnapshot);
  }
}

// Until the newest snapshot holds that, and no entry of a pod whose fate is known.
Result<void> wait_for(BerthChild& berth, const Shown& shown) {
  const auto same = [&](const codec::SummaryCounts& counts) {
    return counts.pods == shown.pods && counts.bound_pods == shown.bound && counts.ledger_entries == 0;
  };
  const auto counts = look(berth, kSnapshotPatience, same);
  if (!counts) return tl::unexpected(counts.error());
  if (same(*counts)) return {};
  return core::fail(ErrorCode::kTimeout, "Berth's snapshot has " + std::to_string(counts->pods) + " pods, " +
                                             std::to_string(counts->bound_pods) + " of them bound, and " +
                                             std::to_string(counts->ledger_entries) +
                                             " entries of the ledger, a minute after the API server has " +
                                             std::to_string(shown.pods) + " and " + std::to_string(shown.bound));
}

// Berth writes down whom Prioritize preferred after its answer is out. If the pod were gone by then, the entry would
// stay for its whole time.
Result<void> wait_for_preference(BerthChild& berth) {
  const auto counts = look(berth, kPreference, [](const auto& now) { return now.ledger_entries > 0; });
  if (!counts) return tl::unexpected(counts.error());
  return {};
}

// What became of all tasks, in `tally`.
Result<void> play(const simulate::Workload& workload, const std::vector<std::uint32_t>& arrivals, PlayedApi& api,
                  PlayedScheduler& scheduler, BerthChild& berth, simulate::Tally& tally,
                  const RehearsalSettings& settings) {
  if (arrivals.empty()) return {};
  const auto task_of = [&](std::size_t arrival) -> const simulate::Task& { return workload.tasks[arrivals[arrival]]; };
  Shown shown{1, 0};
  std::string pod = api.add(0, task_of(0));
  for (std::size_t arrival = 0; arrival < arrivals.size(); ++arrival) {
    if (auto good = wait_for(berth, shown); !good) return good;
    const auto outcome = scheduler.place(arrival, task_of(arrival), pod);
    if (!outcome) return tl::unexpected(outcome.error());
    if (outcome->preferred) {
      if (auto good = wait_for_preference(berth); !good) return good;
    }
    if (outcome->choice) {
      ++shown.bound;
    } else {
      api.remove(arrival);
      --shown.pods;
    }
    if (arrival + 1 < arrivals.size()) {
      pod = api.add(arrival + 1, task_of(arrival + 1));
      ++shown.pods;
    }
    tally.arrived(task_of(arrival), outcome->choice);
    if (settings.progress) settings.progress(arrival + 1, arrivals.size());
  }
  return {};
}

}  // namespace

Result<simulate::Replay> rehearse(const simulate::Workload& workload, const RehearsalSettings& settings,
                                  std::uint64_t seed) {
  if (const auto good = check(workload); !good) return tl::unexpected(good.error());
  const auto arrivals = simulate::arrivals(workload, settings.inflation, seed);
  const auto order = simulate::node_order(workload, seed);
  simulate::Cluster cluster(workload, order);
  simulate::Tally tally(workload, cluster);
  PlayedApi api(workload, settings.islands);
  const auto port = api.start();
  if (!port) return tl::unexpected(port.error());
  auto berth = BerthChild::start(settings.program, settings.config, *port);
  if (!berth) return tl::unexpected(berth.error());
  PlayedScheduler scheduler(workload, cluster, order, api, **berth, seed ^ kTieStream);
  const auto played = play(workload, arrivals, api, scheduler, **berth, tally, settings);
  if (!played) {
    core::Error error = played.error();
    error.message += (*berth)->log();
    return tl::unexpected(std::move(error));
  }
  return simulate::Replay{seed, tally.points()};
}

}  // namespace berth::rehearse
