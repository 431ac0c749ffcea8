#include "packing_table.h"

#include <algorithm>
#include <utility>

namespace berth::state {
namespace {

constexpr std::uint32_t kPartOfNodes = 8;
constexpr std::uint64_t kPartOfPods = 16;
constexpr std::uint64_t kMostPods = 256;

}  // namespace

bool PackingTable::mix_due() const {
  const std::uint64_t since = window_.seen() - mixed_;
  return mix_.version == 0 || (since > 0 && since >= std::min(mixed_ / kPartOfPods, kMostPods));
}

void PackingTable::write(model::Snapshot& snapshot, std::uint32_t changes) {
  const auto nodes = static_cast<std::uint32_t>(snapshot.index->nodes());
  const bool due = mix_due();
  const bool same_nodes = view_ != nullptr && index_ == snapshot.index;
  if (due || !same_nodes || changes - changes_ >= std::max(1U, nodes / kPartOfNodes)) {
    model::RequestMix mix = mix_;
    if (due) {
      mix = window_.mix();
      mix.version = mix_.version + (mix.classes == mix_.classes ? 0 : 1);
    }
    view_ = model::view_packing(snapshot, model::MixTable(mix));
    mix_ = std::move(mix);
    if (due) mixed_ = window_.seen();
    index_ = snapshot.index;
    changes_ = changes;
  }
  snapshot.packing = view_;
}

}  // namespace berth::state
