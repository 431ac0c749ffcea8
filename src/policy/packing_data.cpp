#include "packing_data.h"

#include <algorithm>
#include <bit>

#include "berth/policy/scores.h"

namespace berth::policy {
namespace {

using model::GpuMask;
using model::Room;

constexpr double kCostTolerance = 1e-6;  // part of a node's worth below which a difference is none

// Where place_parts() puts the next partition; -1 if nowhere.
int most_used(const Room& room, GpuMask places) {
  int best = -1;
  int most = -1;
  for (; places != 0; places &= places - 1) {
    const int gpu = std::countr_zero(places);
    const int used = std::popcount(room.used_slices[static_cast<std::size_t>(gpu)]);
    if (used > most) best = gpu;
    most = std::max(most, used);
  }
  return best;
}

// Of the room that is left, which has other GPUs where the pod counts on some that others may get.
void take(Room& room, const model::RequestClass& request, GpuMask gpus) {
  room.cpu_milli -= request.cpu_milli;
  if (request.gpus == 0) return;
  if (!request.mig.empty()) {
    for (std::int32_t i = 0; i < request.gpus; ++i) {
      const int gpu = most_used(room, meeting(room, request));
      if (gpu < 0) return;
      take_partition(room, request, gpu);
    }
    return;
  }
  const GpuMask possible = meeting(room, request);
  GpuMask taken = gpus & possible;
  taken |= model::lowest(possible & ~taken, request.gpus - model::count(taken));
  take_gpus(room, request, taken);
}

}  // namespace

PackingData::PackingData(const Query& query, const Settings& settings)
    : pod_(query.pod),
      view_(query.snapshot.packing.get()),
      request_(model::request_class(query.pod.gpus, query.pod.parts, query.pod.requests.basic.cpu_milli)) {
  if (view_ == nullptr) return;
  const PackingKnobs knobs{.large_jobs = settings.large_jobs};
  const model::MixTable& mix = view_->mix;
  prices_.resize(mix.size());
  packing_prices(packing_weights(mix, knobs), view_->usable, knobs.floor, view_->gpu_milli, prices_);
  const double gpu_milli = request_.gpus * part_of_gpu(request_) * model::kWholeMilli;
  const auto cpu_milli = static_cast<double>(request_.cpu_milli);
  for (std::size_t i = 0; i < mix.size(); ++i) {
    clean_ += prices_[i] * (mix.request(i).gpus > 0 ? gpu_milli : cpu_milli);
  }
  // Which GPUs of a node suit a pod is not told by its class. Pods without GPUs are of too many kinds.
  const bool any_gpu = pod_.min_gpu_memory_mib <= 0 && pod_.gpu_products.empty();
  const bool connected = pod_.topology_policy == model::TopologyPolicy::kRestricted;
  if (request_.gpus > 0 && any_gpu) costs_ = view_->memo->row({request_, connected});
}

double PackingData::cost(const NodeView& node, model::Slot slot, GpuMask gpus) const {
  const std::uint32_t stamp = node.as_published ? node.state->stamp : 0;
  if (costs_ != nullptr) {
    if (const auto known = costs_->get(slot, stamp)) return *known;
  }
  const Valuation valuation{view_->mix, prices_, view_->counting};
  Room room = room_of(*node.state, {node.firm_others, node.soft_others, node.firm_gpus}, node.uses, view_->mix);
  room.cpu_milli += node.cpu_back;
  model::CostMemo::Row& worths = view_->memo->worths();
  std::optional<float> worth = worths.get(slot, stamp);
  if (!worth) {
    worth = static_cast<float>(valuation.worth(room));
    worths.put(slot, stamp, *worth);
  }
  take(room, request_, gpus);
  const double lost = *worth - valuation.worth(room);
  const auto cost = lost > kCostTolerance * *worth ? static_cast<float>(lost) : 0.0F;
  if (costs_ != nullptr) costs_->put(slot, stamp, cost);
  return cost;
}

double PackingData::score(const NodeView& node, model::Slot slot, const std::optional<GpuMask>& gpu_set,
                          const PartFit& parts) const {
  const bool asks = request_.gpus > 0;
  if (view_ == nullptr || (!asks && pod_.resource_claims)) return kNeutral;
  if (!asks && node.state->gpus <= 0 && node.uses == nullptr) return 1;
  return score_packing(cost(node, slot, gpu_set.value_or(parts.gpus)), clean_);
}

}  // namespace berth::policy
