#include "gang_data.h"

#include <algorithm>
#include <limits>

#include "berth/policy/filters.h"
#include "berth/policy/scores.h"

namespace berth::policy {
namespace {

using model::PlaceId;
using model::Slot;

const model::GangPlacement* placement_of(const Query& query) {
  return query.pod.gang.name.empty() ? nullptr : query.snapshot.gangs.find(query.pod.gang.name);
}

// How many pods like this one a node takes with `gpus` left. Of parts of GPUs one node takes many, but nobody has
// looked at its GPUs yet.
std::int32_t members_in(std::int32_t gpus, const model::PodRequest& pod) {
  if (pod.gpus <= 0) return 1;
  return gpus <= 0 ? 0 : static_cast<std::int32_t>(gpus / pod.gpus);
}

template <class Counts>
auto& at(Counts& counts, std::uint32_t index) {
  if (counts.size() <= index) counts.resize(index + 1);
  return counts[index];
}

std::int64_t look_up(const std::vector<std::int64_t>& counts, std::uint32_t index) {
  return index < counts.size() ? counts[index] : 0;
}

}  // namespace

GangData::GangData(const Query& query, const ViewOf& view_of)
    : snapshot_(query.snapshot),
      pod_(query.pod),
      gang_(placement_of(query)),
      own_(gang_ != nullptr ? query.snapshot.entry(query.pod.uid) : nullptr),
      required_(query.pod.gang_topology.required && !query.pod.gang.name.empty()) {
  if (pod_.gang.name.empty()) return;
  find_levels();
  count_members();
  rest_ = std::max(1, std::max(gang_ != nullptr ? gang_->size : 0, pod_.gang.members) - placed_);
  counts_ = placed_ > 0 || rest_ > 1;
  if (required_ || (counts_ && placed_ == 0)) count_room(view_of);
  if (required_) {
    take_expected();
    pin_ = pin();
  }
  if (placed_ == 0) return;
  near_.resize(snapshot_.places->size());
  for (PlaceId place = 0; place < near_.size(); ++place) near_[place] = near_members(0, place);
}

// Those whose label some node has: what no node says can't tell them apart.
void GangData::find_levels() {
  const model::GangTopology& wanted = pod_.gang_topology;
  const bool one = !wanted.label.empty() && !wanted.required;
  by_node_ = !one || wanted.level < 0;
  for (std::size_t index = 0; index < model::kMaxLevels; ++index) {
    if (one && static_cast<std::int32_t>(index) != wanted.level) continue;
    const bool told =
        std::ranges::any_of(*snapshot_.places, [&](const auto& place) { return place.levels[index] != 0; });
    if (told || one) levels_.push_back({index, {}, {}});
  }
}

GangData::Domain GangData::domain(PlaceId place, std::size_t level) const {
  return place < snapshot_.places->size() ? (*snapshot_.places)[place].levels[level] : 0;
}

void GangData::count_members() {
  if (gang_ == nullptr) return;
  here_.resize(snapshot_.index->slots());
  for (const auto& standing : gang_->nodes) {
    const Standing others = without_this(standing);
    const std::int32_t here = others.certain + others.expected;
    if (here == 0) continue;
    placed_ += here;
    here_[standing.slot] = here;
    const PlaceId place = snapshot_.at(standing.slot).place;
    for (Level& level : levels_) at(level.members, domain(place, level.index)) += here;
  }
}

// A pod that is decided anew may have an entry of its own.
GangData::Standing GangData::without_this(Standing standing) const {
  if (own_ != nullptr && own_->slot == standing.slot) {
    --(own_->kind == model::EntryKind::kSoft ? standing.expected : standing.certain);
  }
  return standing;
}

GangData::Domain GangData::domain_of(Slot slot, PlaceId place) const {
  const std::int32_t level = pod_.gang_topology.level;
  return level < 0 ? slot : domain(place, static_cast<std::size_t>(level));
}

void GangData::count_room(const ViewOf& view_of) {
  room_.resize(snapshot_.index->slots());
  for (Slot slot = 0; slot < room_.size(); ++slot) {
    if (snapshot_.index->name(slot).empty()) continue;
    const NodeView view = view_of(slot);
    const bool fits = filter_gpu_product(pod_, view) == model::Reason::kNone &&
                      filter_gpu_memory(pod_, view) == model::Reason::kNone &&
                      filter_dataset(view) == model::Reason::kNone;
    if (!fits) continue;
    room_[slot] = members_in(view.unpromised(), pod_);
    for (Level& level : levels_) at(level.room, domain(view.state->place, level.index)) += room_[slot];
    if (required_) at(free_, domain_of(slot, view.state->place)) += members_in(view.unused(), pod_);
  }
}

// What other members are expected to take is not free, though a soft entry of a stranger's holds nothing.
void GangData::take_expected() {
  if (gang_ == nullptr) return;
  for (const auto& standing : gang_->nodes) {
    const Standing others = without_this(standing);
    if (others.expected > 0) at(free_, domain_of(others.slot, snapshot_.at(others.slot).place)) -= others.expected;
  }
}

// Where most of those are that are there for certain. If there are none: where most are expected, but for a place that
// is too small for the rest, since a soft entry rejects nothing.
GangData::Pin GangData::pin() const {
  if (gang_ == nullptr) return {};
  const bool by_slot = pod_.gang_topology.level < 0;
  std::vector<std::pair<Domain, std::int32_t>> certain;
  std::vector<std::pair<Domain, std::int32_t>> expected;
  const auto add = [](auto& counts, Domain where, std::int32_t members) {
    if (members == 0) return;
    const auto known = std::ranges::find(counts, where, &std::pair<Domain, std::int32_t>::first);
    if (known != counts.end()) {
      known->second += members;
    } else {
      counts.emplace_back(where, members);
    }
  };
  for (const auto& standing : gang_->nodes) {
    const Standing others = without_this(standing);
    const Domain where = domain_of(others.slot, snapshot_.at(others.slot).place);
    add(certain, where, others.certain);
    add(expected, where, others.expected);
  }
  const auto& counts = certain.empty() ? expected : certain;
  if (counts.empty()) return {};
  const auto most = std::ranges::max_element(counts, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  });
  const bool nowhere = !by_slot && most->first == 0;
  if (certain.empty() && (nowhere || look_up(free_, most->first) < rest_)) return {};
  return {false, most->first};
}

