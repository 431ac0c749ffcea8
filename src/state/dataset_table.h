// The datasets: their objects, the pods and labels that show where they are, and the placements made of these.
//
// A dataset keeps its DatasetId while anything tells of it. It has a name in the snapshot while its object is known and
// Fluid's API is served; where that is not, each worker label of a node is a name. Only what changed is worked out
// anew: a placement that comes out as before stays the same object.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/model/cluster_update.h"
#include "berth/model/snapshot.h"
#include "dataset_entry.h"

namespace berth::state {

class DatasetTable {
 public:
  DatasetTable(const CoverageOptions& options, const LabelTable& labels) : options_(options), labels_(labels) {}

  // To be called before what one update changes.
  void begin(core::WallTime now) {
    ++step_;
    now_ = now;
  }

  void set(model::Dataset object);
  void remove(const model::DatasetRef& ref);
  void replace(std::vector<model::Dataset> all);
  void set(model::CacheRuntime runtime);
  void remove(const model::DatasetRef& ref, std::string_view type);  // a runtime
  void replace(std::string_view type, std::vector<model::CacheRuntime> all);
  void set(model::DataLoad load);
  void remove_load(const std::string& ns, const std::string& name);
  void replace(std::vector<model::DataLoad> all);
  // Nothing is kept of a dataset whose object is not known.
  void measure(const model::Measured& measured);
  void serve(bool served);

  // `member` is what was kept of the pod, null if nothing was. The pod must have a part in a cache.
  void put_pod(std::unique_ptr<CacheMember>& member, const model::Pod& pod, NodeRecord& node, bool from_the_start);
  // Returns the node, which may now be of no use to anybody; null if nothing was kept.
  NodeRecord* drop_pod(std::unique_ptr<CacheMember>& member);
  // The node has got its slot, or is about to lose it.
  void node_changes(const NodeRecord& node);
  // `labels` came to the node in `slot` or left it, and the label table knows.
  void labels_change(model::Slot slot, std::span<const std::string> labels);

  [[nodiscard]] const model::DatasetNames& names() const { return names_; }
  // Worker labels (without UID) of the names that came, went or changed their meaning since the last call.
  std::vector<std::string> take_renamed() { return std::exchange(renamed_, {}); }
  [[nodiscard]] std::size_t ids() const { return entries_.size(); }

  // Has labels end whose time is over.
  void expire(core::SteadyTime now);
  [[nodiscard]] std::optional<core::SteadyTime> next_expiry() const;
  [[nodiscard]] bool changed() const { return names_changed_ || !dirty_.empty(); }
  // Throws std::bad_alloc; the next call then does what is left.
  void write(model::Snapshot& snapshot, const Moment& now);

 private:
  using DatasetId = model::DatasetId;
  struct Deadline {
    core::SteadyTime at{};
    DatasetId dataset = model::kNoDataset;
  };

  DatasetId find(const model::DatasetRef& ref) const;
  DatasetId make(const model::DatasetRef& ref);
  DatasetId take_id();
  void free_id(DatasetId id);
  void free_if_over(DatasetId id);
  void dirty(DatasetId id);

  void set_keys(DatasetId id);
  void drop_keys(DatasetId id);
  void refer(DatasetId id, const model::DatasetRef& physical);
  void unrefer(DatasetId id, const model::DatasetRef& physical);
  // What the name of the entry stands for.
  [[nodiscard]] DatasetId meaning(DatasetId id) const;
  void rename(DatasetId id);
  void rename_with_references(DatasetId id);
  void set_name(const std::string& name, std::string_view watched, DatasetId meaning);
  void sync_label(const std::string& label);
  void count_load(const model::DataLoad& load, int sign);

  std::shared_ptr<const model::DatasetPlacement> place(DatasetId id, const Moment& now);

  const CoverageOptions options_;
  const LabelTable& labels_;
  std::uint64_t step_ = 0;
  core::WallTime now_;
  bool served_ = false;

  std::vector<std::unique_ptr<DatasetEntry>> entries_;  // by id, null if free
  std::vector<DatasetId> free_ids_;
  model::StringMap<DatasetId> by_ref_;                  // by "NAMESPACE/NAME"
  model::StringMap<DatasetId> by_label_;                // of entries that are labels
  model::StringMap<std::vector<DatasetId>> by_key_;     // by label keys of objects; one key may mean several
  model::StringMap<std::vector<DatasetId>> referring_;  // by the physical dataset that they refer to
  model::StringMap<model::DataLoad> loads_;             // by "NAMESPACE/NAME"

  model::DatasetNames names_;
  bool names_changed_ = false;
  std::vector<std::string> renamed_;
  std::vector<DatasetId> dirty_;
  std::vector<bool> is_dirty_;      // by id
  std::deque<Deadline> deadlines_;  // ascending; of labels without a worker

  std::shared_ptr<const model::DatasetNames> published_names_ = std::make_shared<const model::DatasetNames>();
  std::vector<std::shared_ptr<const model::DatasetPlacement>> published_;  // by id
};

}  // namespace berth::state
