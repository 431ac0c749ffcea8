#include "simulate.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "berth/rehearse/rehearsal.h"
#include "berth/simulate/report.h"
#include "read_text.h"
#include "report.h"

namespace berth::cli {
namespace {

using core::ErrorCode;
using core::Result;

constexpr std::size_t kMostTraceBytes = std::size_t{1} << 30U;
constexpr std::uint64_t kMostSeeds = 10'000;
constexpr std::size_t kProgressEvery = 100;  // tasks

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1..10", "7", "1,2,5..8": each seed once, in the order given.
Result<std::vector<std::uint64_t>> parse_seeds(const std::string& text) {
  std::vector<std::uint64_t> seeds;
  std::set<std::uint64_t> seen;
  std::string_view rest = text;
  while (true) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const std::size_t dots = part.find("..");
    const auto first = number(part.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : number(part.substr(dots + 2));
    if (!first || !last || *last < *first || *last - *first >= kMostSeeds || seeds.size() >= kMostSeeds) {
      return core::fail(ErrorCode::kInvalid, "--seeds must be numbers and ranges such as 1..10 or 1,2,5, not \"" +
                                                 text + "\"; " + std::to_string(kMostSeeds) + " at most");
    }
    for (std::uint64_t seed = *first;; ++seed) {
      if (seen.insert(seed).second) seeds.push_back(seed);
      if (seed == *last) break;
    }
    if (part.size() == rest.size()) return seeds;
    rest.remove_prefix(part.size() + 1);
  }
}

struct Plan {
  std::vector<simulate::PolicyName> policies;
  std::vector<std::uint64_t> seeds;
  simulate::ChooserSettings chooser;
  std::size_t threads = 1;

  [[nodiscard]] std::size_t runs() const { return policies.size() * seeds.size(); }
};

Result<Plan> make_plan(const SimulateFlags& flags) {
  Plan plan;
  for (const std::string& name : flags.policies) {
    const auto policy = simulate::parse_policy(name);
    if (!policy) {
      return core::fail(ErrorCode::kInvalid,
                        "--policy must be one of random, bestfit, packing, dotprod, clustering, fgd "
                        "and berth, not \"" +
                            name + "\"");
    }
    if (std::ranges::find(plan.policies, *policy) == plan.policies.end()) plan.policies.push_back(*policy);
  }
  auto seeds = parse_seeds(flags.seeds);
  if (!seeds) return tl::unexpected(seeds.error());
  plan.seeds = *std::move(seeds);
  plan.chooser.knobs = {flags.large_jobs, flags.tilt, flags.tilt_power, flags.floor, flags.cpu_weight};
  plan.chooser.refresh = flags.refresh;
  plan.chooser.random_ties = flags.ties == "random";
  plan.chooser.islands = flags.islands;
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  plan.threads = std::min(flags.jobs > 0 ? static_cast<std::size_t>(flags.jobs) : processors, plan.runs());
  return plan;
}

std::optional<std::string> contradicts_http(const SimulateFlags& flags) {
  const SimulateFlags given;
  const std::string of_berth = " does not go with --through-http: ";
  if (flags.policies != given.policies) return "--policy" + of_berth + "it is Berth that is asked";
  if (flags.departures || flags.load || flags.large_weight || flags.arrivals) {
    return "--departures" + of_berth + "its tasks stay";
  }
  if (flags.mix_from) return "--mix-from" + of_berth + "Berth learns from the pods that it sees";
  const auto knobs = [](const SimulateFlags& of) {
    return std::tuple(of.large_jobs, of.tilt, of.tilt_power, of.floor, of.cpu_weight, of.refresh);
  };
  if (knobs(flags) != knobs(given)) {
    return "a knob of berth (--large-jobs and those below it)" + of_berth + "--config FILE sets those of that Berth";
  }
  return std::nullopt;
}

// Flags that say nothing together, or need another.
std::optional<std::string> contradiction(const SimulateFlags& flags) {
  if (flags.nodes == "-" && flags.tasks == "-") return "--nodes and --tasks can't both be standard input";
  if (flags.through_http) return contradicts_http(flags);
  if (flags.departures) {
    if (!flags.plot.empty()) return "--plot is of allocation by arrival, which --departures does not have";
    if (flags.mix_from) return "--mix-from does not go with --departures";
    if (flags.islands) return "--islands does not go with --departures";
  } else if (flags.load || flags.large_weight || flags.arrivals) {
    return "--load, --large-weight and --arrivals are for --departures";
  }
  return std::nullopt;
}

// One line that is written over on a terminal; elsewhere a line now and then, if it takes long.
class Progress {
 public:
  explicit Progress(std::size_t runs) : runs_(runs) {
    if (terminal_) show("0 of " + std::to_string(runs_) + " runs");
  }
  ~Progress() {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void done_one() {
    const std::lock_guard lock(mutex_);
    ++done_;
    if (terminal_ || done_ < runs_) say(std::to_string(done_) + " of " + std::to_string(runs_) + " runs", {});
  }
  // Within a run that takes long.
  void step(const std::string& text) {
    const std::lock_guard lock(mutex_);
    say(std::to_string(done_) + " of " + std::to_string(runs_) + " runs; " + text, kBlink);
  }

 private:
  static constexpr std::chrono::seconds kQuiet{15};
  static constexpr std::chrono::milliseconds kBlink{100};
  void say(const std::string& text, std::chrono::milliseconds after) {
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < (terminal_ ? after : kQuiet)) return;
    said_ = now;
    if (terminal_) {
      show(text + "\033[K");
    } else {
      std::fprintf(stderr, "%s\n", text.c_str());
    }
  }
  static void show(const std::string& text) { std::fprintf(stderr, "\r%s", text.c_str()); }

