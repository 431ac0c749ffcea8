// What a pod's gang means for each node, worked out once for a query.
//
// Time and memory: O(slots + places × levels); none for a pod that is in no gang. The formulas:
// docs/configuration.md, "Gangs".
//
// Thread-safe: immutable once built, valid as long as the query's snapshot is.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "berth/policy/decide.h"
#include "berth/policy/node_view.h"

namespace berth::policy {

class GangData {
 public:
  // The view of a node, with what is about data; called for every slot that has a node.
  using ViewOf = std::function<NodeView(model::Slot)>;
  GangData(const Query& query, const ViewOf& view_of);

  // Nodes differ by the gang: a member has a place, or several are to get one.
  [[nodiscard]] bool counts() const { return counts_; }
  // There is something to fill in.
  [[nodiscard]] bool any() const { return counts_ || required_; }
  // Sets what is about the gang in the view of a node; only if any().
  void fill(NodeView& view, model::Slot slot) const;

 private:
  using Standing = model::GangPlacement::Standing;
  using Domain = std::uint32_t;  // a number of Place::levels; 0: none
  struct Level {
    std::size_t index = 0;              // into Place::levels
    std::vector<std::int32_t> members;  // that have a place, by domain
    std::vector<std::int64_t> room;     // for how many members, by domain; the promises of others counted
  };
  // Where members may go that must be together.
  struct Pin {
    bool anywhere = true;
    Domain domain = 0;  // of the level; or the slot
  };

  void find_levels();
  void count_members();
  void count_room(const ViewOf& view_of);
  void take_expected();
  [[nodiscard]] Pin pin() const;
  [[nodiscard]] Domain domain_of(model::Slot slot, model::PlaceId place) const;
  [[nodiscard]] Standing without_this(Standing standing) const;
  [[nodiscard]] Domain domain(model::PlaceId place, std::size_t level) const;
  [[nodiscard]] double near_members(std::int32_t here, model::PlaceId place) const;
  [[nodiscard]] double room_for_all(std::int32_t here, model::PlaceId place) const;
  [[nodiscard]] double nearness(std::size_t level) const;

  const model::Snapshot& snapshot_;
  const model::PodRequest& pod_;
  const model::GangPlacement* const gang_;  // null if nothing is known of it
  const model::LedgerEntry* const own_;     // of the pod that is asked about; null if it has none
  const bool required_;
  bool by_node_ = true;  // sharing a node is a level of its own, the closest
  bool counts_ = false;
  std::int32_t placed_ = 0;  // members that have a place, this pod left out
  std::int32_t rest_ = 1;    // members that have none, this pod among them
  std::vector<Level> levels_;
  std::vector<std::int32_t> here_;  // members by slot
  std::vector<std::int32_t> room_;  // for how many members, by slot
  std::vector<double> near_;        // by place, on a node without members
  // Where members must be together: room that nothing firm stands in, by domain of the level, or by slot.
  std::vector<std::int64_t> free_;
  Pin pin_;
};

// How many nodes the whole gang takes if each is empty, at least; 0 for a pod that is in none.
std::size_t nodes_of_gang(const Query& query);

}  // namespace berth::policy
