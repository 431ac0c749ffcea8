#include "label_table.h"

#include <utility>

namespace berth::state {

std::vector<std::string> LabelTable::change(model::Slot slot, std::span<const std::string> before,
                                            std::span<const std::string> after, core::WallTime now) {
  std::vector<std::string> changed;
  if (std::ranges::equal(before, after)) return changed;
  std::ranges::set_difference(before, after, std::back_inserter(changed));
  for (const std::string& label : changed) {
    const auto found = nodes_.find(label);
    if (found == nodes_.end()) continue;
    std::erase_if(found->second, [slot](const Labelled& one) { return one.slot == slot; });
    if (found->second.empty()) nodes_.erase(found);
  }
  std::vector<std::string> won;
  std::ranges::set_difference(after, before, std::back_inserter(won));
  for (std::string& label : won) {
    Nodes& nodes = nodes_[label];
    const auto at = std::ranges::lower_bound(nodes, slot, {}, &Labelled::slot);
    if (at == nodes.end() || at->slot != slot) nodes.insert(at, {slot, now});
    changed.push_back(std::move(label));
  }
  return changed;
}

std::span<const LabelTable::Labelled> LabelTable::nodes(std::string_view label) const {
  const auto found = nodes_.find(label);
  return found == nodes_.end() ? std::span<const Labelled>() : std::span<const Labelled>(found->second);
}

bool LabelTable::has(std::string_view label, model::Slot slot) const {
  return std::ranges::binary_search(nodes(label), slot, {}, &Labelled::slot);
}

}  // namespace berth::state
