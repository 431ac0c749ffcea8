#include "berth/codec/nvidia_smi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::codec {
namespace {

using core::ErrorCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(GpuRows, RowsByIndex) {
  const auto rows = read_gpu_rows(
      "0, GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77, NVIDIA H100 80GB HBM3, 81559, 00000000:1B:00.0\n"
      "1, GPU-c6a7ee50-04f2-4f6c-b5a2-0b0b0b0b0b0b, NVIDIA H100 80GB HBM3, 81559, 00000000:43:00.0\r\n");
  ASSERT_TRUE(rows.has_value()) << rows.error().to_string();
  EXPECT_THAT(
      *rows,
      ElementsAre(
          GpuRow{"GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77", "NVIDIA-H100-80GB-HBM3", 81'559, "0000:1b:00.0", true},
          GpuRow{"GPU-c6a7ee50-04f2-4f6c-b5a2-0b0b0b0b0b0b", "NVIDIA-H100-80GB-HBM3", 81'559, "0000:43:00.0", true}));
}

TEST(GpuRows, ValuesThatTheDriverDoesNotTell) {
  const auto rows = read_gpu_rows("0, GPU-a, NVIDIA GB10, [N/A], 0000000F:01:00.0\n");
  ASSERT_TRUE(rows.has_value());
  EXPECT_THAT(*rows, ElementsAre(GpuRow{"GPU-a", "NVIDIA-GB10", 0, "000f:01:00.0", true}));
}

TEST(GpuRows, BusBeyondTheUsualDomains) {
  const auto rows = read_gpu_rows("0, GPU-a, Tesla T4, 15360, 00010000:01:00.0\n");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->front().bus_id, "10000:01:00.0");
}

// k8s-device-plugin#2038: one dead GPU, the rest usable.
TEST(GpuRows, LostGpuTakesTheIndexThatIsLeftOut) {
  const auto rows = read_gpu_rows(
      "0, GPU-a, NVIDIA A40, 46068, 00000000:4F:00.0\n"
      "2, GPU-c, NVIDIA A40, 46068, 00000000:53:00.0\n"
      "Unable to determine the device handle for GPU0000:52:00.0: Unknown Error\n");
  ASSERT_TRUE(rows.has_value()) << rows.error().to_string();
  EXPECT_THAT(*rows, ElementsAre(GpuRow{"GPU-a", "NVIDIA-A40", 46'068, "0000:4f:00.0", true},
                                 GpuRow{"", "", 0, "0000:52:00.0", false},
                                 GpuRow{"GPU-c", "NVIDIA-A40", 46'068, "0000:53:00.0", true}));
}

TEST(GpuRows, LostGpuWithoutOthers) {
  for (const char* line :
       {"Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system",
        "Unable to determine the device handle for GPU0: 0000:02:00.0: Unknown Error",
        "Unable to determine the device handle for gpu 0000:02:00.0: Unknown Error"}) {
    const auto rows = read_gpu_rows(line);
    ASSERT_TRUE(rows.has_value()) << line;
    EXPECT_THAT(*rows, ElementsAre(GpuRow{"", "", 0, "0000:02:00.0", false})) << line;
  }
}

TEST(GpuRows, RowOfALostGpu) {
  const auto rows = read_gpu_rows(
      "0, [GPU is lost], [GPU is lost], [GPU is lost], 00000000:4F:00.0\n"
      "1, GPU-b, NVIDIA A40, [Unknown Error], 00000000:52:00.0\n");
  ASSERT_TRUE(rows.has_value());
  EXPECT_THAT(*rows, ElementsAre(GpuRow{"", "", 0, "0000:4f:00.0", false},
                                 GpuRow{"GPU-b", "NVIDIA-A40", 0, "0000:52:00.0", false}));
}

TEST(GpuRows, WarningBetweenRowsIsPassedOver) {
  const auto rows = read_gpu_rows(
      "0, GPU-a, NVIDIA A40, 46068, 00000000:4F:00.0\n"
      "WARNING: infoROM is corrupted at gpu 0000:4F:00.0\n");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->size(), 1U);
}

TEST(GpuRows, NoGpuAndNoDriverAreNotFound) {
  for (const char* text : {"No devices were found\n",
                           "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
                           "that the latest NVIDIA driver is installed and running.\n"}) {
    const auto rows = read_gpu_rows(text);
    ASSERT_FALSE(rows.has_value());
    EXPECT_EQ(rows.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(text, HasSubstr(rows.error().message));
  }
}

TEST(GpuRows, GarbageNamesItsLine) {
  struct Case {
    const char* text;
    const char* where;
  };
  for (const Case& one :
       {Case{"0, GPU-a, NVIDIA A40, 46068, 00000000:4F:00.0\nbash: line noise\n", "line 2"},
        Case{"0, GPU-a, NVIDIA A40, 46068\n", "line 1"}, Case{"0, a, b, 1, 00000000:4F:00.0, more\n", "line 1"},
        Case{"-1, a, b, 1, 00000000:4F:00.0\n", "line 1"}, Case{"99999, a, b, 1, 00000000:4F:00.0\n", "line 1"},
        Case{"\n0, a, b, 1, 00000000:4F:00.0\n0, a, b, 1, 00000000:4F:00.0\n", "line 3"},
        Case{"Failed to initialize NVML: Driver/library version mismatch\n", "line 1"}}) {
    const auto rows = read_gpu_rows(one.text);
    ASSERT_FALSE(rows.has_value()) << one.text;
    EXPECT_EQ(rows.error().code, ErrorCode::kInvalid) << one.text;
    EXPECT_EQ(rows.error().where, one.where) << one.text;
  }
  EXPECT_FALSE(read_gpu_rows("").has_value());
}

constexpr const char* kDetails = R"(
==============NVSMI LOG==============

Timestamp                                 : Sun Nov 29 16:00:00 2026
Driver Version                            : 570.133.20
CUDA Version                              : 12.8

Attached GPUs                             : 2
GPU 00000008:01:00.0
    Product Name                          : NVIDIA GB200
    MIG Mode
        Current                           : Disabled
        Pending                           : Enabled
    GPU UUID                              : GPU-aaaa
    Minor Number                          : 1
    GPU Recovery Action                   : None
    Remapped Rows
        Correctable Error                 : 1
        Uncorrectable Error               : 0
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 32766
        ClusterUUID                       : 7e3f1c2a-0000-4c4c-9d9d-123456789abc
        Health
            Bandwidth                     : Full
    Processes                             : None

GPU 00000009:01:00.0
    Product Name                          : NVIDIA GB200
    Minor Number                          : 0
    Remapped Rows
        Remapping Failure Occurred        : Yes
    Fabric
        State                             : In Progress
        Status                            : N/A
        CliqueId                          : 32766
        ClusterUUID                       : 7e3f1c2a-0000-4c4c-9d9d-123456789abc
)";

TEST(GpuDetails, FabricAndMemoryThatCouldNotBeReplaced) {
  const auto details = read_gpu_details(kDetails);
  ASSERT_TRUE(details.has_value()) << details.error().to_string();
  EXPECT_THAT(*details,
              ElementsAre(GpuDetails{"0008:01:00.0", 1, false, true, "7e3f1c2a-0000-4c4c-9d9d-123456789abc.32766", {}},
                          GpuDetails{"0009:01:00.0", 0, false, false, "", {}}));
}

// The NVSwitches of one HGX machine are a fabric of a cluster without a name.
TEST(GpuDetails, FabricOfOneMachineIsNoClique) {
  const auto details = read_gpu_details(
      "GPU 00000000:1B:00.0\n"
      "    Fabric\n"
      "        State                             : Completed\n"
      "        Status                            : Success\n"
      "        CliqueId                          : 0\n"
      "        ClusterUUID                       : 00000000-0000-0000-0000-000000000000\n");
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->front().clique, "");
}

TEST(GpuDetails, DriverThatAsksForAReset) {
  struct Case {
    const char* action;
    bool usable;
  };
  for (const Case& one : {Case{"None", true}, Case{"Reset", false}, Case{"GPU Reset", false}, Case{"Reboot", false},
                          Case{"Drain and Reset", false}, Case{"Drain P2P", true}, Case{"N/A", true}}) {
    const auto details = read_gpu_details("GPU 00000000:1B:00.0\n    GPU Recovery Action                   : " +
                                          std::string(one.action));
    ASSERT_TRUE(details.has_value());
    EXPECT_EQ(details->front().usable, one.usable) << one.action;
  }
}

TEST(GpuDetails, PartitionsWithTheirGpuInstances) {
  const auto details = read_gpu_details(
      "GPU 00000000:07:00.0\n"
      "    MIG Mode\n"
      "        Current                           : Enabled\n"
      "        Pending                           : Enabled\n"
      "    MIG Device\n"
      "        Index                             : 0\n"
      "        GPU Instance ID                   : 2\n"
      "        Compute Instance ID               : 0\n"
      "        Device Attributes\n"
      "            Shared\n"
      "                Multiprocessor count      : 42\n"
      "    MIG Device\n"
      "        Index                             : 1\n"
      "        GPU Instance ID                   : 9\n"
      "    Processes\n"
      "        GPU instance ID                   : 2\n"
      "        Compute instance ID               : 0\n"
      "    Minor Number                          : 0\n");
  ASSERT_TRUE(details.has_value());
  EXPECT_THAT(*details, ElementsAre(GpuDetails{"0000:07:00.0", 0, true, true, "", {{0, 2}, {1, 9}}}));
}

TEST(GpuDetails, TextWithoutAGpuIsAnError) {
  EXPECT_FALSE(read_gpu_details("").has_value());
  EXPECT_FALSE(read_gpu_details("Failed to initialize NVML: Unknown Error\n").has_value());
  const auto details = read_gpu_details("\nGPU what\n");
  ASSERT_FALSE(details.has_value());
  EXPECT_EQ(details.error().where, "line 2");
}

TEST(MigNames, PartitionsBelowTheirGpu) {
  const auto names = read_mig_names(
      "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6)\n"
      "  MIG 3g.20gb     Device  0: (UUID: MIG-c7384736)\n"
      "  MIG 1g.5gb+me   Device  1: (UUID: MIG-a28ad590)\n"
      "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-e1be0a4b)\n"
      "  MIG 1c.3g.20gb  Device  0: (UUID: MIG-GPU-e1be0a4b/1/0)\n");
  ASSERT_TRUE(names.has_value()) << names.error().to_string();
  EXPECT_THAT(*names, ElementsAre(MigName{0, 0, "3g.20gb", "MIG-c7384736"}, MigName{0, 1, "1g.5gb+me", "MIG-a28ad590"},
                                  MigName{1, 0, "1c.3g.20gb", "MIG-GPU-e1be0a4b/1/0"}));
}

TEST(MigNames, GarbageNamesItsLine) {
  for (const char* text :
       {"  MIG 1g.5gb Device 0: (UUID: MIG-a)\n", "GPU x: A100\n", "GPU 0: A\n  MIG 1g.5gb\n",
        "GPU 0: A\n  MIG 1g.5gb Device x: (UUID: MIG-a)\n", "GPU 0: A\n  MIG 1g.5gb: (UUID: MIG-a) Device 0\n"}) {
    const auto names = read_mig_names(text);
    ASSERT_FALSE(names.has_value()) << text;
    EXPECT_THAT(names.error().where, HasSubstr("line ")) << text;
  }
  EXPECT_THAT(*read_mig_names("GPU 0: NVIDIA A40 (UUID: GPU-a)\n"), IsEmpty());
}

TEST(GpuInstances, RowsOfTheTable) {
  const auto instances = read_gpu_instances(
      "+-------------------------------------------------------+\n"
      "| GPU instances:                                        |\n"
      "| GPU   Name             Profile  Instance   Placement  |\n"
      "|                          ID       ID       Start:Size |\n"
      "|=======================================================|\n"
      "|   0  MIG 1g.5gb          19        9          2:1     |\n"
      "+-------------------------------------------------------+\n"
      "|   0  MIG 3g.20gb          9        2          4:4     |\n"
      "+-------------------------------------------------------+\n"
      "|   1  MIG 1g.10gb+me      20       14          6:2     |\n"
      "+-------------------------------------------------------+\n");
  ASSERT_TRUE(instances.has_value()) << instances.error().to_string();
  EXPECT_THAT(*instances, ElementsAre(GpuInstance{0, 9, "1g.5gb", 2, 1}, GpuInstance{0, 2, "3g.20gb", 4, 4},
                                      GpuInstance{1, 14, "1g.10gb+me", 6, 2}));
}

TEST(GpuInstances, NoneInWords) {
  EXPECT_THAT(*read_gpu_instances("No GPU instances found: Not Found\n"), IsEmpty());
  EXPECT_THAT(*read_gpu_instances("No MIG-enabled devices found.\n"), IsEmpty());
}

TEST(GpuInstances, GarbageNamesItsLine) {
  for (const char* row : {"|   0  MIG 1g.5gb          19        9          2      |",
                          "|   0  MIG 1g.5gb          19        9          7:4    |",
                          "|   0  MIG 1g.5gb          19        x          2:1    |",
                          "|   ?  MIG 1g.5gb          19        9          2:1    |",
                          "|   0  MIG 1g.5gb          19        9          -1:1   |"}) {
    const auto instances = read_gpu_instances("+---+\n" + std::string(row) + "\n");
    ASSERT_FALSE(instances.has_value()) << row;
    EXPECT_EQ(instances.error().where, "line 2") << row;
  }
  EXPECT_FALSE(read_gpu_instances("Insufficient Permissions\n").has_value());
}

}  // namespace
}  // namespace berth::codec
