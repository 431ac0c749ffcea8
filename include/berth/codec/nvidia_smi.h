// Reads what nvidia-smi tells of the GPUs of a machine, but for its matrix of links (topology_text.h).
//
// Formats: nvidia-smi(1), drivers 450 to 580. A driver that is too old for a line leaves it out; here it is not known
// then. The text is as foreign as any: an error says in which line, and how that should look.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"

namespace berth::codec {

// The fields of read_gpu_rows(): nvidia-smi --query-gpu=... --format=csv,noheader,nounits. Every driver has them; one
// field that it doesn't know would fail the whole call.
inline constexpr std::string_view kGpuFields = "index,uuid,name,memory.total,pci.bus_id";

struct GpuRow {
  std::string uuid;     // empty if the driver doesn't say
  std::string product;  // as in the label nvidia.com/gpu.product: "NVIDIA-H100-80GB-HBM3"
  std::int64_t memory_mib = 0;
  std::string bus_id;   // as sysfs names it: "0000:1b:00.0"
  bool answers = true;  // false: it fell off the bus; what is known of it may be no more than its place
  friend bool operator==(const GpuRow&, const GpuRow&) = default;
};
// By index. A GPU whose handle the driver can't find ("Unable to determine the device handle for GPU ...") takes the
// index that is left out, else the last. kNotFound if there is no GPU or no driver; the message is nvidia-smi's.
core::Result<std::vector<GpuRow>> read_gpu_rows(std::string_view csv);

// A partition that can be given out: a compute instance in a GPU instance.
struct MigDevice {
  int index = -1;         // among those of its GPU
  int gpu_instance = -1;  // ID of the GPU instance that it is in
  friend bool operator==(const MigDevice&, const MigDevice&) = default;
};
struct GpuDetails {
  std::string bus_id;  // as above
  int minor = -1;      // of /dev/nvidiaN; -1 if not known
  bool mig = false;
  bool usable = true;  // false: the driver asks for a reset or reboot, or rows of its memory could not be replaced
  std::string clique;  // "CLUSTER.CLIQUE" of a fabric that goes beyond the node; empty if there is none
  std::vector<MigDevice> mig_devices;
  friend bool operator==(const GpuDetails&, const GpuDetails&) = default;
};
// What nvidia-smi -q prints, in its order.
core::Result<std::vector<GpuDetails>> read_gpu_details(std::string_view text);

// What nvidia-smi -L tells of partitions.
struct MigName {
  int gpu = -1;         // index of its GPU
  int index = -1;       // as MigDevice::index
  std::string profile;  // "1g.5gb"; "1c.3g.20gb" where it is only a part of its GPU instance
  std::string uuid;     // "MIG-..."
  friend bool operator==(const MigName&, const MigName&) = default;
};
core::Result<std::vector<MigName>> read_mig_names(std::string_view text);

// A row of nvidia-smi mig -lgi.
struct GpuInstance {
  int gpu = -1;
  int id = -1;
  std::string profile;  // "1g.5gb"
  int start = -1;       // in memory slices
  int size = 0;
  friend bool operator==(const GpuInstance&, const GpuInstance&) = default;
};
// Empty if there are none, which nvidia-smi says in words.
core::Result<std::vector<GpuInstance>> read_gpu_instances(std::string_view text);

}  // namespace berth::codec
