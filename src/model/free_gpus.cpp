#include "berth/model/free_gpus.h"

#include <algorithm>
#include <array>
#include <vector>

#include "berth/model/packing_view.h"

namespace berth::model {
namespace {

// What fragmentation is measured against: the classes of the mix to which GPUs that are free for whole GPUs and shares
// are of use.
class Demand {
 public:
  explicit Demand(const PackingView* packing) {
    if (packing == nullptr) return;
    mix_ = &packing->mix;
    shares_.resize(mix_->size());
    double sum = 0;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      const RequestClass& request = mix_->request(i);
      if (request.gpus > 0 && request.mig.empty()) shares_[i] = mix_->share(i);
      sum += shares_[i];
    }
    any_ = sum > 0;
    for (double& share : shares_) share /= any_ ? sum : 1;
  }

  [[nodiscard]] const MixTable& mix() const { return *mix_; }
  [[nodiscard]] double fragmented(const Room& room, std::int64_t milli) const {
    if (!any_) return 0;
    return std::max(0.0, static_cast<double>(milli) - mix_->worth(room, Counting(0, 0), shares_));
  }

 private:
  static const MixTable& nothing() {
    static const MixTable kNothing;
    return kNothing;
  }

  const MixTable* mix_ = &nothing();
  std::vector<double> shares_;  // by class, 0 for those that don't count
  bool any_ = false;
};

GpuMask largest_island(const GpuShape* shape, GpuMask free) {
  if (shape == nullptr) return lowest(free, 1);
  for (int size = count(free); size > 1; --size) {
    if (const auto set = shape->best_connected(free, size)) return *set;
  }
  return lowest(free, 1);
}

void count_islands(FreeGpus& free, const GpuShape* shape, GpuMask left) {
  while (left != 0) {
    const GpuMask island = largest_island(shape, left);
    free.by_island[static_cast<std::size_t>(count(island))] += count(island);
    left &= ~island;
  }
}

FreeGpus free_of(const NodeState& state, const Demand& demand) {
  Room room = room_of(state, {.firm = state.firm, .firm_gpus = state.firm_gpus}, state.uses.get(), demand.mix());
  room.cpu_milli += state.soft_requests.cpu_milli;  // which room_of() takes for used
  FreeGpus free{.milli = room.free_milli()};
  if (state.free_known) {
    free.whole = count(room.whole);
    count_islands(free, state.shape.get(), room.whole);
  } else {
    free.whole = free.by_island[1] = std::max(0, state.unused());
  }
  free.largest_request = free.whole;
  free.fragmented_milli = demand.fragmented(room, free.milli);
  return free;
}

void add(FreeGpus& sum, const FreeGpus& node) {
  sum.whole += node.whole;
  sum.milli += node.milli;
  sum.largest_request = std::max(sum.largest_request, node.largest_request);
  sum.fragmented_milli += node.fragmented_milli;
  for (std::size_t size = 0; size < sum.by_island.size(); ++size) sum.by_island[size] += node.by_island[size];
}

}  // namespace

double FreeGpus::fragmentation() const {
  return milli > 0 ? std::min(1.0, fragmented_milli / static_cast<double>(milli)) : 0;
}

FreeGpusView view_free_gpus(const Snapshot& snapshot, const FreeGpusView* before) {
  const Demand demand(snapshot.packing.get());
  FreeGpusView view;
  view.mix_version = demand.mix().version();
  if (before != nullptr && before->mix_version != view.mix_version) before = nullptr;
  view.nodes.reserve(snapshot.blocks.size() * std::tuple_size_v<NodeBlock>);
  view.stamps.reserve(view.nodes.capacity());
  const auto same = [before](std::size_t slot, std::uint32_t stamp) {
    return before != nullptr && stamp != 0 && slot < before->stamps.size() && before->stamps[slot] == stamp;
  };
  for (const auto& block : snapshot.blocks) {
    for (const NodeState& state : *block) {
      const std::size_t slot = view.nodes.size();
      FreeGpus& free = view.nodes.emplace_back();
      view.stamps.push_back(state.stamp);
      if (state.node == nullptr) continue;
      free = same(slot, state.stamp) ? before->nodes[slot] : free_of(state, demand);
      view.most_gpus = std::max(view.most_gpus, std::min(state.gpus, kMaxGpus));
      add(view.cluster, free);
    }
  }
  return view;
}

}  // namespace berth::model
