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
#include <utility>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/dataset.h"
#include "berth/model/disruption_budget.h"
#include "berth/model/gpu_parts.h"
#include "berth/model/gpu_topology.h"
#include "berth/model/machine.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"
#include "berth/model/resources.h"
#include "berth/model/scheduling_policy.h"

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

// Heterogeneous look-up by string_view.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

// A bound pod that holds GPUs on a node: which, and until when.
struct Occupant {
  std::string uid = {};
  std::string ns = {};
  std::string name = {};
  std::int32_t gpus = 0;        // whole ones
  GpuParts parts = {};          // shares and partitions
  GpuPlacement placement = {};  // empty where it is not known
  std::int32_t priority = 0;
  core::WallTime started = {};     // status.startTime, epoch if it has not
  core::WallTime saved = {};       // annotation checkpointed-at, epoch if it has none
  core::WallTime ends = {};        // its deadline or its expected end; WallTime::max() if nobody said
  std::vector<Label> labels = {};  // kept only where preemption is on
  std::string owner = {};          // UID of its controller, empty if it has none; likewise
  friend bool operator==(const Occupant&, const Occupant&) = default;
};

// What is used of one GPU by shares and partitions; all of it where a pod holds it whole.
struct GpuUse {
  std::int64_t memory_mib = 0;  // that it has; 0 if not known
  std::int64_t used_mib = 0;
  std::int32_t used_milli = 0;
  std::uint8_t used_slices = 0;  // memory slices of partitions, bit i: slice i
  bool mig = false;
  bool healthy = true;
  friend bool operator==(const GpuUse&, const GpuUse&) = default;
};

// How it is known which GPUs are free, the most trusted first.
enum class FreeSource : std::uint8_t {
  kAgent,        // kubelet's PodResources, by the agent
  kAnnotations,  // of HAMi, Koordinator, or Berth's own Bind, on every pod that holds GPUs there
  kModelled,     // as NVIDIA's device plugin would have handed them out
  kUnknown,
};
std::string_view to_string(FreeSource source);  // "agent", "annotations", "modelled", "unknown"

// A number for where a node stands: an index into Snapshot::places.
using PlaceId = std::uint32_t;
inline constexpr std::size_t kMaxLevels = 8;
struct Place {
  std::uint32_t zone = 0;  // a dense number; nodes without a zone label share one
  // A rack, named within its zone. False: the place of nodes without a rack label, which are nobody's neighbours.
  bool rack = false;
  // By level of ResourceNames::levels, a dense number for the label's value from 1 on; 0: the node has no such label
  // and is near nobody by it. Levels beyond the first eight are not looked at.
  std::array<std::uint32_t, kMaxLevels> levels{};
  friend bool operator==(const Place&, const Place&) = default;
};

// A node and the GPUs taken on it. What a decision reads of every node comes first, in two cache lines.
struct alignas(64) NodeState {
  std::shared_ptr<const Node> node;        // null in a free slot
  std::shared_ptr<const Machine> machine;  // what sources tell, merged; null if only labels do
  std::shared_ptr<const GpuShape> shape;   // null if the links are not known
  // By GPU; null where GPUs are only ever held whole, are all alike, healthy and not partitioned. Firm entries' shares
  // and partitions are counted in.
  std::shared_ptr<const std::vector<GpuUse>> uses;
  std::int32_t gpus = 0;    // whole GPUs that can be held: healthy ones, none in MIG mode
  std::int32_t used = 0;    // of them, held by bound pods that have not ended, in whole or in part
  std::int32_t firm = 0;    // whole GPUs held by firm ledger entries
  std::int32_t soft = 0;    // whole GPUs held by soft ledger entries
  GpuMask free = 0;         // healthy GPUs of which no bound pod holds any part; only where free_known
  GpuMask firm_gpus = 0;    // of them, promised one by one by firm entries that say which (whole or in part)
  bool free_known = false;  // false: only counts are known
  FreeSource free_source = FreeSource::kUnknown;
  float failures = 0;  // pods that could not run here lately, each fading over ten minutes
  PlaceId place = 0;
  std::uint32_t stamp = 0;       // another one for every state of every node; 0: a state that was only supposed
  GpuMask busy = 0;              // GPUs of bound pods that hold several
  BasicResources spare;          // allocatable less what bound pods ask for that have not ended; may be below zero
  BasicResources firm_requests;  // what the pods of firm ledger entries ask for, as far as they are known
  BasicResources soft_requests;  // likewise of soft ones
  std::shared_ptr<const ScalarResources> scalars_requested;  // by bound pods that have not ended; null if none
  std::shared_ptr<const std::vector<Occupant>> occupants;    // the first to end first; null if none

