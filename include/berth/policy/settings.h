// What the administrator decides about placement. Thread-safe: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace berth::policy {

// Who counts whole GPUs: the scheduler, which knows a deletion before we do, or Berth.
enum class GpuCountMode : std::uint8_t { kTrust, kEnforce };

// Which pods Filter hands on only the best nodes for.
enum class Coarse : std::uint8_t { kOff, kDatasets, kAll };

// How fast a pod reads its data by where the bytes come from, in bytes a second: docs/configuration.md, "Loading time".
struct Bandwidths {
  std::size_t node = std::size_t{4} << 30U;
  std::size_t rack = std::size_t{2} << 30U;
  std::size_t zone = std::size_t{1} << 30U;
  std::size_t remote = std::size_t{256} << 20U;
  std::size_t registry = std::size_t{128} << 20U;  // container images
  friend bool operator==(const Bandwidths&, const Bandwidths&) = default;
};

struct DataCosts {
  Bandwidths bandwidth;
  std::chrono::milliseconds min_saving{5'000};          // less decides nothing
  std::size_t readers_at_full_speed = 8;                // of one dataset on one node; more share what they get
  std::size_t unknown_bytes = std::size_t{100} << 30U;  // taken for a dataset whose size is not known
  friend bool operator==(const DataCosts&, const DataCosts&) = default;
};

struct Settings {
  GpuCountMode gpu_count = GpuCountMode::kTrust;
  Coarse coarse = Coarse::kAll;
  std::size_t candidates = 32;            // nodes that the coarse stage hands on at a pod's first attempt
  bool other_filtering_extender = false;  // another extender may reject what we hand on: then never narrow
  DataCosts data;
  double large_jobs = 2;  // PackingKnobs::large_jobs, the μ of docs/packing.md
};

}  // namespace berth::policy
