// What a pod's datasets and images mean for each node, worked out once for a query.
//
// Time and memory: O(slots + holders + readers + places) for each dataset and image; none for a pod without them. The
// formula: docs/configuration.md, "Loading time".
//
// Thread-safe: immutable once built, valid as long as the query's snapshot is.
#pragma once

#include <cstdint>
#include <vector>

#include "berth/policy/decide.h"
#include "berth/policy/node_view.h"
#include "berth/policy/settings.h"

namespace berth::policy {

// What it means that a node holds a dataset for this pod: of the holder, and as much as the pod sets as a minimum.
bool holds_enough(const model::DatasetPlacement::Holder& holder, const model::PodRequest& pod);

class PodData {
 public:
  PodData(const Query& query, const DataCosts& costs);

  // A dataset that is required exists nowhere.
  [[nodiscard]] bool misses_required() const { return misses_required_; }
  // The pod has datasets or images of which something is known: otherwise nodes do not differ by them.
  [[nodiscard]] bool any() const { return !slots_.empty(); }
  // Everything from far away.
  [[nodiscard]] double remote_seconds() const { return remote_seconds_; }
  // Everything on the node itself.
  [[nodiscard]] double local_seconds() const { return local_seconds_; }
  // Sets what is about data in the view of a node; only if any().
  void fill(NodeView& view, model::Slot slot) const;

 private:
  // Of a node, beside what holds for all nodes of its place.
  struct SlotData {
    double seconds = 0;          // more, or less, than a node of this place that holds nothing and is read by nobody
    double bytes = 0;            // of datasets held
    std::uint32_t held = 0;      // datasets
    std::uint32_t required = 0;  // of the required ones
  };

  struct SecondsAByte {
    double node, rack, zone, remote;
  };

  void reserve();
  void add_dataset(const model::DatasetPlacement& placement, const model::DatasetReaders* readers, bool required);
  void add_neighbours(const model::DatasetPlacement& placement);
  void add_image(const model::ImagePlacement& image);
  [[nodiscard]] const model::Place& place_of(model::PlaceId place) const;
  // To read one byte of a dataset on a node of `place` that has `coverage` of it; rack_ and zone_ are the dataset's.
  [[nodiscard]] double seconds_a_byte(model::PlaceId place, double coverage) const;

  const model::Snapshot& snapshot_;
  const model::PodRequest& pod_;
  const DataCosts& costs_;
  const SecondsAByte tiers_;
  const model::LedgerEntry* own_entry_;
  bool misses_required_ = false;
  double remote_seconds_ = 0;
  double local_seconds_ = 0;
  double bytes_ = 0;  // of all datasets
  std::uint32_t datasets_ = 0;
  std::uint32_t required_ = 0;
  std::vector<SlotData> slots_;
  std::vector<double> place_seconds_;  // on a node of the place that holds nothing
  // Of the dataset in work.
  std::vector<double> rack_;   // coverage of its holders, by place
  std::vector<double> zone_;   // by zone
  std::vector<double> empty_;  // seconds on a node that holds nothing of it, by place
};

}  // namespace berth::policy
