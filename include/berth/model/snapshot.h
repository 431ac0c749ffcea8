// The immutable view of the cluster that every request is answered from, ledger included.
//
// Thread-safe: immutable; share it by shared_ptr<const Snapshot>. Nodes have slots, small stable numbers; the states of
// 64 neighbouring slots share a block, so that a change copies one block and not the cluster.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/gpu_topology.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"

namespace berth::model {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

// Names of the nodes, by slot and back. Built anew only when a node comes or goes.
class NodeIndex {
 public:
  NodeIndex() = default;
  // `names[slot]`; an empty name is a free slot. Names must be unique.
  explicit NodeIndex(std::vector<std::string> names);

  [[nodiscard]] Slot find(std::string_view name) const;  // kNoSlot if unknown
  [[nodiscard]] const std::string& name(Slot slot) const { return names_[slot]; }
  // Position of the slot's name in ascending order of names: the last tie-break of every ranking.
  [[nodiscard]] std::uint32_t rank(Slot slot) const { return ranks_[slot]; }
  [[nodiscard]] std::size_t slots() const { return names_.size(); }
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] std::size_t bytes() const;  // of memory, about

 private:
  struct Entry {
    std::uint32_t hash = 0;
    Slot slot = kNoSlot;
  };
  [[nodiscard]] std::string_view text(Slot slot) const {
    return std::string_view(texts_).substr(begins_[slot], begins_[slot + 1] - begins_[slot]);
  }

  std::vector<std::string> names_;
  std::vector<std::uint32_t> ranks_;
  // All names again, side by side: 50,000 look-ups into strings of their own would wait for memory 100,000 times.
  std::string texts_;
  std::vector<std::uint32_t> begins_;  // of each name in texts_, and its end
  std::vector<Entry> table_;           // open addressing, a power of two
  std::size_t nodes_ = 0;
};

// A node and the GPUs taken on it.
struct NodeState {
  std::shared_ptr<const Node> node;       // null in a free slot
  std::shared_ptr<const GpuShape> shape;  // null if the table of machine shapes has none for it
  std::int32_t gpus = 0;                  // capacity
  std::int32_t used = 0;                  // held by bound pods that have not ended
  std::int32_t firm = 0;                  // held by firm ledger entries
  std::int32_t soft = 0;                  // held by soft ledger entries
  GpuMask free = 0;                       // GPUs that no bound pod holds; only where free_known
  bool free_known = false;                // false: only counts are known

  [[nodiscard]] std::int32_t unused() const { return gpus - used - firm; }
};

enum class EntryKind : std::uint8_t { kSoft, kFirm };

// Who is expected to hold GPUs on a node without being bound to it yet.
struct LedgerEntry {
  std::string uid;
  Slot slot = kNoSlot;
  std::int32_t gpus = 0;
  std::int32_t priority = 0;  // of the pod; a firm entry holds nothing against a pod of higher priority
  EntryKind kind = EntryKind::kSoft;
};

// Which nodes hold a dataset, ascending by slot.
struct DatasetPlacement {
  struct Holder {
    Slot slot;
    float coverage;  // fraction of its bytes, in (0, 1]
  };
  std::vector<Holder> holders;
};

// Heterogeneous look-up by string_view.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

using NodeBlock = std::array<NodeState, 64>;
using DatasetMap = StringMap<std::shared_ptr<const DatasetPlacement>>;  // by DatasetRef::label()
using LedgerMap = StringMap<LedgerEntry>;                               // by pod UID

struct Snapshot {
  std::uint64_t version = 0;
  core::SteadyTime built{};
  bool ready = false;         // a first complete view of nodes and pods is in it
  std::string not_ready_why;  // for /readyz, empty once ready
  std::shared_ptr<const NodeIndex> index = std::make_shared<const NodeIndex>();
  std::vector<std::shared_ptr<const NodeBlock>> blocks;
  std::shared_ptr<const DatasetMap> datasets = std::make_shared<const DatasetMap>();
  std::shared_ptr<const LedgerMap> ledger = std::make_shared<const LedgerMap>();
  std::size_t pods = 0;        // pods known
  std::size_t bound_pods = 0;  // of them bound and not ended
  std::int64_t gpus = 0;       // capacity of all nodes
  std::int64_t gpus_used = 0;  // held on them by bound pods

  [[nodiscard]] const NodeState& at(Slot slot) const { return (*blocks[slot / 64])[slot % 64]; }
  [[nodiscard]] Slot find(std::string_view name) const { return index->find(name); }
  // nullptr if no node holds it.
  [[nodiscard]] const DatasetPlacement* placement(const DatasetRef& dataset) const;
  // nullptr if the pod has no entry.
  [[nodiscard]] const LedgerEntry* entry(std::string_view uid) const;
};

}  // namespace berth::model
