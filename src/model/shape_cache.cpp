// The shapes of machines that tell their links, each kept once.
#include <algorithm>
#include <array>
#include <cstddef>
#include <list>
#include <mutex>
#include <utility>

#include "berth/model/machine.h"

namespace berth::model {
namespace {

constexpr std::size_t kMostShapes = 512;
constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

struct Key {
  LinkMatrix links;
  NumaNodes numa{};
  LinkBandwidths widths;
  friend bool operator==(const Key&, const Key&) = default;
};

// Keeps what is in use, and the rest while there is room: machines come and go, and anybody who may annotate a node may
// make up new ones. Thread-safe.
class ShapeCache {
 public:
  std::shared_ptr<const GpuShape> get(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, key, &Kept::key);
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return found->shape;
    }
    auto table = BestSetTable::build(key.links, key.numa, key.widths);
    if (!table) return nullptr;
    const std::size_t bytes = table->bytes();
    if (!make_room(bytes)) return nullptr;
    GpuShape shape{std::to_string(key.links.gpus) + " GPUs, as reported", key.links, key.numa, *std::move(table)};
    kept_.push_front({key, std::make_shared<const GpuShape>(std::move(shape)), bytes});
    bytes_ += bytes;
    return kept_.front().shape;
  }

 private:
  struct Kept {
    Key key;
    std::shared_ptr<const GpuShape> shape;
    std::size_t bytes = 0;
  };

  // Drops shapes that nobody uses, those not asked for the longest first.
  bool make_room(std::size_t bytes) {
    const auto full = [&] { return kept_.size() >= kMostShapes || bytes_ + bytes > kMostBytes; };
    for (auto at = kept_.end(); full() && at != kept_.begin();) {
      --at;
      if (at->shape.use_count() > 1) continue;
      bytes_ -= at->bytes;
      at = kept_.erase(at);
    }
    return !full();
  }

  std::mutex mutex_;
  std::list<Kept> kept_;  // the one asked for last first
  std::size_t bytes_ = 0;
};

// The product of all GPUs, empty if they differ or it is not known.
std::string_view one_product(const Machine& machine) {
  const std::string_view product = machine.gpus.front().product;
  const bool same = std::ranges::all_of(machine.gpus, [&](const Gpu& gpu) { return gpu.product == product; });
  return same ? product : std::string_view();
}

// Counts that differ don't tell which GPUs sit where; where they are the same, GPUs of one NUMA node follow each other,
// as their places on the PCIe bus do.
bool by_counts(NumaNodes& numa, const Machine& machine) {
  int node = 0;
  int each = 0;
  std::size_t next = 0;
  NumaNodes filled = numa;
  for (const std::int32_t gpus : machine.numa_gpus) {
    if (gpus < 0 || (gpus > 0 && each > 0 && gpus != each)) return false;
    if (gpus > 0) each = gpus;
    for (std::int32_t i = 0; i < gpus; ++i, ++next) {
      if (next >= machine.gpus.size()) return false;
      filled[next] = static_cast<std::int8_t>(std::min(node, 127));
    }
    ++node;
  }
  if (next != machine.gpus.size()) return false;
  numa = filled;
  return true;
}

NumaNodes numa_of(const Machine& machine, const GpuShape* table_shape) {
  NumaNodes numa;
  numa.fill(-1);
  bool told = false;
  for (std::size_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    numa[gpu] = std::max<std::int8_t>(machine.gpus[gpu].numa, -1);
    told = told || numa[gpu] >= 0;
  }
  if (!told && !by_counts(numa, machine) && table_shape != nullptr) numa = table_shape->numa;
  return numa;
}

}  // namespace

std::shared_ptr<const GpuShape> shape_of(const Machine& machine, const LinkBandwidths& widths) {
  const std::size_t gpus = machine.gpus.size();
  if (gpus == 0 || gpus > kMaxGpus) return nullptr;
  auto by_product = find_shape(one_product(machine), static_cast<int>(gpus), widths);
  if (!machine.links && !by_product) return nullptr;
  const Key key{machine.links ? *machine.links : by_product->links, numa_of(machine, by_product.get()), widths};
  if (key.links.gpus != static_cast<int>(gpus)) return nullptr;
  if (by_product && key.links == by_product->links && key.numa == by_product->numa) return by_product;
  static ShapeCache cache;
  return cache.get(key);
}

}  // namespace berth::model
