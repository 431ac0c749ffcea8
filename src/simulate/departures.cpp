#include "berth/simulate/departures.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <queue>

namespace berth::simulate {
namespace {

constexpr std::uint64_t kChoiceStream = 0xc2b2ae3d27d4eb4f;
constexpr double kLifetimesLong = 12;  // 2.4 of them are dropped at the beginning

// A number in (0, 1].
double unit(std::mt19937_64& random) { return (static_cast<double>(random() >> 11U) + 1) * 0x1.0p-53; }

// What may be drawn, and how often.
struct Draw {
  std::vector<std::uint32_t> tasks;
  std::vector<double> up_to;  // sums of the weights
  double longest_s = 0;
  double milli_seconds = 0;  // mean of a drawn task's GPU time
  model::RequestMix mix;

  [[nodiscard]] std::uint32_t one(std::mt19937_64& random) const {
    const auto found = std::ranges::lower_bound(up_to, unit(random) * up_to.back());
    return tasks[static_cast<std::size_t>(std::min(found, up_to.end() - 1) - up_to.begin())];
  }
};

double lifetime(const Task& task, double longest_s) {
  return std::min(static_cast<double>(task.lifetime_s), longest_s);
}

core::Result<Draw> make_draw(const Workload& workload, const Cluster& empty, const DepartureSettings& settings) {
  Draw draw;
  std::vector<std::int64_t> lifetimes;
  for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
    const Task& task = workload.tasks[i];
    if (task.lifetime_s < 0) continue;
    lifetimes.push_back(task.lifetime_s);
    bool fits = false;
    for (NodeNumber node = 0; node < empty.size() && !fits; ++node) {
      fits = empty.fits(node, workload.kinds[task.kind], task.memory_mib);
    }
    if (fits) draw.tasks.push_back(i);
  }
  if (draw.tasks.empty()) {
    return core::fail(
        core::ErrorCode::kInvalid,
        "no task that fits has a lifetime: departures need the columns creation_time or scheduled_time, and "
        "deletion_time");
  }
  std::ranges::sort(lifetimes);
  const auto rank =
      static_cast<std::size_t>(std::ceil(settings.longest_quantile * static_cast<double>(lifetimes.size())));
  draw.longest_s = static_cast<double>(lifetimes[std::clamp<std::size_t>(rank, 1, lifetimes.size()) - 1]);
  std::vector<double> weights(workload.kinds.size());
  double sum = 0;
  for (const std::uint32_t i : draw.tasks) {
    const Task& task = workload.tasks[i];
    const Kind& kind = workload.kinds[task.kind];
    const double weight = kind.request.gpus == settings.large_gpus ? settings.large_weight : 1;
    sum += weight;
    draw.up_to.push_back(sum);
    weights[task.kind] += weight;
    draw.milli_seconds += weight * static_cast<double>(kind.milli()) * lifetime(task, draw.longest_s);
  }
  draw.milli_seconds /= sum;
  if (draw.milli_seconds <= 0) return core::fail(core::ErrorCode::kInvalid, "no task with a lifetime uses a GPU");
  for (std::size_t kind = 0; kind < weights.size(); ++kind) {
    if (weights[kind] > 0) draw.mix.classes.push_back({workload.kinds[kind].request, weights[kind] / sum});
  }
  return draw;
}

class Simulation {
 public:
  Simulation(const Workload& workload, const DepartureSettings& settings, const Draw& draw, Cluster& cluster,
             std::uint64_t seed)
      : workload_(workload),
        draw_(draw),
        cluster_(cluster),
        chooser_(settings.chooser, workload, cluster, draw.mix, seed ^ kChoiceStream),
        refused_(workload.kinds.size()) {}

  DepartureRun run(const DepartureSettings& settings, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const double per_second = settings.load * static_cast<double>(cluster_.capacity_milli()) / draw_.milli_seconds;
    const auto arrivals = settings.arrivals > 0
                              ? settings.arrivals
                              : std::llround(std::ceil(kLifetimesLong * draw_.longest_s * per_second));
    first_measured_ = static_cast<std::int64_t>(settings.dropped * static_cast<double>(arrivals));
    double next = 0;
    for (std::int64_t i = 0; i < arrivals; ++i) {
      next -= std::log(unit(random)) / per_second;
      while (!running_.empty() && running_.top().ends <= next) end_one();
      advance(next);
      if (i == first_measured_) {
        measured_from_ = next;
        area_ = 0;
      }
      arrive({draw_.one(random), i, next});
    }
    const double length = now_ - measured_from_;
    DepartureRun result{.seed = seed, .tasks = tasks_};
    result.allocation = length > 0 ? area_ / length / static_cast<double>(cluster_.capacity_milli()) * 100 : 0;
    while (!waiting_.empty()) end_one();
    result.longest_wait_s = longest_;
    for (std::size_t size = 0; size < kSizes; ++size) {
      if (tasks_[size] > 0) result.mean_wait_s[size] = waits_[size] / static_cast<double>(tasks_[size]);
    }
    return result;
  }

