#include "coverage.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace berth::state {

using model::CoverageSource;
using model::kNoSlot;
using Holder = model::DatasetPlacement::Holder;

namespace {

enum class Kind : std::uint8_t { kWorker, kOwnCache, kLabel, kClient };  // best first

struct Part {
  Kind kind = Kind::kWorker;
  double coverage = 0;
  Holder holder;  // all but the coverage
  std::size_t number = 0;
};

class Merge {
 public:
  explicit Merge(const CoverageInputs& inputs) : in_(inputs) {
    for (const auto& worker : in_.workers) {
      if (!worker.ready || worker.own_cache) continue;
      ++ready_;
      if (!worker.late) ++old_;
    }
  }

  std::vector<Holder> run() {
    for (const auto& worker : in_.workers) add_worker(worker);
    for (const auto& fuse : in_.fuses) {
      if (fuse.own_cache) {
        add(fuse, own_cache(fuse));
      } else {
        parts_.push_back(client(fuse.slot, fuse.changed));
      }
    }
    for (const auto& label : in_.worker_labels) {
      const double share = in_.assumed / static_cast<double>(ready_ + in_.worker_labels.size());
      parts_.push_back({Kind::kLabel, share, {label.slot, 0, CoverageSource::kLabel, false, label.since, -1}});
    }
    for (const auto& label : in_.fuse_labels) parts_.push_back(client(label.slot, label.since));
    return joined();
  }

 private:
  void add(const CoverageInputs::Pod& pod, Part part) {
    if (!pod.ready) {
      part.coverage /= 2;
      part.holder.holds = false;
    }
    parts_.push_back(part);
  }
  void add_worker(const CoverageInputs::Pod& worker) {
    Part part = worker.own_cache ? own_cache(worker) : worker_of_many(worker);
    part.holder.worker = worker.ready;
    add(worker, part);
  }

  [[nodiscard]] Part worker_of_many(const CoverageInputs::Pod& worker) const {
    Part part{Kind::kWorker, 0, {worker.slot, 0, CoverageSource::kNewWorker, true, worker.changed, -1}};
    Holder& holder = part.holder;
    if (in_.measured_at && in_.total_bytes > 0) {
      if (!worker.bytes) {
        holder.observed = std::max(holder.observed, *in_.measured_at);
        return part;
      }
      part.coverage = fraction(*worker.bytes, in_.total_bytes);
      holder = {worker.slot, 0, CoverageSource::kMeasured, *worker.bytes > 0, *in_.measured_at, *worker.bytes};
      return part;
    }
    if (in_.cached && worker.late) return part;
    // One that is not ready has what would be its part if it were.
    const std::size_t sharers = (in_.cached ? old_ : ready_) + (worker.ready ? 0 : 1);
    spread(part, worker, static_cast<double>(sharers));
    return part;
  }

  [[nodiscard]] Part own_cache(const CoverageInputs::Pod& pod) const {
    Part part{Kind::kOwnCache, 0, {pod.slot, 0, CoverageSource::kAssumed, true, pod.changed, -1}};
    spread(part, pod, 1);
    return part;
  }

  void spread(Part& part, const CoverageInputs::Pod& pod, double sharers) const {
    part.holder.source = in_.cached ? CoverageSource::kUniform : CoverageSource::kAssumed;
    part.holder.observed = in_.cached ? in_.cached_at : pod.changed;
    part.coverage = std::clamp(in_.cached.value_or(in_.assumed), 0.0, 1.0) / sharers;
    if (in_.worker_bytes > 0 && in_.total_bytes > 0) {
      part.coverage = std::min(part.coverage, fraction(in_.worker_bytes, in_.total_bytes));
    }
  }

  [[nodiscard]] Part client(model::Slot slot, core::WallTime since) const {
    return {Kind::kClient, kFuseHint * in_.assumed, {slot, 0, CoverageSource::kFuse, false, since, -1}};
  }

  static double fraction(std::int64_t bytes, std::int64_t of) {
    return std::clamp(static_cast<double>(bytes) / static_cast<double>(of), 0.0, 1.0);
  }

  // Several workers of one node add up; what they share of a figure is told by the larger.
  static void join(Part& sum, const Part& next) {
    const bool leads = std::tuple(-next.coverage, next.holder.source) < std::tuple(-sum.coverage, sum.holder.source);
    const bool holds = sum.holder.holds || next.holder.holds;
    const bool worker = sum.holder.worker || next.holder.worker;
    const auto observed = sum.holder.source == next.holder.source ? std::max(sum.holder.observed, next.holder.observed)
                                                                  : (leads ? next : sum).holder.observed;
    const std::int64_t bytes =
        std::max<std::int64_t>(sum.holder.bytes, 0) + std::max<std::int64_t>(next.holder.bytes, 0);
    const bool adds = sum.kind == Kind::kWorker && next.kind == Kind::kWorker;
    const double coverage = adds ? sum.coverage + next.coverage : std::max(sum.coverage, next.coverage);
    if (leads) sum = next;
    sum.coverage = std::min(coverage, 1.0);
    sum.holder.holds = holds;
    sum.holder.worker = worker;
    sum.holder.observed = observed;
    sum.holder.bytes = sum.holder.source == CoverageSource::kMeasured ? bytes : -1;
  }

  std::vector<Holder> joined() {
    std::erase_if(parts_, [](const Part& part) { return part.holder.slot == kNoSlot; });
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].number = i;
    std::ranges::sort(parts_, {},
                      [](const Part& part) { return std::tuple(part.holder.slot, part.kind, part.number); });
    std::vector<Holder> holders;
    for (auto next = parts_.begin(); next != parts_.end();) {
      Part best = *next++;
      const bool cache = best.kind <= Kind::kOwnCache;
      for (; next != parts_.end() && next->holder.slot == best.holder.slot; ++next) {
        if (cache && next->kind <= Kind::kOwnCache) {
          join(best, *next);
        } else if (next->kind == best.kind) {
          best.holder.observed = std::max(best.holder.observed, next->holder.observed);
        }
      }
      best.holder.coverage = static_cast<float>(best.coverage);
      holders.push_back(best.holder);
    }
    return holders;
  }

  const CoverageInputs& in_;
  std::size_t ready_ = 0;  // workers that share the dataset
  std::size_t old_ = 0;    // of them, those that the Dataset's percentage knows
  std::vector<Part> parts_;
};

}  // namespace

std::vector<Holder> merge_coverage(const CoverageInputs& inputs) {
  if (!inputs.bound) return {};
  return Merge(inputs).run();
}

}  // namespace berth::state
