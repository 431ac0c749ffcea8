// The shares and partitions of GPUs that the containers of a pod want together.
//
// Each resource is added up as whole GPUs are. A container that names a resource of each of its GPUs (ShareResource)
// wants shares of them all and none whole; as in HAMi, one GPU if it names no number, and all of each one's memory if
// it names only time. Containers whose shares differ make the whole uneven.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/model/gpu_parts.h"
#include "pod_containers.h"

namespace berth::codec {

class PartCount {
 public:
  explicit PartCount(Reading& reading) : reading_(reading) {}

  // They return the whole GPUs that are left to count.
  std::int64_t add_container(const Container& container);
  // In the order of the list.
  std::int64_t add_init_container(const Container& container);
  std::int64_t add_overhead(const GpuAmounts& amounts);

  // `whole`: the pod's whole GPUs, all in all.
  [[nodiscard]] model::GpuParts total(std::int64_t whole);

 private:
  enum class Role : std::uint8_t { kContainer, kInitContainer, kSidecar, kOverhead };
  struct Share {
    model::GpuParts of;  // mib, memory_percent and milli of each GPU
    GpuCount gpus;
  };
  struct Partitions {
    std::string_view profile;
    GpuCount count;
  };
  std::int64_t add(std::int64_t gpus, const std::vector<PartAmount>& parts, Role role);
  static void add(GpuCount& count, std::int64_t amount, Role role);
  // Fails where there is no room for one more.
  bool has_room(std::size_t kinds);

  Reading& reading_;
  std::vector<Share> each_;                                 // by what they take of each GPU
  std::vector<std::pair<model::ShareUnit, GpuCount>> one_;  // of one GPU: MiB, per cent of memory, thousandths
  std::vector<Partitions> partitions_;
};

}  // namespace berth::codec