  std::size_t runs_;
  std::size_t done_ = 0;
  bool terminal_ = isatty(STDERR_FILENO) == 1;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
};

// run(policy, seed) for each pair of indices, on several threads.
void run_all(const Plan& plan, const std::function<void(std::size_t, std::size_t, Progress&)>& run) {
  Progress progress(plan.runs());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    while (true) {
      const std::size_t i = next++;
      if (i >= plan.runs()) return;
      run(i / plan.seeds.size(), i % plan.seeds.size(), progress);
      progress.done_one();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < plan.threads; ++i) threads.emplace_back(work);
  work();
}

Result<simulate::Workload> read(const SimulateFlags& flags) {
  const auto nodes = read_text(flags.nodes, kMostTraceBytes);
  if (!nodes) return tl::unexpected(nodes.error());
  const auto tasks = read_text(flags.tasks, kMostTraceBytes);
  if (!tasks) return tl::unexpected(tasks.error());
  return simulate::read_workload(*nodes, flags.nodes, *tasks, flags.tasks);
}

Result<void> write_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed) return core::fail(ErrorCode::kUnavailable, std::strerror(errno), path);
  return {};
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The first error of several threads.
class FirstError {
 public:
  void note(const core::Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }
  [[nodiscard]] const std::optional<core::Error>& error() const { return error_; }
  [[nodiscard]] bool any() const {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }

 private:
  mutable std::mutex mutex_;
  std::optional<core::Error> error_;
};

Result<simulate::Replay> through_http(const SimulateFlags& flags, const simulate::Workload& workload,
                                      std::uint64_t seed, Progress& progress) {
  rehearse::RehearsalSettings settings;
  settings.config = flags.config;
  settings.inflation = flags.inflation;
  settings.islands = flags.islands;
  settings.progress = [&](std::size_t arrived, std::size_t of) {
    if (arrived % kProgressEvery != 0) return;
    progress.step("seed " + std::to_string(seed) + ": " + std::to_string(arrived) + " of " + std::to_string(of) +
                  " tasks");
  };
  return rehearse::rehearse(workload, settings, seed);
}

Result<std::string> replays(const SimulateFlags& flags, const Plan& plan, const simulate::Workload& workload) {
  std::vector<simulate::PolicyReplays> results;
  results.reserve(plan.policies.size());
  for (const auto policy : plan.policies) results.push_back({policy, std::vector<simulate::Replay>(plan.seeds.size())});
  FirstError failed;
  run_all(plan, [&](std::size_t policy, std::size_t seed, Progress& progress) {
    if (flags.through_http) {
      if (failed.any()) return;
      auto run = through_http(flags, workload, plan.seeds[seed], progress);
      if (!run) return failed.note(run.error());
      results[policy].runs[seed] = *std::move(run);
      return;
    }
    simulate::ReplaySettings settings{plan.chooser, flags.inflation, flags.mix_from};
    settings.chooser.policy = plan.policies[policy];
    results[policy].runs[seed] = simulate::replay(workload, settings, plan.seeds[seed]);
  });
  if (failed.error()) return tl::unexpected(*failed.error());
  if (!flags.plot.empty()) {
    const auto plotted = write_file(flags.plot, allocation_plot(results, file_name(flags.tasks)));
    if (!plotted) return tl::unexpected(plotted.error());
  }
  return flags.format == "json" ? replay_json(workload, results, flags.islands)
                                : replay_table(workload, results, flags.islands);
}

Result<std::string> departures(const SimulateFlags& flags, const Plan& plan, const simulate::Workload& workload) {
  std::vector<simulate::PolicyDepartures> results;
  results.reserve(plan.policies.size());
  for (const auto policy : plan.policies) {
    results.push_back({policy, std::vector<simulate::DepartureRun>(plan.seeds.size())});
  }
  FirstError failed;
  run_all(plan, [&](std::size_t policy, std::size_t seed, Progress& /*progress*/) {
    simulate::DepartureSettings settings{.chooser = plan.chooser};
    settings.chooser.policy = plan.policies[policy];
    settings.load = flags.load.value_or(settings.load);
    settings.large_weight = flags.large_weight.value_or(settings.large_weight);
    settings.arrivals = flags.arrivals.value_or(0);
    auto run = simulate::run_departures(workload, settings, plan.seeds[seed]);
    if (!run) return failed.note(run.error());
    results[policy].runs[seed] = *run;
  });
  if (failed.error()) return core::fail(failed.error()->code, failed.error()->message, flags.tasks);
  return flags.format == "json" ? departures_json(results) : departures_table(results);
}

}  // namespace

int simulate(const SimulateFlags& flags) {
  if (const auto wrong = contradiction(flags)) return report(kUsage, *wrong + " (see `berth simulate --help`)");
  const auto plan = make_plan(flags);
  if (!plan) return report(kUsage, plan.error().to_string() + " (see `berth simulate --help`)");
  const auto workload = read(flags);
  if (!workload) return report(workload.error());
  const auto told = flags.departures ? departures(flags, *plan, *workload) : replays(flags, *plan, *workload);
  if (!told) return report(told.error());
  std::fwrite(told->data(), 1, told->size(), stdout);
  return kOk;
}

}  // namespace berth::cli
