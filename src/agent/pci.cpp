#include "pci.h"

#include <fstream>
#include <system_error>
#include <vector>

namespace berth::agent {

PciPlace pci_place(const std::filesystem::path& sysfs, const std::string& bus_id) {
  PciPlace place;
  // It goes into a path.
  if (bus_id.empty() || bus_id.find_first_not_of("0123456789abcdef:.") != std::string::npos) return place;
  const auto device = sysfs / "bus" / "pci" / "devices" / bus_id;
  std::error_code failed;
  const auto target = std::filesystem::read_symlink(device, failed);
  if (!failed) {
    // .../pci0000:15 / 0000:15:01.0 (root port) / 0000:16:00.0 (switch, up) / 0000:17:00.0 (switch, down) / device
    std::vector<std::string> above;
    for (const auto& part : target.parent_path()) {
      if (part.string().starts_with("pci")) above.clear();
      above.push_back(part.string());
    }
    if (!above.empty() && above.front().starts_with("pci")) {
      place.bridge = above.size() < 2 ? above.front() : above[above.size() - 2];
    }
  }
  std::ifstream file(device / "numa_node");
  int numa = -1;
  if (file >> numa && numa >= 0 && numa <= 127) place.numa = static_cast<std::int8_t>(numa);
  return place;
}

}  // namespace berth::agent
