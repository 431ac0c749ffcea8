#include "berth/policy/bind.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "berth/policy/filters.h"
#include "berth/policy/node_view.h"
#include "pod_data.h"

namespace berth::policy {
namespace {

using model::GpuMask;
using model::Reason;

// Of a node on which GPUs were only held whole until now.
std::vector<model::GpuUse> first_uses(const model::NodeState& node) {
  std::vector<model::GpuUse> uses(static_cast<std::size_t>(std::clamp(node.gpus, 0, model::kMaxGpus)));
  for (std::size_t i = 0; i < uses.size(); ++i) {
    uses[i].memory_mib = node.node ? node.node->gpu_memory_mib : 0;
    if (model::contains(node.free, static_cast<int>(i))) continue;
    uses[i].used_mib = uses[i].memory_mib;
    uses[i].used_milli = model::kWholeMilli;
  }
  return uses;
}

void add_use(model::GpuUse& use, const model::GpuParts& parts) {
  use.used_mib += parts.mib > 0 ? parts.mib : use.memory_mib * parts.memory_percent / 100;
  use.used_milli += parts.milli;
}

void add_parts(model::NodeState& node, const Promise& promise) {
  auto uses = std::make_shared<std::vector<model::GpuUse>>(node.uses ? *node.uses : first_uses(node));
  for (std::size_t i = 0; i < uses->size(); ++i) {
    if (model::contains(promise.placement.gpus, static_cast<int>(i))) add_use((*uses)[i], promise.parts);
  }
  for (const model::MigSlot& slot : promise.placement.slots) {
    if (static_cast<std::size_t>(slot.gpu) >= uses->size()) continue;
    const unsigned slices = ((1U << static_cast<unsigned>(slot.size)) - 1) << static_cast<unsigned>(slot.start);
    (*uses)[static_cast<std::size_t>(slot.gpu)].used_slices |= static_cast<std::uint8_t>(slices);
  }
  node.uses = std::move(uses);
}

// What firm entries of others hold against the pod, its own left out.
std::int32_t firm_others(const BindQuery& query, model::NodeState& node) {
  std::int32_t held = node.firm;
  if (held == 0) return 0;
  for (const auto& [uid, entry] : *query.snapshot.ledger) {
    if (entry.slot != query.slot || entry.kind != model::EntryKind::kFirm) continue;
    const bool own = uid == query.pod.uid;
    if (!own && entry.priority >= query.pod.priority) continue;
    held -= entry.gpus;
    if (own && !entry.parts.any()) node.firm_gpus &= ~entry.placement.gpus;
  }
  return held;
}

// Promises that say which GPUs are as good as kept.
void take_promised(NodeView& node, model::NodeState& state) {
  const GpuMask named = std::exchange(state.firm_gpus, 0) & state.free;
  state.free &= ~named;
  state.used += model::count(named);
  node.firm_others -= model::count(named);
}

}  // namespace

void add_promise(model::NodeState& node, const Promise& promise) {
  const GpuMask opened = promise.placement.gpus & node.free & ~node.firm_gpus;
  // A share takes a GPU from those that want whole ones.
  node.firm += promise.parts.any() ? model::count(opened) : promise.gpus;
  node.firm_gpus |= promise.placement.gpus;
  if (promise.parts.any()) add_parts(node, promise);
}

BindVerdict check_node(const BindQuery& query, std::span<const Promise> others, const Settings& settings) {
  const model::PodRequest& pod = query.pod;
  if (pod.invalid) return {Reason::kInvalidPolicy};
  const bool needs_data = pod.requires_any_dataset(query.now);
  if (query.slot == model::kNoSlot) {
    const bool matters = pod.gpus > 0 || pod.parts.any() || pod.has_hard_rule(query.now);
    return {matters ? Reason::kNodeUnknown : Reason::kNone};
  }
  model::NodeState state = query.snapshot.at(query.slot);
  NodeView node{.state = &state};
  node.firm_others = firm_others(query, state);
  for (const Promise& other : others) {
    const std::int32_t before = state.firm;
    add_promise(state, other);
    node.firm_others += state.firm - before;
  }
  if (needs_data) {
    const PodData data({query.snapshot, pod, {}, 1, query.now}, settings.data);
    if (data.misses_required()) return {Reason::kDatasetUnknown};
    if (data.any()) data.fill(node, query.slot);
  }
  Reason reason = filter_gpu_count(pod, node, GpuCountMode::kEnforce);
  if (reason == Reason::kNone) reason = filter_gpu_product(pod, node);
  if (reason == Reason::kNone) reason = filter_gpu_memory(pod, node);
  if (reason == Reason::kNone) reason = filter_dataset(node);
  if (reason != Reason::kNone) return {reason};
  take_promised(node, state);
  const auto gpus = choose_gpus(pod, node);
  reason = filter_topology(pod, node, gpus);
  if (reason != Reason::kNone) return {reason};
  return {Reason::kNone, {gpus.value_or(0), {}}};
}

}  // namespace berth::policy
