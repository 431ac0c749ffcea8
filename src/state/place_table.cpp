#include "place_table.h"

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

PlaceTable::PlaceTable() { enter({}, {}); }

model::PlaceId PlaceTable::enter(std::string_view zone, std::string_view rack) {
  // No label holds a slash.
  const std::size_t before = places_.size();
  const model::PlaceId place = places_.enter(std::string(zone).append("/").append(rack));
  const std::uint32_t number = zones_.enter(std::string(zone));
  if (places_.size() != before) known_.resize(places_.size(), {~std::uint32_t{0}, false});
  const model::Place stands{number, !rack.empty()};
  if (known_[place].zone != stands.zone || known_[place].rack != stands.rack) {
    known_[place] = stands;
    changed_ = true;
  }
  return place;
}

void PlaceTable::leave(model::PlaceId place) {
  zones_.leave(known_[place].zone);
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
