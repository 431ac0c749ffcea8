#include "berth/codec/topology_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test_data.h"

namespace berth::codec {
namespace {

using model::Link;
using model::nvlink;
using testing::ElementsAre;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::vector<int> numa_of(const model::Machine& machine) {
  std::vector<int> numa;
  for (const model::Gpu& gpu : machine.gpus) numa.push_back(gpu.numa);
  return numa;
}

// An error, or "" with a machine.
std::string error_of(std::string_view text) {
  const auto machine = read_topology_text(text);
  return machine ? "" : machine.error().to_string();
}

constexpr std::string_view kPair =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV12\tPIX\t0-15\t0\t\tN/A\n"
    "GPU1\tNV12\t X \tSYS\t16-31\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \t\t\n"
    "\nLegend:\n\n  X    = Self\n  PIX  = Connection traversing at most a single PCIe bridge\n"
    "\nNIC Legend:\n\n  NIC0: mlx5_7\n";

TEST(TopologyText, LinksNumaNodesAndNics) {
  const auto machine = read_topology_text(kPair);
  ASSERT_TRUE(machine) << machine.error().to_string();
  ASSERT_TRUE(machine->links);
  EXPECT_EQ(machine->links->gpus, 2);
  EXPECT_EQ(machine->links->at(0, 1), nvlink(12));
  EXPECT_THAT(numa_of(*machine), ElementsAre(0, 1));
  ASSERT_EQ(machine->nics.size(), 1U);
  EXPECT_EQ(machine->nics[0].name, "mlx5_7");
  EXPECT_EQ(machine->nics[0].links[0], Link::kPix);
  EXPECT_EQ(machine->nics[0].links[1], Link::kSys);
}

// However it came to us, it is the same machine.
TEST(TopologyText, AsTerminalsPagesAndChatsPassItOn) {
  const model::Machine want = read_topology_text(kPair).value();
  std::string underlined(kPair);
  underlined.insert(1, "\x1B[4m");
  underlined.insert(underlined.find('\n'), "\x1B[0m");
  const std::string pasted[] = {
      underlined,
      replaced(underlined, "\x1B", ""),  // a page that drops the escape character
      replaced(std::string(kPair), "\n", "\r\n"),
      replaced(std::string(kPair), "\t", "     "),
      replaced(std::string(kPair), "\t", "\xC2\xA0 "),
      "\xEF\xBB\xBF" + std::string(kPair),
      "root@gpu-7:~# nvidia-smi topo -m\n" + std::string(kPair) + "root@gpu-7:~# \n",
      "76 NICs found in the topology, only displaying 56 in the matrix.\n" + std::string(kPair),
      "Mon Nov 30 09:00:00 2026\nGPU0 is the first one.\n\n" + std::string(kPair),
      replaced(std::string(kPair), "0-15\t0\t\tN/A", "0-7, 8-15 0 N/A"),
  };
  for (const std::string& text : pasted) {
    const auto machine = read_topology_text(text);
    ASSERT_TRUE(machine) << machine.error().to_string() << "\n" << text;
    EXPECT_EQ(*machine, want) << text;
  }
}

// Drivers up to 470 name NICs in the columns, and have no column GPU NUMA ID; up to 440 no NUMA Affinity either, and
// say SOC for SYS.
TEST(TopologyText, OldDrivers) {
  const auto machine = read_topology_text(
      "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\n"
      "GPU0\t X \tSOC\tPHB\t0-19,40-59\n"
      "GPU1\tSOC\t X \tSOC\t20-39,60-79\n"
      "mlx5_0\tPHB\tSOC\t X \t\n");
  ASSERT_TRUE(machine) << machine.error().to_string();
  EXPECT_EQ(machine->links->at(0, 1), Link::kSys);
  EXPECT_THAT(numa_of(*machine), ElementsAre(-1, -1));
  EXPECT_EQ(machine->nics[0].name, "mlx5_0");
  EXPECT_EQ(machine->nics[0].links[0], Link::kPhb);
}

TEST(TopologyText, OneGpuHasNoLinks) {
  const auto machine =
      read_topology_text("\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-7\t0\t\tN/A\n");
  ASSERT_TRUE(machine) << machine.error().to_string();
  EXPECT_EQ(machine->links->gpus, 1);
  EXPECT_THAT(numa_of(*machine), ElementsAre(0));
}

struct NumaCase {
  const char* cells;  // CPU Affinity, NUMA Affinity, GPU NUMA ID
  int numa;
};

TEST(TopologyText, NumaNodeOfAGpu) {
  const NumaCase cases[] = {
      {"0-15\t3\t\tN/A", 3},
      {"0-15\t127\t\tN/A", 127},
      {"0-15\tN/A\t\tN/A", -1},
      {"N/A\tN/A\t\tN/A", -1},
      {"6,14,22,30\t6\t\tN/A", 6},
      {"", -1},
      {"0-15", -1},
      {"0-15\t0-1\t\tN/A", -1},        // near both
      {"0-71\t0,2-17\t\t2", 0},        // Grace: its memory, then that of its GPUs
      {"72-143\t1,18-33\t\t26", 1},    //
      {"72-143\t1,18-33\t\tN/A", -1},  //
  };
  for (const NumaCase& c : cases) {
    const auto machine = read_topology_text("\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t" +
                                            std::string(c.cells) + "\n");
    ASSERT_TRUE(machine) << machine.error().to_string() << " " << c.cells;
    EXPECT_THAT(numa_of(*machine), ElementsAre(c.numa)) << c.cells;
  }
}

// vllm#14537: drivers show no more than 56 NICs, other systems may have more; 64 are kept.
TEST(TopologyText, ManyNics) {
  std::string header = "\tGPU0";
  std::string gpu = "GPU0\t X ";
  for (int nic = 0; nic < 70; ++nic) {
    header += "\tNIC" + std::to_string(nic);
    gpu += nic == 63 ? "\tPIX" : nic == 64 ? "\tN/A" : "\tNODE";
  }
  const auto machine = read_topology_text(header + "\tCPU Affinity\n" + gpu + "\t0-55,112-167\n");
  ASSERT_TRUE(machine) << machine.error().to_string();
  ASSERT_EQ(machine->nics.size(), 64U);
  EXPECT_EQ(machine->nics[63].name, "NIC63");
  EXPECT_EQ(machine->nics[63].links[0], Link::kPix);
}

struct WrongText {
  const char* name;
  std::string text;
  const char* error;
};

class WrongTopologyText : public testing::TestWithParam<WrongText> {};

std::string pair_with(std::string_view from, std::string_view to) { return replaced(std::string(kPair), from, to); }

INSTANTIATE_TEST_SUITE_P(
    Table, WrongTopologyText,
    testing::Values(
        WrongText{"Empty", " \n", "is empty; give the output of `nvidia-smi topo -m`"},
        WrongText{"OtherText", "No devices were found\n\n",
                  "line 1: no line of column names beginning with GPU0; give the whole output of `nvidia-smi topo -m`"},
        WrongText{"RowsAlone", "GPU0\t X \tPIX\nGPU1\tPIX\t X \n",
                  "lines 1 to 2: no line of column names beginning with GPU0; give the whole output of `nvidia-smi "
                  "topo -m`"},
        WrongText{"NoLink", pair_with("SYS\t16-31", "SIS\t16-31"),
                  "line 3, column NIC0: \"SIS\" is no link; links are NV1 to NV99, PIX, PXB, PHB, NODE and SYS"},
        WrongText{"Asymmetric", pair_with("GPU1\tNV12", "GPU1\tNV8"),
                  "line 3, column GPU0: NV8 is not what line 2 has for the same pair, NV12"},
        WrongText{"NicAsymmetric", pair_with("NIC0\tPIX", "NIC0\tPXB"),
                  "line 4, column GPU0: PXB is not what line 2 has for the same pair, PIX"},
        WrongText{"Diagonal", pair_with("NV12\t X ", "NV12\tPIX"),
                  "line 3, column GPU1: \"PIX\" must be X, a device's link to itself"},
        WrongText{"UnknownBetweenGpus", pair_with("NV12", "N/A"),
                  "line 2, column GPU1: \"N/A\" is no link; links are NV1 to NV99, PIX, PXB, PHB, NODE and SYS"},
        WrongText{"ShortRow", pair_with("SYS\t16-31\t1\t\tN/A", ""),
                  "line 3, column NIC0: is missing: the row ends after 2 of 3 links"},
        WrongText{"CutOff", std::string(kPair.substr(0, kPair.find("GPU1\tNV12"))),
                  "line 2: ends before the row of GPU1; give the whole output of `nvidia-smi topo -m`"},
        WrongText{"ForeignRow", pair_with("GPU1\tNV12", "kernel: oops\nGPU1\tNV12"),
                  "line 3: \"kernel:\" is no row; the row of GPU1 is missing"},
        WrongText{"RowTwice", pair_with("GPU1\tNV12\t X \tSYS", "GPU0\t X \tNV12\tPIX"),
                  "line 3: is a second row of GPU0; give the text of one machine"},
        WrongText{"TwoMachines", std::string(kPair) + std::string(kPair),
                  "line 14: a second matrix begins; give the text of one machine"},
        WrongText{"SomeGpus", pair_with("GPU1", "GPU3"),
                  "line 1, column GPU3: is where GPU1 should be; print the whole machine, without -i and with every "
                  "GPU"},
        WrongText{"ColumnTwice", pair_with("GPU1\tNIC0", "GPU1\tGPU1"), "line 1, column GPU1: is there twice"},
        WrongText{"UnknownColumn", pair_with("GPU NUMA ID", "Power"),
                  "line 1: \"Power\" is no column that nvidia-smi prints"},
        WrongText{"TooManyCells", pair_with("\t\tN/A", "\t1\t2"), "line 2: \"2\" is beyond the last column"},
        WrongText{"CpuAffinity", pair_with("16-31", "all"),
                  "line 3, column CPU Affinity: \"all\" is neither a number, nor a list like 0-3,8, nor N/A"},
        WrongText{"NumaBeyond", pair_with("16-31\t1", "16-31\t128"),
                  "line 3, column NUMA Affinity: \"128\" is no list of NUMA nodes from 0 to 127"},
        WrongText{"NumaBackwards", pair_with("16-31\t1", "16-31\t3-1"),
                  "line 3, column NUMA Affinity: \"3-1\" is no list of NUMA nodes from 0 to 127"},
        WrongText{"OddBytes", pair_with("SYS\t16-31", "S\x01\xFF\t16-31"),
                  "line 3, column NIC0: \"S??\" is no link; links are NV1 to NV99, PIX, PXB, PHB, NODE and SYS"},
        WrongText{"LongWord", pair_with("SYS\t16-31", std::string(40, 'S') + "\t16-31"),
                  "line 3, column NIC0: \"SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS…\" is no link; links are NV1 to NV99, PIX, "
                  "PXB, PHB, NODE and SYS"}),
    kCaseName);

TEST_P(WrongTopologyText, NamesThePlace) { EXPECT_EQ(error_of(GetParam().text), GetParam().error); }

TEST(TopologyText, Limits) {
  std::string header = "\t";
  for (int gpu = 0; gpu < 17; ++gpu) header += "GPU" + std::to_string(gpu) + "\t";
  EXPECT_EQ(error_of(header), "line 1: has 17 GPUs; more than 16 on one machine are not told apart");
  std::string wide = "\tGPU0";
  for (int nic = 0; nic < 1'024; ++nic) wide += "\tNIC" + std::to_string(nic);
  EXPECT_EQ(error_of(wide), "line 1: has more than 1024 columns; no machine has as many devices");
  EXPECT_EQ(error_of(std::string(1'048'577, 'x')),
            "is longer than 1 MiB; give the output of `nvidia-smi topo -m` alone");
}

}  // namespace
}  // namespace berth::codec
