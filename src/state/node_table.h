// The nodes, known or only referred to, with their slots; and the blocks of node states that snapshots share.
//
// Not thread-safe: owned by the builder. References to a NodeRecord stay valid until release() finds it unused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/snapshot.h"
#include "gpu_account.h"
#include "machine_sources.h"
#include "place_table.h"

namespace berth::state {

// What a node has to do with one dataset.
struct DataUse {
  model::DatasetId dataset = model::kNoDataset;
  std::int32_t cache_pods = 0;  // of the dataset's own pods, there
  std::int32_t readers = 0;     // pods that read it there, or will
  [[nodiscard]] bool empty() const { return cache_pods == 0 && readers == 0; }
};

struct NodeRecord {
  std::string name;
  model::Slot slot = model::kNoSlot;              // kNoSlot: not known, but pods are bound or nominated to it
  std::shared_ptr<const model::Node> node;        // null while not known
  MachineSources told;                            // by other objects, also while the node is not known
  std::shared_ptr<const model::Machine> machine;  // of a known node, all sources joined; null if only labels tell
  std::shared_ptr<const model::GpuShape> shape;   // null if the links are not known
  GpuAccount account;
  // What its bound pods ask for that have not ended, the number of these pods included.
  model::BasicResources requested;
  std::shared_ptr<const model::ScalarResources> scalars_requested;  // null if none
  // Sums over the node's ledger entries. Of requests, of those whose pods are known.
  std::int64_t firm = 0;
  std::int64_t soft = 0;
  model::BasicResources firm_requests;
  model::BasicResources soft_requests;
  std::uint32_t firm_entries = 0;
  std::uint32_t soft_entries = 0;
  std::uint32_t refers = 0;   // pods that are remembered with it for their data
  std::vector<DataUse> data;  // each dataset once, none empty
  model::PlaceId place = 0;   // of a known node
  float failures = 0;         // as model::NodeState has it

  // Counts a bound pod that comes, or goes.
  void count_pod(const model::Resources& requests, int sign);

  // Made if there is none; to be followed by tidy() where a count has become 0.
  DataUse& use(model::DatasetId dataset);
  void tidy(model::DatasetId dataset);
};

class NodeTable {
 public:
  explicit NodeTable(const model::LinkBandwidths& widths = {}) : widths_(widths) {}

  // The record of `name`, made if there is none. Hold something on it or give it back with release().
  NodeRecord& at(std::string_view name);
  // nullptr if there is none.
  [[nodiscard]] NodeRecord* find(std::string_view name);
  // Forgets the record if the node is not known and nothing refers to it.
  void release(NodeRecord& record);

  // Gives the node a slot if it has none, and its GPUs their capacity.
  void set(NodeRecord& record, std::shared_ptr<const model::Node> node);
  // What a source other than the Node object tells of the node's GPUs; null: nothing any more. To be followed by
  // release().
  void tell(NodeRecord& record, model::TopologySource source, std::shared_ptr<const model::Machine> machine);
  // All that a source tells.
  void tell_all(model::AllMachines& machines);
  // Frees the slot. The record stays until release().
  void remove(NodeRecord& record);

  // To be called after every change to the account or the sums of a record.
  void touch(const NodeRecord& record);

  // By slot, null in a free one.
  [[nodiscard]] const std::vector<NodeRecord*>& by_slot() const { return by_slot_; }
  [[nodiscard]] bool changed() const { return index_changed_ || !touched_.empty() || places_.changed(); }

  // Index, places, blocks and sums of GPUs. Blocks without a touched slot are those of the last call. Throws
  // std::bad_alloc; the next call then does what is left.
  void write(model::Snapshot& snapshot);
  // States written so far.
  [[nodiscard]] std::uint32_t changes() const { return changes_; }

 private:
  void touch(model::Slot slot);
  void join_sources(NodeRecord& record);

  model::LinkBandwidths widths_;
  PlaceTable places_;
  model::StringMap<NodeRecord> records_;
  std::vector<NodeRecord*> by_slot_;
  std::vector<model::Slot> free_slots_;
  std::vector<model::Slot> touched_;  // each once
  std::vector<bool> is_touched_;      // by slot

  std::uint32_t changes_ = 0;  // states written; the last one's stamp

  bool index_changed_ = false;
  std::shared_ptr<const model::NodeIndex> index_ = std::make_shared<const model::NodeIndex>();
  std::vector<std::shared_ptr<const model::NodeBlock>> blocks_;
  std::int64_t gpus_ = 0;
  std::int64_t gpus_used_ = 0;
};

}  // namespace berth::state
