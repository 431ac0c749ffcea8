// The containers of a pod, and how what they want adds up.
//
// Not thread-safe.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
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

// What a map of amounts says of the resources that kube-scheduler counts.
struct NamedAmount {
  std::string_view name;
  std::int64_t amount = 0;
};
struct Amounts {
  std::optional<std::int64_t> cpu_milli;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> ephemeral_storage_bytes;
  std::optional<std::int64_t> pods;  // of a node
  std::vector<NamedAmount> scalars;  // model::ScalarResources, in the order of the map
};
// Kinds of scalars that one pod or node may name: few enough to look through.
inline constexpr std::size_t kMostScalars = 128;
Amounts read_amounts(const Field& amounts, Reading& reading);
// Adds what `amounts` leaves open.
void fill_in(Amounts& amounts, const Amounts& defaults);

struct Container {
  std::string_view name;
  std::string_view image;
  std::int64_t gpus = 0;
  std::vector<PartAmount> parts;
  Amounts requests;
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

// Adds up as PodRequests of k8s.io/component-helpers resource/helpers.go does. `Ops` adds one amount to another and
// raises one to another.
template <class Amount, class Ops>
class RoleCount {
 public:
  explicit RoleCount(Ops ops) : ops_(ops) {}

  void add_container(const Amount& amount) { ops_.add(running_, amount); }
  // In the order of the list. One that restarts is a sidecar: it stays beside all that start after it. The others run
  // alone.
  void add_init_container(const Amount& amount, bool restarts) {
    Amount while_starting = sidecars_;
    ops_.add(while_starting, amount);
    ops_.raise(starting_, while_starting);
    if (!restarts) return;
    sidecars_ = std::move(while_starting);
    ops_.add(running_, amount);
  }
  void add_overhead(const Amount& amount) { ops_.add(overhead_, amount); }

  [[nodiscard]] Amount total() {
    Amount sum = running_;
    ops_.raise(sum, starting_);
    ops_.add(sum, overhead_);
    return sum;
  }

 private:
  Ops ops_;
  Amount running_{};   // containers and sidecars
  Amount starting_{};  // the most that any init container and the sidecars before it hold
  Amount sidecars_{};
  Amount overhead_{};
};

struct CountGpus {
  Reading* reading;
  void add(std::int64_t& sum, std::int64_t gpus) const {
    if (__builtin_add_overflow(sum, gpus, &sum)) {
      reading->fail("asks for more GPUs than can be counted");
      sum = 0;
    }
  }
  static void raise(std::int64_t& sum, std::int64_t gpus) { sum = std::max(sum, gpus); }
};
class GpuCount : public RoleCount<std::int64_t, CountGpus> {
 public:
  explicit GpuCount(Reading& reading) : RoleCount(CountGpus{&reading}) {}
};

}  // namespace berth::codec
