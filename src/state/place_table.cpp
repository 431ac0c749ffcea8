#include "place_table.h"

#include <algorithm>
#include <utility>

namespace berth::state {

std::uint32_t PlaceTable::Numbers::enter(const std::string& name) {
  const auto [found, added] = numbers_.try_emplace(name, 0);
  if (added && free_.empty()) {
    found->second = static_cast<std::uint32_t>(uses_.size());
    uses_.push_back({name, 0});
  } else if (added) {
    found->second = free_.back();
    free_.pop_back();
    uses_[found->second].name = name;
  }
  ++uses_[found->second].count;
  return found->second;
}

void PlaceTable::Numbers::leave(std::uint32_t number) {
  Use& use = uses_[number];
  if (--use.count > 0) return;
  numbers_.erase(use.name);
  free_.push_back(number);
}

PlaceTable::PlaceTable() {
  for (Numbers& level : levels_) level.enter({});
  enter({});
}

model::Place PlaceTable::stands(const model::Node& node) {
  model::Place place;
  place.zone = zones_.enter(node.zone);
  place.rack = !node.rack.empty();
  for (std::size_t level = 0; level < std::min(node.levels.size(), levels_.size()); ++level) {
    if (!node.levels[level].empty()) place.levels[level] = levels_[level].enter(node.levels[level]);
  }
  return place;
}

model::PlaceId PlaceTable::enter(const model::Node& node) {
  // No label holds a slash.
  std::string name = node.zone + "/" + node.rack;
  for (const std::string& value : node.levels) name.append("/").append(value);
  const std::size_t before = places_.size();
  const model::PlaceId place = places_.enter(name);
  const model::Place stands_there = stands(node);
  if (places_.size() != before) known_.resize(places_.size(), {~std::uint32_t{0}, false});
  if (known_[place] != stands_there) {
    known_[place] = stands_there;
    changed_ = true;
  }
  return place;
}

void PlaceTable::leave(model::PlaceId place) {
  const model::Place& left = known_[place];
  zones_.leave(left.zone);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (left.levels[level] != 0) levels_[level].leave(left.levels[level]);
  }
  places_.leave(place);
}

void PlaceTable::write(model::Snapshot& snapshot) {
  if (changed_) {
    published_ = std::make_shared<const std::vector<model::Place>>(known_);
    changed_ = false;
  }
  snapshot.places = published_;
}

}  // namespace berth::state