  [[nodiscard]] std::int32_t unused() const { return gpus - used - firm; }
  // A source tells the GPUs one by one.
  [[nodiscard]] bool told_apart() const { return machine && !machine->gpus.empty(); }
  // Of one GPU, as the source or else the node's labels tell it; 0 if not known.
  [[nodiscard]] std::int64_t gpu_memory_mib() const;
};

// Which of the free GPUs somebody will get who was promised so many: the best set; all if there aren't as many.
GpuMask likely_taken(const NodeState& state, GpuMask free, std::int32_t gpus);

enum class EntryKind : std::uint8_t { kSoft, kFirm };

// Who is expected to hold GPUs on a node without being bound to it yet.
struct LedgerEntry {
  std::string uid;
  Slot slot = kNoSlot;
  std::int32_t gpus = 0;      // whole ones
  std::int32_t priority = 0;  // of the pod; a firm entry holds nothing against a pod of higher priority
  EntryKind kind = EntryKind::kSoft;
  GpuParts parts = {};
  GpuPlacement placement = {};                          // of one by Bind; else empty
  std::shared_ptr<const Resources> requests = nullptr;  // all that the pod asks for; null if it is not known
};

// Where members of a gang are, by node.
struct GangPlacement {
  struct Standing {
    Slot slot = kNoSlot;
    std::int32_t certain = 0;   // bound, or with a firm entry in the ledger
    std::int32_t expected = 0;  // with a soft one
    friend bool operator==(const Standing&, const Standing&) = default;
  };
  std::int32_t size = 0;        // members that are to run at once: told, or as many as are known
  std::vector<Standing> nodes;  // where any is, by slot
  friend bool operator==(const GangPlacement&, const GangPlacement&) = default;
};
// By GangRef::name, in shards, so that a change copies little.
struct GangIndex {
  using Shard = StringMap<std::shared_ptr<const GangPlacement>>;
  std::array<std::shared_ptr<const Shard>, 256> shards;  // by shard_of(); null if empty
  static std::size_t shard_of(std::string_view name) { return StringHash{}(name) % 256; }
  [[nodiscard]] const GangPlacement* find(std::string_view name) const;  // nullptr if nothing is known of it
};
using PolicyMap = StringMap<std::shared_ptr<const SchedulingPolicy>>;  // by "NAMESPACE/NAME"
using FailureMap = StringMap<std::vector<std::pair<Slot, float>>>;     // by owner's UID: as NodeState::failures
using BudgetList = std::vector<DisruptionBudget>;

using DatasetId = std::uint32_t;
inline constexpr DatasetId kNoDataset = ~DatasetId{0};

