// The containers of a pod, and the GPUs that they want together.
//
// Not thread-safe.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/model/node.h"
#include "json_fields.h"

namespace berth::codec {

// An amount of a resource that stands for a part of a GPU.
struct PartAmount {
  const model::ShareResource* share = nullptr;  // null: a MIG profile
  std::string_view profile;
  std::int64_t amount = 0;
};
// Kinds of them that one pod may name: above any machine's, and few enough to look through.
inline constexpr std::size_t kMostParts = 64;
// What a map of amounts says of GPUs.
struct GpuAmounts {
  std::optional<std::int64_t> gpus;
  std::vector<PartAmount> parts;  // in the order of the map, each once; none for most
};
GpuAmounts gpu_amounts(const Field& amounts, const model::ResourceNames& resources, Reading& reading);

struct Container {
  std::string_view name;
  std::string_view image;
  std::int64_t gpus = 0;
  std::vector<PartAmount> parts;
  bool restarts = false;  // an init container that is a sidecar
  Field env;              // not looked at yet
  Field ports;
};

// `reading` stands on the item.
std::optional<Container> read_container(simdjson::dom::element item, const model::ResourceNames& resources,
                                        Reading& reading);

template <class Take>
void each_container(const Field& containers, const model::ResourceNames& resources, Reading& reading, Take take) {
  const auto items = array(containers, reading);
  if (!items) return;
  const Reading::Step in_list(reading, containers.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    if (const auto container = read_container(item, resources, reading)) take(*container);
  }
}

// Adds up as PodRequests of k8s.io/component-helpers resource/helpers.go does.
class GpuCount {
 public:
  explicit GpuCount(Reading& reading) : reading_(reading) {}

  void add_container(std::int64_t gpus) { add(running_, gpus); }
  // In the order of the list. One that restarts is a sidecar: it stays beside all that start after it. The others run
  // alone.
  void add_init_container(std::int64_t gpus, bool restarts) {
    std::int64_t while_starting = sidecars_;
    add(while_starting, gpus);
    starting_ = std::max(starting_, while_starting);
    if (!restarts) return;
    sidecars_ = while_starting;
    add(running_, gpus);
  }
  void add_overhead(std::int64_t gpus) { add(overhead_, gpus); }

  [[nodiscard]] std::int64_t total() {
    std::int64_t sum = std::max(running_, starting_);
    add(sum, overhead_);
    return sum;
  }

 private:
  void add(std::int64_t& sum, std::int64_t gpus) {
    if (__builtin_add_overflow(sum, gpus, &sum)) {
      reading_.fail("asks for more GPUs than can be counted");
      sum = 0;
    }
  }

  Reading& reading_;
  std::int64_t running_ = 0;   // containers and sidecars
  std::int64_t starting_ = 0;  // the most that any init container and the sidecars before it hold
  std::int64_t sidecars_ = 0;
  std::int64_t overhead_ = 0;
};

}  // namespace berth::codec
