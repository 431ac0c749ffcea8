#include "berth/policy/what_if.h"

namespace berth::policy {

model::PodDecisions what_if(const Query& query, const Settings& settings) {
  model::PodDecisions decisions;
  FilterOutcome filtered = decide_filter(query, settings);
  decisions.filter = std::make_shared<const model::Decision>(std::move(filtered.decision));
  if (filtered.kept.empty()) return decisions;
  std::vector<std::string_view> kept;
  kept.reserve(filtered.kept.size());
  for (const std::uint32_t name : filtered.kept) kept.push_back(query.names[name]);
  const Query rest{query.snapshot, query.pod, kept, query.attempt, query.now};
  decisions.prioritize = std::make_shared<const model::Decision>(decide_prioritize(rest, settings).decision);
  return decisions;
}

std::vector<std::string_view> all_names(const model::Snapshot& snapshot) {
  const model::NodeIndex& index = *snapshot.index;
  std::vector<std::string_view> names(index.nodes());
  for (model::Slot slot = 0; slot < index.slots(); ++slot) {
    if (!index.name(slot).empty()) names[index.rank(slot)] = index.name(slot);
  }
  return names;
}

}  // namespace berth::policy
