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
    auto names = std::make_shared<model::DatasetNames>();
    std::vector<std::shared_ptr<const model::DatasetPlacement>> next;
    for (const auto& [label, slots] : holders_) {
      if (slots.empty()) continue;
      auto placement = std::make_shared<model::DatasetPlacement>();
      for (const model::Slot slot : slots) {
        placement->holders.push_back({slot, 1.0F, model::CoverageSource::kLabel, true, {}, -1});
      }
      names->emplace(label, static_cast<model::DatasetId>(next.size()));
      next.push_back(std::move(placement));
    }
    names_ = std::move(names);
    published_ = std::move(next);
    changed_.clear();
  }
  snapshot.dataset_names = names_;
  snapshot.datasets = published_;
}

}  // namespace berth::state
