// Who is expected on a node without being bound to it yet, holding GPUs or reading data: one entry per pod UID.
//
// A firm entry lasts as long as the pod is nominated; on a node that is not known it waits unseen. A soft one needs a
// known node and ends by time. One that Bind reserved is firm too: it stands over the others, says which GPUs, and ends
// with the pod, when Bind takes it back, or after five minutes. Pods that ask for neither a GPU nor a dataset have no
// entry.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/snapshot.h"
#include "node_table.h"

namespace berth::state {

class Ledger {
 public:
  explicit Ledger(NodeTable& nodes) : nodes_(nodes) {}

  struct Demand {
    std::int32_t gpus = 0;
    std::int32_t priority = 0;
    model::GpuParts parts = {};
    std::shared_ptr<const model::Resources> requests = nullptr;  // null if the pod is not known
    friend bool operator==(const Demand&, const Demand&) = default;
  };

  // Replaces the pod's soft entry; a firm one stays. `expires` must not go back between calls.
  void put_soft(const std::string& uid, NodeRecord& node, Demand demand, core::SteadyTime expires);
  // Replaces whatever the pod had, but for what Bind reserved: it then waits for the end of that.
  void put_firm(const std::string& uid, NodeRecord& node, Demand demand);
  // Replaces whatever the pod had.
  void reserve(const std::string& uid, NodeRecord& node, Demand demand, model::GpuPlacement placement);
  // What Bind reserved is off; returns the node and demand of a nomination that it stood over.
  std::optional<std::pair<std::string, Demand>> unreserve(std::string_view uid);
  void end(std::string_view uid);
  // Ends the pod's entry if it is of this kind, and not reserved.
  void end(std::string_view uid, model::EntryKind kind);

  // To be called when a node has become known, and before it stops to be.
  void node_comes(const NodeRecord& node);
  void node_goes(NodeRecord& node);

  // Ends the entries that are over; returns how many soft ones.
  std::size_t expire(core::SteadyTime now);
  // When expire() will next have something to do.
  [[nodiscard]] std::optional<core::SteadyTime> next_expiry();

  // Where the pod is expected, known or not; null without an entry.
  [[nodiscard]] NodeRecord* node_of(std::string_view uid) const;
  // Whether the pod has a soft entry.
  [[nodiscard]] bool is_soft(std::string_view uid) const;
  // The pods whose entries came, moved, ended or became of the other kind since the last call.
  std::vector<std::string> take_moved() { return std::exchange(moved_, {}); }

  [[nodiscard]] bool changed() const { return changed_; }
  void write(model::Snapshot& snapshot);

 private:
  struct Entry {
    NodeRecord* node = nullptr;
    Demand demand;
    model::EntryKind kind = model::EntryKind::kSoft;
    core::SteadyTime expires{};  // of a soft or a reserved entry
    bool reserved = false;
    model::GpuPlacement placement = {};  // of a reserved entry
    std::string nominated = {};          // node of a nomination that a reserved entry stands over, and what for
    Demand nominated_for = {};
  };
  using Entries = model::StringMap<Entry>;
  struct Expiry {
    core::SteadyTime at{};
    std::string uid;
  };

  void put(const std::string& uid, const Entry& entry);
  Entries::iterator erase(Entries::iterator entry);
  void count(const Entry& entry, int sign);
  [[nodiscard]] bool stands(const Expiry& expiry, bool reserved) const;

  NodeTable& nodes_;
  Entries entries_;
  std::deque<Expiry> expiries_;        // ascending; those of entries that are gone or renewed stay until their turn
  std::vector<std::string> untimed_;   // reserved since the last expire(), which knows the time
  std::deque<Expiry> reserved_until_;  // as expiries_, of reserved entries
  std::vector<std::string> moved_;
  bool changed_ = false;
  std::shared_ptr<const model::LedgerMap> published_ = std::make_shared<const model::LedgerMap>();
};

}  // namespace berth::state