// Where a dataset's bytes are. Reference datasets share the placement of their physical one.
struct DatasetPlacement {
  struct Holder {
    Slot slot = kNoSlot;
    float coverage = 0;  // fraction of the dataset's bytes, in [0, 1]
    CoverageSource source = CoverageSource::kAssumed;
    bool holds = false;       // counts for `required` without a minimum: a ready worker not measured to hold nothing
    core::WallTime observed;  // when the figure was measured or, for the others, when what it rests on was last seen
    std::int64_t bytes = -1;  // measured; -1 if not
    bool worker = false;      // a ready worker is there, where a load of the dataset lands
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  DatasetRef ref;                // physical; empty for a label that no Dataset is known of
  std::string phase;             // of the Dataset; empty for a label
  std::string runtime;           // "alluxio"; empty if not known
  std::int64_t total_bytes = 0;  // 0 if not known
  std::int32_t ready_workers = 0;
  std::int64_t worker_bytes = 0;  // that each of them may cache; 0 if not known
  bool loading = false;           // a DataLoad is running
  bool own_caches = false;        // what a node holds no other can read: JuiceFS community edition
  std::string master;             // "10.0.0.7:19999", where its Alluxio master answers; empty if there is none
  std::vector<Holder> holders;    // ascending by slot; coverage 0 included
  friend bool operator==(const DatasetPlacement&, const DatasetPlacement&) = default;
};

// How many pods that are bound to a node, or expected on it, read a dataset: ascending by slot, counts above 0.
struct DatasetReaders {
  struct Count {
    Slot slot = kNoSlot;
    std::int32_t pods = 0;
    friend bool operator==(const Count&, const Count&) = default;
  };
  std::vector<Count> counts;
};

// The nodes that have a container image.
struct ImagePlacement {
  std::int64_t bytes = 0;     // the largest size that a node reports
  std::vector<Slot> holders;  // ascending
};
// By image_id(), in shards, so that a change copies little.
struct ImageIndex {
  using Shard = std::unordered_map<std::uint64_t, std::shared_ptr<const ImagePlacement>>;
  std::array<std::shared_ptr<const Shard>, 256> shards;              // by the id's lowest byte; null if empty
  [[nodiscard]] const ImagePlacement* find(std::uint64_t id) const;  // nullptr if no node has it
};

using NodeBlock = std::array<NodeState, 64>;
using DatasetNames = StringMap<DatasetId>;  // by "NAMESPACE/NAME"; where no Dataset can be seen, by worker label
using ClaimMap = StringMap<DatasetRef>;     // by "NAMESPACE/CLAIM": claims behind which a dataset stands
using LedgerMap = StringMap<LedgerEntry>;   // by pod UID

// kNoDataset if `names` has it neither by its name nor by its worker label.
DatasetId find_dataset(const DatasetNames& names, const DatasetRef& dataset);

struct PackingView;  // packing_view.h

struct Snapshot {
  std::uint64_t version = 0;
  core::SteadyTime built{};
  bool ready = false;         // a first complete view of nodes and pods is in it
  std::string not_ready_why;  // for /readyz, empty once ready
  std::shared_ptr<const NodeIndex> index = std::make_shared<const NodeIndex>();
  std::vector<std::shared_ptr<const NodeBlock>> blocks;
  std::shared_ptr<const DatasetNames> dataset_names = std::make_shared<const DatasetNames>();
  std::vector<std::shared_ptr<const DatasetPlacement>> datasets;  // by DatasetId, null where free
  std::vector<std::shared_ptr<const DatasetReaders>> readers;     // by DatasetId, null where nobody reads it
  std::shared_ptr<const ClaimMap> claims = std::make_shared<const ClaimMap>();
  std::shared_ptr<const std::vector<Place>> places = std::make_shared<const std::vector<Place>>();
  ImageIndex images;
  std::shared_ptr<const LedgerMap> ledger = std::make_shared<const LedgerMap>();
  GangIndex gangs;
  std::shared_ptr<const PolicyMap> policies = std::make_shared<const PolicyMap>();
  std::shared_ptr<const FailureMap> failures = std::make_shared<const FailureMap>();
  std::shared_ptr<const BudgetList> budgets = std::make_shared<const BudgetList>();
  std::shared_ptr<const PackingView> packing;  // null before the first nodes
  std::size_t pods = 0;                        // pods known
  std::size_t bound_pods = 0;                  // of them bound and not ended
  std::int64_t gpus = 0;                       // capacity of all nodes
  std::int64_t gpus_used = 0;                  // held on them by bound pods

  [[nodiscard]] const NodeState& at(Slot slot) const { return (*blocks[slot / 64])[slot % 64]; }
  [[nodiscard]] Slot find(std::string_view name) const { return index->find(name); }
  // kNoDataset if no such dataset exists anywhere: no object, no label.
  [[nodiscard]] DatasetId dataset_id(const DatasetRef& dataset) const;
  // nullptr if it does not exist.
  [[nodiscard]] const DatasetPlacement* placement(const DatasetRef& dataset) const;
  // nullptr if the pod has no entry.
  [[nodiscard]] const LedgerEntry* entry(std::string_view uid) const;
};

// Adds the datasets that stand behind the pod's claims, in front of those it names itself, and forgets the claims; a
// dataset that is wanted twice, also under two names, stays once. Claims are kept while the snapshot is not ready.
void resolve_claims(PodRequest& request, const Snapshot& snapshot);

// Fills in what the pod's annotations leave open: by the policy it names, then its namespace's policy called "default",
// then `defaults`. A policy that does not exist, or is invalid, makes the request invalid. Before the snapshot is ready
// a named policy that is missing is not yet an error.
void apply_policy(PodRequest& request, const Snapshot& snapshot, const PodDefaults& defaults);

}  // namespace berth::model
