// How much of a node's free GPUs requests of a class can still use.
//
// For a class that wants q GPUs with a demand on each and c CPU, on a node with C free CPU: k of its GPUs meet the
// demand, S is what is free on them. Usable is nothing where the product is not allowed, C < c or k < q; else S · (1 -
// a + a · min(1, (C / c) · (q / k))). With a = 1 a GPU that the node's CPU can no longer feed does not count; a = 0 is
// the measure of Weng et al., "Beware of Fragmentation" (USENIX ATC '23): free less fragmented.
//
// Tasks end, so a node of which most is free is soon whole: where several GPUs are asked for, and the node has so many
// and enough free CPU but only k < q GPUs free, S · b · (k / q)⁴ counts instead of nothing. CPU that is short is not
// forgiven: a node would look as good without what its GPUs need.
//
// For classes without GPUs it is the node's free CPU, in thousandths, where C >= c.
//
// Thread-safe: plain values; a MixTable is immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/gpu_set.h"
#include "berth/model/request_mix.h"

namespace berth::model {

// How usable capacity is counted.
struct Counting {
  double cpu_weight = 1;    // a
  double nearly_whole = 1;  // b

  Counting() = default;
  Counting(double a, double b = 1) : cpu_weight(a), nearly_whole(b) {}
};

// What a node has left. GPUs that can't be given out, being broken or not there, have negative `milli` and no MIG
// table.
struct Room {
  std::int64_t cpu_milli = 0;
  std::int32_t gpus = 0;     // indices in use, at most kMaxGpus
  std::int32_t product = 0;  // MixTable::product() of the node's GPUs
  GpuMask whole = 0;         // GPUs of which nothing is used
  // By GPU.
  std::array<std::int32_t, kMaxGpus> milli{};       // free time; negative for GPUs in MIG mode
  std::array<std::int32_t, kMaxGpus> mib{};         // free memory
  std::array<std::int32_t, kMaxGpus> memory_mib{};  // all of its memory; 0 if not known
  std::array<std::int8_t, kMaxGpus> mig_table{};    // mig_table_of() of a GPU in MIG mode, else 0
  std::array<std::uint8_t, kMaxGpus> used_slices{};
  // Partitions made beforehand: in hexadecimal digit i the one that begins at memory slice i, as its number in the MIG
  // table and 1; 0: partitions are made on demand.
  std::array<std::uint32_t, kMaxGpus> made{};

  // Thousandths of GPUs that are free; partitions are not counted.
  [[nodiscard]] std::int64_t free_milli() const;
  friend bool operator==(const Room&, const Room&) = default;
};

// A node of `gpus` equal, unused GPUs that are given out whole or by shares.
Room empty_room(std::int64_t cpu_milli, int gpus, std::int32_t product, std::int64_t memory_mib = 0);

// GPUs that meet the demand of `request` on each; for partitions those with a place for one. CPU and product are not
// looked at.
GpuMask meeting(const Room& room, const RequestClass& request);
// Takes the request's part of each of `gpus`, which must meet its demand. CPU and partitions stay.
void take_gpus(Room& room, const RequestClass& request, GpuMask gpus);
// Takes one partition at its best place on the GPU, which must have one.
void take_partition(Room& room, const RequestClass& request, int gpu);

// The classes of a mix, in an order in which what they can use is quickly worked out. Vectors of numbers by class are
// in this order.
class MixTable {
 public:
  MixTable() = default;
  explicit MixTable(const RequestMix& mix);

  [[nodiscard]] std::size_t size() const { return requests_.size(); }
  [[nodiscard]] const RequestClass& request(std::size_t i) const { return requests_[i].request; }
  [[nodiscard]] double share(std::size_t i) const { return requests_[i].share; }
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // For Room::product: a small number, 0 for products that no class names. Products beyond the 62nd share one.
  [[nodiscard]] std::int32_t product(std::string_view name) const;

  // Usable capacity by class, in thousandths of a GPU or, for those without GPUs, of a CPU; `out` has size() elements.
  // No allocation; about 0.3 µs for 100 classes.
  void usable(const Room& room, const Counting& counting, std::span<double> out) const;
  // Σ prices[i] · usable of class i, a little faster.
  [[nodiscard]] double worth(const Room& room, const Counting& counting, std::span<const double> prices) const;

 private:
  enum class Kind : std::uint8_t { kCpu, kWhole, kTime, kMemory, kPartition };
  // Of GPUs, the same for a run of classes.
  struct Demand {
    Kind kind = Kind::kTime;
    std::int32_t milli = 0;
    std::int64_t mib = 0;
    std::int32_t memory_percent = 0;
    std::array<std::int8_t, 16> profile{};  // by MIG table its number there and 1; 0: not in it
    std::uint32_t end = 0;                  // of the run
    friend bool operator==(const Demand&, const Demand&) = default;
  };
  // What a class asks beside it. `slope` and `base`: (C / c) · q = C · slope + base, without dividing by no CPU.
  struct Need {
    double cpu = 0;
    double slope = 0;
    double base = 0;
    std::int32_t gpus = 0;
    std::uint64_t products = 0;  // bit i: product i is allowed
  };
  struct Supply {
    int gpus = 0;      // k
    double milli = 0;  // S
  };

  static Demand demand_of(const RequestClass& request);
  [[nodiscard]] static Supply partitions(const Room& room, const Demand& demand);
  [[nodiscard]] static Supply shares_of(const Room& room, const Demand& demand, GpuMask gpus);
  template <class Use>
  void for_usable(const Room& room, const Counting& counting, const Use& use) const;

  std::uint64_t version_ = 0;
  std::vector<RequestShare> requests_;
  std::vector<Need> needs_;
  std::vector<Demand> demands_;
  std::vector<std::string> products_;  // ascending; the number of products_[i] is i + 1
};

}  // namespace berth::model
