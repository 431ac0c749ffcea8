#include "berth/cli/topology_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using model::Link;
using testing::HasSubstr;

model::Machine eight_gpus() {
  model::Machine machine;
  machine.gpus.resize(8);
  for (std::size_t i = 0; i < 8; ++i) machine.gpus[i].numa = static_cast<std::int8_t>(i % 2);
  machine.links = model::LinkMatrix::uniform(8, model::nvlink(4));
  return machine;
}

// Odd and even GPUs sit on different sockets: of the 28 pairs, all 100 GB/s wide, 0,2 is taken.
TEST(TopologyTable, TheSetThatIsTakenComesFirstThenSomeThatAreAsWide) {
  const model::Machine machine = eight_gpus();
  const std::string table = topology_table(machine, *model::shape_of(machine));
  EXPECT_THAT(table, HasSubstr("2      100       100         0,2 0,1 0,3 0,4 and 24 more\n"));
  EXPECT_THAT(table, HasSubstr("4      100       600         0,2,4,6 0,1,2,3 0,1,2,4 0,1,2,5 and 66 more\n"));
  EXPECT_THAT(table, HasSubstr("8      100       2800        0,1,2,3,4,5,6,7\n"));
}

TEST(TopologyTable, NearestNics) {
  model::Machine machine = eight_gpus();
  for (int i = 0; i < 6; ++i) {
    model::Nic nic{"mlx5_" + std::to_string(i), {}};
    nic.links.fill(i == 5 ? Link::kNode : Link::kPxb);
    nic.links[0] = i == 5 ? Link::kPix : Link::kSys;
    nic.links[1] = Link::kSelf;
    machine.nics.push_back(nic);
  }
  machine.nics[5].name = "\x1B[31m";
  const std::string table = topology_table(machine, *model::shape_of(machine));
  EXPECT_THAT(table, HasSubstr("   0      PIX ?[31m\n"));
  EXPECT_THAT(table, HasSubstr("   1      -\n"));
  EXPECT_THAT(table, HasSubstr("   0      PXB mlx5_0 mlx5_1 mlx5_2 mlx5_3 and 1 more\n"));
}

}  // namespace
}  // namespace berth::cli
