#include "berth/policy/bind.h"

#include <optional>
#include <utility>
#include <vector>

#include "berth/policy/filters.h"
#include "berth/policy/ledger_credit.h"
#include "berth/policy/node_view.h"
#include "gang_data.h"
#include "pod_data.h"

namespace berth::policy {
namespace {

using model::Reason;

// Counts room on every node, so only for pods whose gang must be together.
Reason judge_gang(const BindQuery& query, const LedgerCredit& ledger, NodeView& node) {
  const GangData gang({query.snapshot, query.pod, {}, 1, query.now},
                      [&](model::Slot slot) { return slot == query.slot ? node : ledger.view(slot); });
  if (gang.any()) gang.fill(node, query.slot);
  return filter_gang(node);
}

// The rules that need no look at single GPUs.
Reason judge(const BindQuery& query, const LedgerCredit& ledger, NodeView& node, const Settings& settings) {
  const model::PodRequest& pod = query.pod;
  if (pod.requires_any_dataset(query.now)) {
    const PodData data({query.snapshot, pod, {}, 1, query.now}, settings.data);
    if (data.misses_required()) return Reason::kDatasetUnknown;
    if (data.any()) data.fill(node, query.slot);
  }
  Reason reason = filter_gpu_count(pod, node, GpuCountMode::kEnforce);
  if (reason == Reason::kNone) reason = filter_gpu_product(pod, node);
  if (reason == Reason::kNone) reason = filter_gpu_memory(pod, node);
  if (reason == Reason::kNone) reason = filter_dataset(node);
  if (reason == Reason::kNone && pod.parts.any()) reason = filter_gpu_share(fit_parts(pod, node));
  if (reason == Reason::kNone && pod.gang_topology.required) reason = judge_gang(query, ledger, node);
  return reason;
}

// Why a pod gets nothing of a node whose free GPUs are known, although the counts would do.
Reason without_placement(const model::PodRequest& pod, const NodeView& node) {
  const model::NodeState& state = *node.state;
  if (pod.gpus > 0 && state.shape && state.free_known) {
    return node.firm_others > 0 ? Reason::kReserved : Reason::kInsufficientGpu;
  }
  const bool told_apart = node.uses != nullptr || state.free_known;
  return pod.parts.any() && told_apart ? Reason::kGpuShareExhausted : Reason::kNone;
}

}  // namespace

BindVerdict check_node(const BindQuery& query, std::span<const Promise> others, const Settings& settings) {
  const model::PodRequest& pod = query.pod;
  if (pod.invalid) return {Reason::kInvalidPolicy};
  if (query.slot == model::kNoSlot) {
    const bool matters = pod.gpus > 0 || pod.parts.any() || pod.has_hard_rule(query.now);
    return {matters ? Reason::kNodeUnknown : Reason::kNone};
  }
  const LedgerCredit ledger(query.snapshot, pod);
  NodeView node = ledger.view(query.slot);
  node.soft_others = 0;
  node.expected = nullptr;
  std::vector<model::GpuUse> uses;
  for (const Promise& other : others) {
    promise(node, other.gpus, other.parts, other.placement, uses);
    node.firm_others -= other.counted;
  }
  if (const Reason reason = judge(query, ledger, node, settings); reason != Reason::kNone) return {reason};
  auto placement = place_gpus(pod, node);
  Reason reason = filter_topology(pod, node, placement ? std::optional(placement->gpus) : std::nullopt);
  if (reason == Reason::kNone && !placement) reason = without_placement(pod, node);
  if (reason != Reason::kNone) return {reason};
  return {Reason::kNone, std::move(placement).value_or(model::GpuPlacement{})};
}

}  // namespace berth::policy
