#include "../src/agent/pci.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace berth::agent {
namespace {

namespace fs = std::filesystem;

class Pci : public ::testing::Test {
 protected:
  // A device below `path` of /sys/devices.
  void put(const std::string& path, const std::string& bus_id, const std::string& numa) const {
    const fs::path device = fs::path(directory_.path("devices")) / path / bus_id;
    fs::create_directories(device);
    std::ofstream(device / "numa_node") << numa << "\n";
    const fs::path links = directory_.path("bus/pci/devices");
    fs::create_directories(links);
    fs::create_directory_symlink("../../../devices/" + path + "/" + bus_id, links / bus_id);
  }
  PciPlace place(const std::string& bus_id) const { return pci_place(directory_.path(""), bus_id); }
  tests::TempDir directory_;
};

TEST_F(Pci, DevicesBelowOneSwitchShareIt) {
  put("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0", "0000:18:00.0", "0");
  put("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0", "0000:19:00.0", "0");
  put("pci0000:97/0000:97:01.0/0000:98:00.0/0000:99:00.0", "0000:9a:00.0", "1");
  EXPECT_EQ(place("0000:18:00.0"), (PciPlace{"0000:16:00.0", 0}));
  EXPECT_EQ(place("0000:19:00.0"), (PciPlace{"0000:16:00.0", 0}));
  EXPECT_EQ(place("0000:9a:00.0"), (PciPlace{"0000:98:00.0", 1}));
}

TEST_F(Pci, WithoutASwitchTheRootComplexCounts) {
  put("pci0000:3a/0000:3a:00.0", "0000:3b:00.0", "-1");
  put("pci0000:00", "0000:00:05.0", "");  // of a virtual machine
  EXPECT_EQ(place("0000:3b:00.0"), (PciPlace{"pci0000:3a", -1}));
  EXPECT_EQ(place("0000:00:05.0"), (PciPlace{"pci0000:00", -1}));
}

TEST_F(Pci, WhatIsNotThereIsNotKnown) {
  EXPECT_EQ(place("0000:18:00.0"), PciPlace{});
  EXPECT_EQ(place(""), PciPlace{});
  EXPECT_EQ(place("../../../etc"), PciPlace{});
  put("platform/soc", "0000:01:00.0", "999999999999");
  EXPECT_EQ(place("0000:01:00.0"), PciPlace{});
}

}  // namespace
}  // namespace berth::agent
