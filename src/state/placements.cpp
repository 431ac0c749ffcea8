#include "placements.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::state {

void Placements::change(model::Slot slot, std::span<const std::string> before, std::span<const std::string> after) {
  if (std::ranges::equal(before, after)) return;
  std::vector<std::string> lost;
  std::vector<std::string> won;
  std::ranges::set_difference(before, after, std::back_inserter(lost));
  std::ranges::set_difference(after, before, std::back_inserter(won));
  for (std::string& label : lost) {
    holders_[label].erase(slot);
    changed_.insert(std::move(label));
  }
  for (std::string& label : won) {
    holders_[label].insert(slot);
    changed_.insert(std::move(label));
  }
}

void Placements::write(model::Snapshot& snapshot) {
  if (changed()) {
    auto next = std::make_shared<model::DatasetMap>(*published_);
    for (const std::string& label : changed_) {
      const auto found = holders_.find(label);
      // It may be gone already, if memory ran out here before.
      if (found == holders_.end() || found->second.empty()) {
        if (found != holders_.end()) holders_.erase(found);
        next->erase(label);
        continue;
      }
      auto placement = std::make_shared<model::DatasetPlacement>();
      placement->holders.reserve(found->second.size());
      for (const model::Slot slot : found->second) placement->holders.push_back({slot, 1.0F});
      (*next)[label] = std::move(placement);
    }
    published_ = std::move(next);
    changed_.clear();
  }
  snapshot.datasets = published_;
}

}  // namespace berth::state
