#include "evaluate.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>
#include <unordered_set>
#include <utility>

#include "berth/policy/filters.h"
#include "berth/policy/ledger_credit.h"
#include "berth/policy/scores.h"
#include "gang_data.h"
#include "packing_data.h"
#include "pod_data.h"

namespace berth::policy {
namespace {

using model::Reason;
using model::Slot;

// Where the administrator sets none: below it, differences are those of rounding.
constexpr std::chrono::milliseconds kShortestStep{1};

// Where pods could not run lately.
class Failures {
 public:
  explicit Failures(const Query& query) {
    const auto found = query.snapshot.failures->find(query.pod.owner);
    if (found != query.snapshot.failures->end()) of_owner_ = found->second;
  }

  void judge(Evaluated& node, const model::NodeState& state) const {
    // A second refusal of the same is no accident any more, half of it faded by now.
    constexpr float kRefused = 1.5F;
    if (state.failures <= 0) return;
    const auto found = std::ranges::lower_bound(of_owner_, node.slot, {}, &std::pair<Slot, float>::first);
    const float own = found != of_owner_.end() && found->first == node.slot ? found->second : 0.0F;
    node.parts.failures = score_failures(state.failures, own);
    node.refused = own >= kRefused;
  }

 private:
  std::span<const std::pair<Slot, float>> of_owner_;  // by slot
};

// A part that is off for this pod is off here too, else the unknown would beat everything known.
Evaluated unknown_node(std::uint32_t name, const model::PodRequest& pod, const PodData& data, bool gang) {
  Evaluated result;
  result.name = name;
  result.holds_all = false;
  result.load_seconds = data.remote_seconds();
  const bool asks = pod.gpus > 0 || pod.parts.any() || pod.resource_claims;
  const bool topology_counts = asks && pod.topology_policy != model::TopologyPolicy::kNone;
  result.parts = weigh({0, topology_counts ? kNeutral : 0, kNeutral, 0}, pod.weights, gang);
  return result;
}

Evaluation reject_all(const Query& query, Reason reason) {
  Evaluation result;
  result.rejected.reserve(query.names.size());
  for (std::uint32_t name = 0; name < query.names.size(); ++name) {
    result.rejected.push_back({name, query.snapshot.find(query.names[name]), reason});
  }
  return result;
}

// Locality is relative to the best node that fits, which is known once all have been looked at.
void score_data(std::span<Evaluated> nodes, const PodData& data, const Settings& settings,
                const model::Weights& weights, bool gang) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double least = kNone;
  double least_of_all = kNone;
  for (const Evaluated& node : nodes) {
    least_of_all = std::min(least_of_all, node.load_seconds);
    if (node.fit > 0) least = std::min(least, node.load_seconds);
  }
  const double step = std::chrono::duration<double>(std::max(settings.data.min_saving, kShortestStep)).count();
  const BestLoading best{least < kNone ? least : least_of_all, data.local_seconds(), step};
  for (Evaluated& node : nodes) {
    node.steps_behind = steps_behind(node.load_seconds, best);
    node.parts.locality = score_locality(node.steps_behind, node.saved_seconds, best);
    node.parts = weigh(node.parts, weights, gang);
  }
}

}  // namespace

Evaluation evaluate(const Query& query, const Settings& settings) {
  if (query.pod.invalid) return reject_all(query, Reason::kInvalidPolicy);
  const PodData data(query, settings.data);
  if (data.misses_required()) return reject_all(query, Reason::kDatasetUnknown);
  Evaluation result;
  result.fitting.reserve(query.names.size());
  const LedgerCredit& ledger = result.ledger.emplace(query.snapshot, query.pod);
  const auto view_of = [&](Slot slot) {
    NodeView node = ledger.view(slot);
    if (data.any()) data.fill(node, slot);
    return node;
  };
  const GangData gang(query, view_of);
  const PackingData packing(query, settings);
  const Failures failures(query);
  const bool hard_rule = query.pod.has_hard_rule(query.now);
  std::vector<bool> seen(query.snapshot.index->slots());
  std::unordered_set<std::string_view> unknown;

  for (std::uint32_t name = 0; name < query.names.size(); ++name) {
    const Slot slot = query.snapshot.find(query.names[name]);
    if (slot == model::kNoSlot) {
      if (!unknown.insert(query.names[name]).second) continue;
      if (hard_rule) {
        result.rejected.push_back({name, model::kNoSlot, Reason::kNodeUnknown});
      } else {
        result.fitting.push_back(unknown_node(name, query.pod, data, gang.counts()));
      }
      continue;
    }
    if (seen[slot]) continue;
    seen[slot] = true;

    NodeView node = view_of(slot);
    if (gang.any()) gang.fill(node, slot);
    Reason reason = filter_gpu_count(query.pod, node, settings.gpu_count);
    if (reason == Reason::kNone) reason = filter_gpu_product(query.pod, node);
    if (reason == Reason::kNone) reason = filter_gpu_memory(query.pod, node);
    if (reason == Reason::kNone) reason = filter_dataset(node);
    if (reason == Reason::kNone) reason = filter_gang(node);
    // Last, as it costs more than all others together.
    std::optional<model::GpuMask> gpu_set;
    PartFit parts;
    if (reason == Reason::kNone && query.pod.parts.any()) {
      parts = fit_parts(query.pod, node);
      reason = filter_gpu_share(parts);
    }
    if (reason == Reason::kNone) {
      gpu_set = choose_gpus(query.pod, node);
      reason = filter_topology(query.pod, node, gpu_set);
    }
    if (reason != Reason::kNone) {
      result.rejected.push_back({name, slot, reason});
      continue;
    }
    Evaluated fits;
    fits.name = name;
    fits.slot = slot;
    fits.rank = query.snapshot.index->rank(slot);
    fits.fit = query.pod.gpus == 0 || node.unpromised() >= query.pod.gpus ? 2 : node.unused() >= query.pod.gpus ? 1 : 0;
    if (!parts.unpromised) fits.fit = std::min<std::uint8_t>(fits.fit, 1);
    fits.holds_all = node.holds_all;
    fits.used = node.state->gpus - node.unpromised();
    fits.gpus_free = std::max(0, node.unused());
    fits.gpu_set = gpu_set.value_or(parts.gpus);
    fits.coverage = node.coverage;
    fits.load_seconds = node.load_seconds;
    fits.saved_seconds = node.saved_seconds;
    fits.parts = {0, score_topology(query.pod, node, gpu_set), packing.score(node, slot, gpu_set, parts), 0};
    fits.parts.proximity = node.proximity;
    failures.judge(fits, *node.state);
    if (!data.any()) fits.parts = weigh(fits.parts, query.pod.weights, gang.counts());
    result.fitting.push_back(fits);
  }
  if (data.any()) score_data(result.fitting, data, settings, query.pod.weights, gang.counts());
  result.by_gang = gang.counts();
  return result;
}

bool Better::operator()(const Evaluated& a, const Evaluated& b) const {
  if (a.fit != b.fit) return a.fit > b.fit;
  if (a.refused != b.refused) return b.refused;
  if (a.parts.total != b.parts.total) return a.parts.total > b.parts.total;
  if (a.used != b.used) return a.used > b.used;
  if (a.rank != b.rank) return a.rank < b.rank;
  return query_.names[a.name] < query_.names[b.name];
}

}  // namespace berth::policy
