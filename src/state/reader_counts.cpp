#include "reader_counts.h"

#include <algorithm>
#include <utility>

namespace berth::state {

using model::DatasetId;
using model::DatasetReaders;

void ReaderCounts::add(NodeRecord& node, DatasetId dataset, int sign) {
  grow(dataset + std::size_t{1});
  DataUse& use = node.use(dataset);
  use.readers += sign;
  if (node.slot != model::kNoSlot) put(node.slot, dataset, use.readers);
  if (use.readers == 0) node.tidy(dataset);
}

void ReaderCounts::node_comes(const NodeRecord& node) {
  for (const DataUse& use : node.data) {
    if (use.readers > 0) put(node.slot, use.dataset, use.readers);
  }
}

void ReaderCounts::node_goes(const NodeRecord& node) {
  for (const DataUse& use : node.data) {
    if (use.readers > 0) put(node.slot, use.dataset, 0);
  }
}

void ReaderCounts::grow(std::size_t ids) {
  if (ids <= counts_.size()) return;
  counts_.resize(ids);
  is_dirty_.resize(ids);
  published_.resize(ids);
  grown_ = true;
}

void ReaderCounts::put(model::Slot slot, DatasetId dataset, std::int32_t pods) {
  auto& counts = counts_[dataset].counts;
  const auto at = std::ranges::lower_bound(counts, slot, {}, &DatasetReaders::Count::slot);
  const bool known = at != counts.end() && at->slot == slot;
  if (pods == 0) {
    if (known) counts.erase(at);
  } else if (known) {
    at->pods = pods;
  } else {
    counts.insert(at, {slot, pods});
  }
  if (is_dirty_[dataset]) return;
  is_dirty_[dataset] = true;
  dirty_.push_back(dataset);
}

void ReaderCounts::write(model::Snapshot& snapshot) {
  for (const DatasetId id : dirty_) {
    if (!is_dirty_[id]) continue;  // done before memory ran out
    const DatasetReaders& now = counts_[id];
    auto& last = published_[id];
    if (now.counts.empty()) {
      last = nullptr;
    } else if (!last || last->counts != now.counts) {
      last = std::make_shared<const DatasetReaders>(now);
    }
    is_dirty_[id] = false;
  }
  dirty_.clear();
  grown_ = false;
  snapshot.readers = published_;
}

}  // namespace berth::state
