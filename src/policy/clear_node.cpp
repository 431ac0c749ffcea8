#include "clear_node.h"

#include <algorithm>
#include <string_view>

#include "stand_ins.h"

namespace berth::policy {
namespace {

using model::GpuMask;

// Ways to clear a node that are judged by all rules; with promises of GPUs in the way the cheapest may fail.
constexpr std::size_t kMostJudged = 64;

}  // namespace

NodeClearing::NodeClearing(const PreemptionQuery& query, const Settings& settings, Hypothesis& supposed,
                           model::Slot slot)
    : query_(query),
      settings_(settings),
      supposed_(supposed),
      slot_(slot),
      state_(query.snapshot.at(slot)),
      pods_(query.snapshot, state_, query.now),
      evictable_(evictable(state_, query.pod)),
      links_count_(query.pod.gpus > 1 && query.pod.topology_policy != model::TopologyPolicy::kNone) {}

NodeClearing::~NodeClearing() { supposed_.evict(slot_, evictable_); }

OccupantSet NodeClearing::evictable(const model::NodeState& state, const model::PodRequest& pod) {
  OccupantSet set;
  if (!state.occupants) return set;
  for (std::size_t i = 0; i < std::min(state.occupants->size(), kMostOccupants); ++i) {
    const model::Occupant& one = (*state.occupants)[i];
    set[i] = one.priority < pod.priority && !one.uid.empty();
  }
  return set;
}

std::optional<Evaluated> NodeClearing::judge(const OccupantSet& victims) {
  supposed_.evict(slot_, victims);
  const std::string_view name = query_.snapshot.index->name(slot_);
  const Evaluation evaluation = evaluate({supposed_.snapshot(), query_.pod, {&name, 1}, 1, query_.now}, settings_);
  if (!evaluation.fitting.empty()) return evaluation.fitting.front();
  why_not_ = evaluation.rejected.front().reason;
  return std::nullopt;
}

bool NodeClearing::connected(GpuMask set) const { return !state_.shape || state_.shape->table.connected(set); }

std::optional<Clearing> NodeClearing::choose(const OccupantSet& offered, bool others) {
  std::optional<Clearing> best;
  EvictionCost cost;
  const auto as_offered = judge(offered);
  if (as_offered && offered.none() && !others) {
    // A later scheduler may offer a node that only we rejected; if we no longer do, nobody need go.
    why_not_ = model::Reason::kNone;
    return std::nullopt;
  }
  if (as_offered) {
    best = Clearing{offered, *as_offered};
    cost = pods_.cost(offered);
    cost.apart = links_count_ && as_offered->gpu_set != 0 && !connected(as_offered->gpu_set);
    cost.uids.reset();  // of equals the scheduler's choice
  } else if (!judge(evictable_ | offered)) {
    return std::nullopt;
  }
  for (const WholeOption& option : options(offered, !as_offered, as_offered ? &cost : nullptr)) {
    const auto node = judge(option.victims);
    // What our rules chose may be another set, for promises of GPUs that stand in the way.
    if (!node || (links_count_ && !option.cost.apart && !connected(node->gpu_set))) continue;
    best = Clearing{option.victims, *node};
    break;
  }
  return best ? best : add_some(offered);
}

std::vector<WholeOption> NodeClearing::options(const OccupantSet& offered, bool by_count,
                                               const EvictionCost* below) const {
  const std::int64_t gpus = query_.pod.gpus;
  if (gpus < 1 || gpus > model::kMaxGpus || !state_.shape || !state_.free_known) return {};
  const StandIns stand_ins(pods_, offered);
  return whole_options({.pods = pods_,
                        .stand_ins = stand_ins,
                        .sets = state_.shape->table,
                        .pool = without(state_, evictable_ | offered).free,
                        .gpus = static_cast<int>(gpus),
                        .links_count = links_count_,
                        .connected_only = query_.pod.topology_policy == model::TopologyPolicy::kRestricted,
                        .by_count = by_count,
                        .below = below},
                       kMostJudged);
}

// For shares, partitions, and where nobody knows which GPUs a pod has: one pod after another, then back again.
std::optional<Clearing> NodeClearing::add_some(const OccupantSet& offered) {
  std::vector<OccupantSet> pools;
  if (query_.pod.parts.any()) {
    for (int gpu = 0; gpu < model::kMaxGpus; ++gpu) {
      OccupantSet on_gpu;
      for (std::size_t i = 0; i < pods_.size(); ++i) {
        const model::GpuPlacement& placement = pods_.pod(i).placement;
        const bool has_slot = std::ranges::any_of(placement.slots, [&](const auto& slot) { return slot.gpu == gpu; });
        on_gpu[i] = evictable_[i] && (has_slot || model::contains(placement.gpus, gpu));
      }
      if (on_gpu.any()) pools.push_back(on_gpu);
    }
  }
  pools.push_back(evictable_);
  std::optional<Clearing> best;
  EvictionCost least;
  for (const OccupantSet& pool : pools) {
    const OccupantSet victims = add_among(offered, pool);
    if (victims.none()) continue;
    const EvictionCost cost = pods_.cost(victims);
    if (best && !(cost < least)) continue;
    const auto node = judge(victims);
    if (!node) continue;
    best = Clearing{victims, *node};
    least = cost;
  }
  return best;
}

OccupantSet NodeClearing::add_among(const OccupantSet& offered, const OccupantSet& among) {
  std::vector<std::size_t> added;
  OccupantSet victims = offered;
  bool fits = false;
  for (const std::size_t pod : pods_.by_cost(among & ~offered)) {
    victims.set(pod);
    added.push_back(pod);
    fits = judge(victims).has_value();
    if (fits) break;
  }
  if (!fits) return {};
  // Not the last one: without it the pod did not fit.
  for (std::size_t i = added.size() - 1; i-- > 0;) {
    victims.reset(added[i]);
    if (!judge(victims)) victims.set(added[i]);
  }
  return spare_alike(victims, offered);
}

// Spares a victim of the scheduler's for each that was added and is alike.
OccupantSet NodeClearing::spare_alike(OccupantSet victims, const OccupantSet& offered) {
  for (const std::size_t added : pods_.by_cost(victims & ~offered)) {
    for (const std::size_t pod : pods_.by_importance()) {
      if (!offered[pod] || !victims[pod] || !pods_.alike(pod, added)) continue;
      victims.reset(pod);
      if (judge(victims)) break;
      victims.set(pod);
    }
  }
  return victims;
}

}  // namespace berth::policy
