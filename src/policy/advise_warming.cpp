#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include "berth/policy/filters.h"
#include "berth/policy/recommend.h"

namespace berth::policy {
namespace {

using model::StartUnknown;
using std::chrono::seconds;

// When a node has room for the job, and what it holds of the dataset.
struct Start {
  model::Slot slot = model::kNoSlot;
  std::optional<seconds> in;
  StartUnknown unknown = StartUnknown::kNone;
  std::int32_t gpus_free = 0;
  const model::DatasetPlacement::Holder* holder = nullptr;
};

const model::DatasetPlacement::Holder* holder_at(const model::DatasetPlacement* placement, model::Slot slot) {
  if (placement == nullptr) return nullptr;
  const auto found = std::lower_bound(placement->holders.begin(), placement->holders.end(), slot,
                                      [](const auto& holder, model::Slot wanted) { return holder.slot < wanted; });
  return found == placement->holders.end() || found->slot != slot ? nullptr : &*found;
}

// Whether the job could run on the node were it empty.
bool could_ever_run(const model::PodRequest& pod, const NodeView& node) {
  return node.state->gpus >= pod.gpus && filter_gpu_product(pod, node) == model::Reason::kNone &&
         filter_gpu_memory(pod, node) == model::Reason::kNone;
}

void find_start(Start& start, const model::PodRequest& pod, const NodeView& node, core::WallTime now) {
  const model::NodeState& state = *node.state;
  const std::int32_t promised = state.firm + state.soft;
  std::int64_t free = state.gpus - state.used - promised;
  start.gpus_free = static_cast<std::int32_t>(std::max<std::int64_t>(0, free));
  const bool restricted = pod.topology_policy == model::TopologyPolicy::kRestricted && pod.gpus > 0;
  if (free >= pod.gpus && fit_parts(pod, node).fits &&
      filter_topology(pod, node, choose_gpus(pod, node)) == model::Reason::kNone) {
    start.in = seconds(0);
    return;
  }
  const std::int64_t needed = restricted ? state.gpus : pod.gpus;
  std::vector<model::Occupant> ending;
  bool overdue = false;
  if (state.occupants) {
    for (const model::Occupant& occupant : *state.occupants) {
      if (occupant.ends == core::WallTime::max()) continue;
      overdue = overdue || occupant.ends <= now;
      if (occupant.ends > now) ending.push_back(occupant);
    }
  }
  std::sort(ending.begin(), ending.end(), [](const auto& a, const auto& b) { return a.ends < b.ends; });
  for (const model::Occupant& occupant : ending) {
    free += occupant.gpus;
    if (free < needed) continue;
    start.in = std::chrono::ceil<seconds>(occupant.ends - now);
    return;
  }
  start.unknown = overdue                     ? StartUnknown::kOverdue
                  : free + promised >= needed ? StartUnknown::kPromised
                                              : StartUnknown::kNobodySays;
}

auto order_of(const Start& start, const model::NodeIndex& index) {
  const double coverage = start.holder == nullptr ? 0 : static_cast<double>(start.holder->coverage);
  return std::tuple(!start.in.has_value(), start.in.value_or(seconds(0)),
                    start.holder == nullptr || !start.holder->worker, -coverage, index.rank(start.slot));
}

// Runtimes for which Fluid 1.0.8 has no DataLoad.
bool can_load(std::string_view runtime) {
  constexpr std::array<std::string_view, 3> kNever = {"thin", "efc", "vineyard"};
  return std::find(kNever.begin(), kNever.end(), runtime) == kNever.end();
}

// As many copies as the workers have room for together, one where that is not known. JuiceFS takes no number of copies.
std::int32_t copies_of(const model::DatasetPlacement& placement) {
  if (placement.runtime == "juicefs" || placement.worker_bytes <= 0 || placement.total_bytes <= 0) return 1;
  const double room = static_cast<double>(placement.worker_bytes) * placement.ready_workers;
  const double copies = std::floor(room / static_cast<double>(placement.total_bytes));
  return static_cast<std::int32_t>(
      std::clamp(copies, 1.0, std::max(1.0, static_cast<double>(placement.ready_workers))));
}

// Fluid's Helm release is the name with "-loader", and Helm takes 53 characters; a cut name keeps a hash, so that two
// long names stay apart.
std::string load_name(const std::string& dataset) {
  constexpr std::size_t kMost = 46;
  constexpr std::string_view kEnd = "-warm";
  if (dataset.size() + kEnd.size() <= kMost) return dataset + std::string(kEnd);
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : dataset) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  std::string digits;
  for (int i = 0; i < 8; ++i, hash >>= 4U) digits += "0123456789abcdef"[hash & 15U];
  std::string head = dataset.substr(0, kMost - kEnd.size() - digits.size() - 1);
  while (!head.empty() && (head.back() == '-' || head.back() == '.')) head.pop_back();
  return head + "-" + digits + std::string(kEnd);
}

}  // namespace

model::WarmAdvice advise_warming(const AdviceQuery& query, const model::DatasetRef& dataset) {
  const model::Snapshot& snapshot = query.snapshot;
  const model::DatasetPlacement* placement = snapshot.placement(dataset);
  model::WarmAdvice advice;
  advice.dataset = dataset;
  if (placement != nullptr) {
    advice.exists = true;
    if (!placement->ref.name.empty()) advice.dataset = placement->ref;
    model::Dataset known;
    known.phase = placement->phase;
    advice.bound = known.phase.empty() || known.bound();
    advice.runtime = placement->runtime;
    advice.ready_workers = placement->ready_workers;
    advice.loading = placement->loading;
    if (can_load(placement->runtime))
      advice.load = {advice.dataset, load_name(advice.dataset.name), copies_of(*placement)};
  }
  if (query.pod.invalid) return advice;

  std::vector<Start> starts;
  for (model::Slot slot = 0; slot < snapshot.index->slots(); ++slot) {
    if (snapshot.index->name(slot).empty()) continue;
    NodeView view;
    view.state = &snapshot.at(slot);
    view.firm_others = view.state->firm;
    view.soft_others = view.state->soft;
    view.firm_gpus = view.state->firm_gpus;
    view.uses = view.state->uses.get();
    if (!could_ever_run(query.pod, view)) continue;
    Start start;
    start.slot = slot;
    start.holder = holder_at(placement, slot);
    find_start(start, query.pod, view, query.now);
    starts.push_back(start);
  }
  advice.node_count = starts.size();
  const std::size_t shown = std::min({starts.size(), query.nodes, kMostAdvised});
  std::partial_sort(
      starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(shown), starts.end(),
      [&](const Start& a, const Start& b) { return order_of(a, *snapshot.index) < order_of(b, *snapshot.index); });
  starts.resize(shown);
  for (const Start& start : starts) {
    model::WarmNode node;
    node.node = snapshot.index->name(start.slot);
    const auto& known = snapshot.at(start.slot).node;
    node.slurm_name = known && !known->slurm_name.empty() ? known->slurm_name : node.node;
    node.gpus_free = start.gpus_free;
    node.starts_in = start.in;
    node.unknown = start.unknown;
    if (start.holder != nullptr) {
      node.worker = start.holder->worker;
      node.share = {start.holder->coverage, start.holder->source, start.holder->observed};
    }
    advice.worker_near = advice.worker_near || (node.worker && node.starts_in.has_value());
    advice.nodes.push_back(std::move(node));
  }
  return advice;
}

}  // namespace berth::policy
