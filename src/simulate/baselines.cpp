// The policies that FGD was compared with. Scores are whole numbers from 0 to 100, as kube-scheduler has them: which
// nodes tie decides as much as the formula.
#include <algorithm>
#include <limits>

#include "scorers.h"

namespace berth::simulate {
namespace {

using model::GpuMask;
using model::Room;

constexpr std::int64_t kMostScore = 100;
// The largest node, by which resources are made comparable.
constexpr double kSpecCpuMilli = 128'000;
constexpr std::int64_t kSpecGpuMilli = 8'000;

// The fullest GPU that has room, of equals the first.
GpuMask tightest(const Room& room, const model::RequestClass& request) {
  GpuMask taken = 0;
  for (int i = 0; i < request.gpus; ++i) {
    int best = -1;
    for (GpuMask left = meeting(room, request) & ~taken; left != 0; left &= left - 1) {
      const int gpu = std::countr_zero(left);
      const auto free = [&](int of) { return room.milli[static_cast<std::size_t>(of)]; };
      if (best < 0 || free(gpu) < free(best)) best = gpu;
    }
    if (best >= 0) taken |= GpuMask{1} << best;
  }
  return taken;
}

std::int64_t floor_to_score(double part) { return static_cast<std::int64_t>(static_cast<double>(kMostScore) * part); }

class Baseline : public Scorer {
 public:
  explicit Baseline(bool islands) : islands_(islands) {}

  Rating rate(const Cluster::Node& node, NodeNumber /*number*/, const Kind& kind) override {
    const bool whole = kind.request.whole();
    const GpuMask gpus = whole ? pick_whole(node.room, kind.request.gpus, islands_) : shared(node.room, kind.request);
    return {static_cast<double>(score(node, kind, gpus)), gpus};
  }

 protected:
  [[nodiscard]] virtual GpuMask shared(const Room& room, const model::RequestClass& request) {
    return tightest(room, request);
  }
  virtual std::int64_t score(const Cluster::Node& node, const Kind& kind, GpuMask gpus) = 0;

 private:
  bool islands_;
};

// Any node, and of shares any GPU.
class Random final : public Baseline {
 public:
  Random(bool islands, std::uint64_t seed) : Baseline(islands), random_(seed) {}
  bool begin() override { return true; }

 private:
  std::int64_t score(const Cluster::Node& /*node*/, const Kind& /*kind*/, GpuMask /*gpus*/) override {
    return static_cast<std::int64_t>(random_() >> 12U);
  }
  GpuMask shared(const Room& room, const model::RequestClass& request) override {
    GpuMask taken = 0;
    GpuMask left = meeting(room, request);
    while (model::count(taken) < request.gpus && left != 0) {
      GpuMask one = left;
      for (auto skip = below(random_, static_cast<std::uint64_t>(model::count(left))); skip > 0; --skip) one &= one - 1;
      taken |= one & (~one + 1);
      left &= ~taken;
    }
    return taken;
  }
  std::mt19937_64 random_;
};

// The least CPU and GPU left.
class BestFit final : public Baseline {
 public:
  using Baseline::Baseline;

 private:
  std::int64_t score(const Cluster::Node& node, const Kind& kind, GpuMask /*gpus*/) override {
    const auto cpu = static_cast<double>(node.room.cpu_milli - kind.request.cpu_milli);
    const auto gpu = static_cast<double>(node.room.free_milli() - kind.milli());
    return floor_to_score(1 - 0.5 * cpu / kSpecCpuMilli - 0.5 * gpu / static_cast<double>(kSpecGpuMilli));
  }
};

// Tetris turned round: large requests keep away from nodes with much of what they want.
class DotProduct final : public Baseline {
 public:
  using Baseline::Baseline;

 private:
  std::int64_t score(const Cluster::Node& node, const Kind& kind, GpuMask /*gpus*/) override {
    const double spec = static_cast<double>(kSpecGpuMilli);
    const double cpu = static_cast<double>(node.room.cpu_milli) / kSpecCpuMilli *
                       (static_cast<double>(kind.request.cpu_milli) / kSpecCpuMilli);
    const double gpu = static_cast<double>(node.room.free_milli()) / spec * (static_cast<double>(kind.milli()) / spec);
    return floor_to_score(1 - (cpu + gpu) / 2);
  }
};

// GPUs in use first, then free ones of nodes in use, then free nodes.
class Packing final : public Baseline {
 public:
  using Baseline::Baseline;

 private:
  std::int64_t score(const Cluster::Node& node, const Kind& kind, GpuMask gpus) override {
    if (kind.request.gpus == 0) return 0;
    const std::int64_t free = model::count(node.room.whole);
    if (free == node.room.gpus) return std::max(kMostScore / 3 - free, free);
    const std::int64_t opened = model::count(gpus & node.room.whole);
    if (opened > 0) return std::max(kMostScore / 2 - opened, kMostScore / 3);
    std::int64_t left = 0;
    for (GpuMask rest = gpus; rest != 0; rest &= rest - 1) {
      left += node.room.milli[static_cast<std::size_t>(std::countr_zero(rest))] * 100 / model::kWholeMilli;
    }
    return std::max(kMostScore - left / 10, kMostScore / 2);
  }
};

// Nodes with tasks of the same shape first, without others before with others; then free nodes; then any.
class Clustering final : public Baseline {
 public:
  using Baseline::Baseline;

 private:
  std::int64_t score(const Cluster::Node& node, const Kind& kind, GpuMask /*gpus*/) override {
    if (kind.request.gpus == 0) return 0;
    constexpr std::int64_t kQuarter = kMostScore / 4;
    const auto shapes = std::ranges::count_if(node.tasks_of, [](auto tasks) { return tasks > 0; });
    const bool same = node.tasks_of[shape_of(kind.request)] > 0;
    const std::int64_t quarters = same ? (shapes == 1 ? 3 : 2) : (shapes == 0 ? 1 : 0);
    return kQuarter * (kSpecGpuMilli - node.room.free_milli()) / kSpecGpuMilli + kQuarter * quarters;
  }
};

}  // namespace

std::unique_ptr<Scorer> make_baseline(PolicyName policy, bool islands, std::uint64_t seed) {
  switch (policy) {
    case PolicyName::kRandom:
      return std::make_unique<Random>(islands, seed);
    case PolicyName::kBestFit:
      return std::make_unique<BestFit>(islands);
    case PolicyName::kPacking:
      return std::make_unique<Packing>(islands);
    case PolicyName::kDotProduct:
      return std::make_unique<DotProduct>(islands);
    default:
      return std::make_unique<Clustering>(islands);
  }
}

}  // namespace berth::simulate
