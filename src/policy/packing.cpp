#include "berth/policy/packing.h"

#include <algorithm>
#include <cmath>

#include "berth/model/part_placement.h"

namespace berth::policy {
namespace {

using model::GpuMask;
using model::RequestClass;
using model::Room;

constexpr std::int64_t kUsualMib = 81'920;
constexpr double kSmallestPart = 0.02;  // a class of next to nothing must not outweigh all others
constexpr double kCpuOnly = 0.5;        // weight of classes without GPUs; more keeps CPU for them that GPUs need, too
constexpr double kFgdPart = 0.95;
constexpr double kSliceParts = 8;

// GPUs that are used alike give one and the same result.
bool alike(const Room& room, std::size_t a, std::size_t b) {
  return room.milli[a] == room.milli[b] && room.mib[a] == room.mib[b] && room.memory_mib[a] == room.memory_mib[b] &&
         room.mig_table[a] == room.mig_table[b] && room.used_slices[a] == room.used_slices[b] &&
         room.made[a] == room.made[b];
}

bool seen_before(const Room& room, GpuMask seen, int gpu) {
  for (; seen != 0; seen &= seen - 1) {
    if (alike(room, static_cast<std::size_t>(std::countr_zero(seen)), static_cast<std::size_t>(gpu))) return true;
  }
  return false;
}

// One share or partition on the GPU that `better` likes best, of equals on the first: better(worth, best worth so far).
template <class Better>
bool place_one(const Valuation& valuation, Placed& placed, double& worth_after, const RequestClass& request,
               const Better& better) {
  std::optional<Room> best;
  GpuMask seen = 0;
  int on = -1;
  // Shares of one pod are of different GPUs.
  GpuMask left = meeting(placed.after, request);
  if (request.mig.empty()) left &= ~placed.gpus;
  for (; left != 0; left &= left - 1) {
    const int gpu = std::countr_zero(left);
    if (seen_before(placed.after, seen, gpu)) continue;
    seen |= GpuMask{1} << gpu;
    Room then = placed.after;
    if (request.mig.empty()) {
      take_gpus(then, request, GpuMask{1} << gpu);
    } else {
      take_partition(then, request, gpu);
    }
    const double worth = valuation.worth(then);
    if (best && !better(worth, worth_after)) continue;
    worth_after = worth;
    best = then;
    on = gpu;
  }
  if (!best) return false;
  placed.after = *best;
  placed.gpus |= GpuMask{1} << on;
  return true;
}

template <class Better>
std::optional<Placed> place(const Valuation& valuation, const Room& room, double worth, const RequestClass& request,
                            std::optional<GpuMask> whole, const Better& better) {
  if (room.cpu_milli < request.cpu_milli) return std::nullopt;
  Placed placed{.after = room};
  placed.after.cpu_milli -= request.cpu_milli;
  double worth_after = 0;
  if (request.gpus > 0 && !request.whole()) {
    for (std::int32_t i = 0; i < request.gpus; ++i) {
      if (!place_one(valuation, placed, worth_after, request, better)) return std::nullopt;
    }
  } else {
    placed.gpus = whole ? *whole : model::lowest(room.whole, request.gpus);
    if (model::count(placed.gpus) != request.gpus || (placed.gpus & ~room.whole) != 0) return std::nullopt;
    take_gpus(placed.after, request, placed.gpus);
    worth_after = valuation.worth(placed.after);
  }
  placed.cost = worth - worth_after;
  return placed;
}

}  // namespace

double part_of_gpu(const RequestClass& request, std::int64_t memory_mib) {
  double part = static_cast<double>(request.milli) / model::kWholeMilli;
  if (!request.mig.empty()) {
    part = model::mig_size({}, request.mig) / kSliceParts;
  } else if (request.mib > 0) {
    part =
        std::max(part, static_cast<double>(request.mib) / static_cast<double>(memory_mib > 0 ? memory_mib : kUsualMib));
  } else {
    part = std::max(part, request.memory_percent / 100.0);
  }
  return std::clamp(part, kSmallestPart, 1.0);
}

std::vector<double> packing_weights(const model::MixTable& mix, const PackingKnobs& knobs, std::int64_t memory_mib) {
  std::vector<double> weights(mix.size());
  double one_gpu = 0;
  double tilted = 0;
  for (std::size_t i = 0; i < mix.size(); ++i) {
    weights[i] = mix.share(i);
    if (mix.request(i).gpus != 1) continue;
    weights[i] *= std::pow(part_of_gpu(mix.request(i), memory_mib), -knobs.tilt_power);
    one_gpu += mix.share(i);
    tilted += weights[i];
  }
  for (std::size_t i = 0; i < mix.size(); ++i) {
    if (mix.request(i).gpus <= 0) {
      weights[i] *= kCpuOnly;
    } else if (mix.request(i).gpus > 1) {
      weights[i] *= knobs.large_jobs;
    } else if (tilted > 0) {
      weights[i] = (1 - knobs.tilt) * mix.share(i) + knobs.tilt * one_gpu * weights[i] / tilted;
    }
  }
  return weights;
}

void packing_prices(std::span<const double> weights, std::span<const double> usable, double floor, double cluster_milli,
                    std::span<double> prices) {
  const double least = std::max(floor * cluster_milli, 1.0);
  for (std::size_t i = 0; i < prices.size(); ++i) prices[i] = weights[i] / std::max(usable[i], least);
}

std::optional<Placed> place_cheapest(const Valuation& valuation, const Room& room, double worth,
                                     const RequestClass& request, std::optional<GpuMask> whole) {
  return place(valuation, room, worth, request, whole, [](double a, double best) { return a > best; });
}

FgdPrices fgd_prices(const model::MixTable& mix, const model::RequestMix& counted) {
  std::vector<const model::RequestShare*> order;
  order.reserve(counted.classes.size());
  for (const model::RequestShare& one : counted.classes) order.push_back(&one);
  std::ranges::sort(order, [](const auto* a, const auto* b) {
    return a->share != b->share ? a->share > b->share : a->request < b->request;
  });
  double kept = 0;
  std::vector<const model::RequestShare*> typical;
  for (const auto* one : order) {
    if (kept >= kFgdPart) break;
    typical.push_back(one);
    kept += one->share;
  }
  FgdPrices found{std::vector<double>(mix.size()), 0};
  for (const auto* one : typical) {
    if (one->request.gpus <= 0) {
      found.cpu_only += one->share / kept;
      continue;
    }
    for (std::size_t i = 0; i < mix.size(); ++i) {
      if (mix.request(i) == one->request) found.prices[i] = one->share / kept;
    }
  }
  return found;
}

int fgd_score(double taken_milli, double cost) {
  return static_cast<int>(100.0 / (1.0 + std::exp(-(taken_milli - cost) / 1000.0)));
}

std::optional<Placed> place_fgd(const Valuation& valuation, const Room& room, double worth,
                                const RequestClass& request) {
  const double taken = static_cast<double>(request.milli);
  return place(valuation, room, worth, request, std::nullopt,
               [&](double a, double best) { return fgd_score(taken, worth - a) > fgd_score(taken, worth - best); });
}

}  // namespace berth::policy
