// Where a PCI device sits, from sysfs.
//
// Thread-safe: pure functions over files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace berth::agent {

struct PciPlace {
  std::string bridge;  // the switch above it, else the root complex: "0000:16:00.0", "pci0000:15"; empty if not known
  std::int8_t numa = -1;  // -1 if not known
  friend bool operator==(const PciPlace&, const PciPlace&) = default;
};

// `sysfs`: "/sys". `bus_id`: "0000:1b:00.0". Two devices below one switch have the same bridge.
PciPlace pci_place(const std::filesystem::path& sysfs, const std::string& bus_id);

}  // namespace berth::agent