 private:
  struct Arrival {
    std::uint32_t task = 0;
    std::int64_t number = 0;
    double at = 0;
  };
  struct Running {
    double ends = 0;
    std::int64_t number = 0;
    std::uint32_t task = 0;
    Choice on;
    bool operator>(const Running& other) const {
      return ends != other.ends ? ends > other.ends : number > other.number;
    }
  };

  void advance(double to) {
    area_ += static_cast<double>(cluster_.allocated_milli()) * (to - now_);
    now_ = to;
  }

  void arrive(const Arrival& arrival) {
    const Task& task = workload_.tasks[arrival.task];
    if (arrival.number >= first_measured_) ++tasks_[size_of(workload_.kinds[task.kind].request)];
    if (const auto choice = chooser_.choose(task.kind, task.memory_mib)) {
      start(arrival, *choice);
    } else {
      waiting_.push_back(arrival);
    }
  }

  void start(const Arrival& arrival, const Choice& choice) {
    const Task& task = workload_.tasks[arrival.task];
    const Kind& kind = workload_.kinds[task.kind];
    cluster_.place(choice.node, kind, task.memory_mib, choice.gpus);
    chooser_.changed(choice.node);
    running_.push({now_ + lifetime(task, draw_.longest_s), arrival.number, arrival.task, choice});
    if (arrival.number < first_measured_) return;
    const std::size_t size = size_of(kind.request);
    waits_[size] += now_ - arrival.at;
    longest_[size] = std::max(longest_[size], now_ - arrival.at);
  }

  // What waits fitted nowhere before: only the node that has more room now is to be looked at.
  void end_one() {
    const Running ended = running_.top();
    running_.pop();
    advance(ended.ends);
    const Task& task = workload_.tasks[ended.task];
    cluster_.remove(ended.on.node, workload_.kinds[task.kind], task.memory_mib, ended.on.gpus);
    chooser_.changed(ended.on.node);
    ++round_;
    auto kept = waiting_.begin();
    for (const Arrival& one : waiting_) {
      const Task& candidate = workload_.tasks[one.task];
      // Room only shrinks within a round: what has no room once has none later.
      std::uint64_t& refused = refused_[candidate.kind];
      if (refused != round_) {
        if (const auto choice = chooser_.choose_on(ended.on.node, candidate.kind, candidate.memory_mib)) {
          start(one, *choice);
          continue;
        }
        if (!cluster_.fits(ended.on.node, workload_.kinds[candidate.kind], 0)) refused = round_;
      }
      *kept++ = one;
    }
    waiting_.erase(kept, waiting_.end());
  }

  const Workload& workload_;
  const Draw& draw_;
  Cluster& cluster_;
  Chooser chooser_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::deque<Arrival> waiting_;         // by arrival
  std::vector<std::uint64_t> refused_;  // by kind: the last round in which it did not fit
  std::uint64_t round_ = 0;
  std::int64_t first_measured_ = 0;
  double now_ = 0;
  double measured_from_ = 0;
  double area_ = 0;  // allocated milli times seconds
  BySize tasks_ = {};
  std::array<double, kSizes> waits_ = {};
  std::array<double, kSizes> longest_ = {};
};

// Student's t for 95 %, two-sided, by degrees of freedom from 1 on.
constexpr std::array<double, 30> kStudent = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                             2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double kNormal = 1.960;

}  // namespace

core::Result<DepartureRun> run_departures(const Workload& workload, const DepartureSettings& settings,
                                          std::uint64_t seed) {
  Cluster cluster(workload, node_order(workload, seed));
  const auto draw = make_draw(workload, cluster, settings);
  if (!draw) return tl::unexpected(draw.error());
  return Simulation(workload, settings, *draw, cluster, seed).run(settings, seed);
}

Difference paired_difference(std::span<const double> a, std::span<const double> b) {
  const auto n = static_cast<double>(a.size());
  Difference found;
  for (std::size_t i = 0; i < a.size(); ++i) found.mean += (a[i] - b[i]) / n;
  if (a.size() < 2) {
    found.half_width = std::numeric_limits<double>::infinity();
    return found;
  }
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += std::pow(a[i] - b[i] - found.mean, 2);
  const double t = a.size() - 2 < kStudent.size() ? kStudent[a.size() - 2] : kNormal;
  found.half_width = t * std::sqrt(squares / (n - 1) / n);
  return found;
}

}  // namespace berth::simulate
