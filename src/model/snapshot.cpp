#include "berth/model/snapshot.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace berth::model {
namespace {

std::uint32_t hash_of(std::string_view name) { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name)); }

}  // namespace

std::int64_t NodeState::gpu_memory_mib() const {
  const std::int64_t told = told_apart() ? machine->gpus.front().memory_mib : 0;
  return told > 0 ? told : node->gpu_memory_mib;
}

NodeIndex::NodeIndex(std::vector<std::string> names) : names_(std::move(names)), ranks_(names_.size(), 0) {
  std::vector<Slot> order;
  order.reserve(names_.size());
  for (Slot slot = 0; slot < names_.size(); ++slot) {
    if (!names_[slot].empty()) order.push_back(slot);
  }
  nodes_ = order.size();
  std::sort(order.begin(), order.end(), [this](Slot a, Slot b) { return names_[a] < names_[b]; });
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks_[order[rank]] = rank;

  begins_.reserve(names_.size() + 1);
  for (const std::string& name : names_) {
    begins_.push_back(static_cast<std::uint32_t>(texts_.size()));
    texts_ += name;
  }
  begins_.push_back(static_cast<std::uint32_t>(texts_.size()));

  table_.resize(std::bit_ceil(nodes_ * 2 + 2));
  const std::size_t wrap = table_.size() - 1;
  for (const Slot slot : order) {
    const std::uint32_t hash = hash_of(names_[slot]);
    std::size_t at = hash & wrap;
    while (table_[at].slot != kNoSlot) at = (at + 1) & wrap;
    table_[at] = {hash, slot};
  }
}

Slot NodeIndex::find(std::string_view name) const {
  if (table_.empty() || name.empty()) return kNoSlot;
  const std::size_t wrap = table_.size() - 1;
  const std::uint32_t hash = hash_of(name);
  for (std::size_t at = hash & wrap; table_[at].slot != kNoSlot; at = (at + 1) & wrap) {
    const auto [known_hash, slot] = table_[at];
    if (known_hash == hash && text(slot) == name) return slot;
  }
  return kNoSlot;
}

std::size_t NodeIndex::bytes() const {
  return sizeof *this + names_.capacity() * sizeof(std::string) + 2 * texts_.capacity() +
         ranks_.capacity() * sizeof(std::uint32_t) + begins_.capacity() * sizeof(std::uint32_t) +
         table_.capacity() * sizeof(Entry);
}

GpuMask likely_taken(const NodeState& state, GpuMask free, std::int32_t gpus) {
  if (gpus <= 0) return 0;
  return state.shape ? state.shape->table.best(free, std::min(gpus, kMaxGpus)).value_or(free) : lowest(free, gpus);
}

const ImagePlacement* ImageIndex::find(std::uint64_t id) const {
  const auto& shard = shards[id % std::tuple_size_v<decltype(shards)>];
  if (!shard) return nullptr;
  const auto found = shard->find(id);
  return found == shard->end() ? nullptr : found->second.get();
}

const GangPlacement* GangIndex::find(std::string_view name) const {
  const auto& shard = shards[shard_of(name)];
  if (!shard) return nullptr;
  const auto found = shard->find(name);
  return found == shard->end() ? nullptr : found->second.get();
}

DatasetId find_dataset(const DatasetNames& names, const DatasetRef& dataset) {
  auto found = names.find(dataset.to_string());
  if (found == names.end()) found = names.find(worker_label(dataset, {}));
  return found == names.end() ? kNoDataset : found->second;
}

DatasetId Snapshot::dataset_id(const DatasetRef& dataset) const { return find_dataset(*dataset_names, dataset); }

const DatasetPlacement* Snapshot::placement(const DatasetRef& dataset) const {
  const DatasetId id = dataset_id(dataset);
  return id == kNoDataset ? nullptr : datasets[id].get();
}

const LedgerEntry* Snapshot::entry(std::string_view uid) const {
  const auto found = ledger->find(uid);
  return found == ledger->end() ? nullptr : &found->second;
}

void resolve_claims(PodRequest& request, const Snapshot& snapshot) {
  std::vector<WantedDataset> wanted;
  for (const std::string& claim : request.claims) {
    const auto found = snapshot.claims->find(request.ns + "/" + claim);
    if (found != snapshot.claims->end()) wanted.push_back({found->second, request.requires_claim(claim)});
  }
  if (snapshot.ready) request.claims.clear();
  wanted.insert(wanted.end(), request.datasets.begin(), request.datasets.end());

  request.datasets.clear();
  std::vector<DatasetId> ids;  // of those kept
  for (WantedDataset& one : wanted) {
    const DatasetId id = snapshot.dataset_id(one.ref);
    std::size_t same = 0;
    while (same < ids.size() && !(id == ids[same] && (id != kNoDataset || one.ref == request.datasets[same].ref)))
      ++same;
    if (same == ids.size()) {
      ids.push_back(id);
      request.datasets.push_back(std::move(one));
    } else {
      request.datasets[same].required = request.datasets[same].required || one.required;
    }
  }
}

}  // namespace berth::model
