// The gangs of pods and where their members are.
//
// A member is a pod that has not ended: one that waits counts for the gang's size, one that is bound or has an entry in
// the ledger has a place. Members that have succeeded no longer count as told. A pod that the scheduler asked about
// before the watch has shown it is a member for as long as it has an entry.
//
// A change of one pod costs a copy of the numbers by node, however many pods the gang has.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/model/snapshot.h"
#include "node_table.h"

namespace berth::state {

class GangTable {
 public:
  explicit GangTable(NodeTable& nodes) : nodes_(nodes) {}

  // What the watch tells of a pod. `gang` without a name: it is in none. Whether it is a member.
  bool set(const std::string& uid, const model::GangRef& gang, model::PodPhase phase);
  // The scheduler asks about a pod; what the watch tells comes before it.
  void expect(const std::string& uid, const model::GangRef& gang);
  // The pod is gone.
  void forget(std::string_view uid);
  // Where the pod is bound or expected, by a soft entry if `soft`; null: nowhere. Nothing if it is in no gang.
  void move(std::string_view uid, NodeRecord* node, bool soft);

  // To be called when a node has got a slot or lost it.
  void slots_change() { slots_changed_ = true; }

  [[nodiscard]] bool changed() const { return slots_changed_ || !touched_.empty(); }
  void write(model::Snapshot& snapshot);

 private:
  struct Gang;
  struct Member {
    Gang* gang = nullptr;
    NodeRecord* node = nullptr;
    bool soft = false;       // expected there, not certain
    std::int32_t told = 0;   // how many members it says the gang has
    bool watched = false;    // the watch has shown it
    bool succeeded = false;  // else it runs or is to run
  };
  struct Standing {
    std::int32_t certain = 0;
    std::int32_t expected = 0;
  };
  struct Gang {
    std::string name;
    std::int32_t pods = 0;
    std::int32_t succeeded = 0;                       // of them; these have no place
    std::map<std::int32_t, std::int32_t> told;        // by Member::told: how many say so
    std::unordered_map<NodeRecord*, Standing> nodes;  // none without members
    std::vector<model::Slot> changed;                 // of nodes whose numbers may not be the published ones
    bool published = false;
    bool touched = false;
  };
  using Members = model::StringMap<Member>;

  Member& join(const std::string& uid, const model::GangRef& gang);
  void leave(Members::iterator member);
  static void count(const Member& member, std::int32_t sign);
  void stand(Member& member, NodeRecord* node, bool soft);
  void touch(Gang& gang);
  [[nodiscard]] static std::vector<model::GangPlacement::Standing> all_nodes(const Gang& gang);
  void correct(std::vector<model::GangPlacement::Standing>& nodes, const Gang& gang) const;

  NodeTable& nodes_;
  Members members_;                   // by UID
  model::StringMap<Gang> gangs_;      // by name, none without members
  std::vector<std::string> touched_;  // names; of gangs that are gone, too
  bool slots_changed_ = false;
  model::GangIndex published_;
};

}  // namespace berth::state