double GangData::nearness(std::size_t level) const {
  return 1 - static_cast<double>(level) / static_cast<double>(levels_.size() + (by_node_ ? 1 : 0) + 1);
}

// The mean over the members of how near they are. Each level holds the closer ones: members that are in no domain of
// it, but nearer, count as in it.
double GangData::near_members(std::int32_t here, PlaceId place) const {
  std::int32_t shared = here;
  double sum = here;
  std::size_t number = by_node_ ? 1 : 0;
  for (const Level& level : levels_) {
    const Domain where = domain(place, level.index);
    const std::int32_t there = where != 0 && where < level.members.size() ? level.members[where] : 0;
    if (there > shared) {
      sum += (there - shared) * nearness(number);
      shared = there;
    }
    ++number;
  }
  return sum / placed_;
}

// Where nobody has a place yet: by the closest level of which the node's domain takes them all, the tighter one before
// the looser, and among these the one that has more room by the level before.
double GangData::room_for_all(std::int32_t here, PlaceId place) const {
  const auto all = static_cast<double>(rest_);
  const auto band = [&](std::size_t number, std::int64_t room, double closer) {
    const double tight = all / static_cast<double>(room);
    return nearness(number + 1) + (nearness(number) - nearness(number + 1)) * (tight + closer) / 2;
  };
  std::size_t number = 0;
  double closer = 0;
  if (by_node_) {
    if (here >= rest_) return band(number, here, 1);
    closer = here / all;
    ++number;
  }
  for (const Level& level : levels_) {
    const Domain where = domain(place, level.index);
    const std::int64_t room = where != 0 ? look_up(level.room, where) : 0;
    if (room >= rest_) return band(number, room, number == 0 ? 1 : closer);
    if (where != 0) closer = static_cast<double>(room) / all;
    ++number;
  }
  return nearness(number) * closer;
}

void GangData::fill(NodeView& view, Slot slot) const {
  const PlaceId place = view.state->place;
  if (placed_ > 0) {
    const std::int32_t here = here_[slot];
    view.proximity = here == 0 && place < near_.size() ? near_[place] : near_members(here, place);
  } else if (counts_) {
    view.proximity = room_for_all(room_[slot], place);
  }
  if (!required_) return;
  const Domain where = domain_of(slot, place);
  const bool labelled = pod_.gang_topology.level < 0 || where != 0;
  view.gang_fits = labelled && (pin_.anywhere || pin_.domain == where) && look_up(free_, where) >= rest_;
}

std::size_t nodes_of_gang(const Query& query) {
  const model::GangPlacement* const gang = placement_of(query);
  const std::int64_t size = std::max(gang != nullptr ? gang->size : 0, query.pod.gang.members);
  if (query.pod.gang.name.empty() || size == 0) return 0;
  std::int64_t most = 1;
  for (const auto& block : query.snapshot.blocks) {
    for (const model::NodeState& state : *block) most = std::max<std::int64_t>(most, state.gpus);
  }
  // More GPUs than a node has are a mistake that others tell of.
  const std::int64_t gpus = std::clamp<std::int64_t>(query.pod.gpus, 0, most);
  return static_cast<std::size_t>((size * gpus + most - 1) / most);
}

}  // namespace berth::policy
