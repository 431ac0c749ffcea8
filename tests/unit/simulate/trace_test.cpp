#include "berth/simulate/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"

namespace berth::simulate {
namespace {

using testing::ElementsAre;

constexpr const char* kNodes = "sn,cpu_milli,memory_mib,gpu,model\na,64000,262144,2,P100\n";
constexpr const char* kTasks = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nt,1000,1024,1,500\n";

TEST(ReadWorkload, TakesColumnsByNameAndSortsTasksByName) {
  const auto read = read_workload(
      "model,gpu,sn,cpu_milli,memory_mib,rack\r\nG2,8,a,96000,1000,r1\r\n,0,cpu,1,1,r1\r\n\r\nT4,2,b,104000,500,", "n",
      "gpu_spec,name,num_gpu,gpu_milli,cpu_milli,memory_mib\nT4|G2|T4,z,1,460,6000,10\n,a,0,0,1,1\n", "t");
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->nodes.size(), 2U) << "nodes without GPUs are left out";
  EXPECT_EQ(read->nodes[1].name, "b");
  EXPECT_THAT(read->products, ElementsAre("G2", "T4"));
  EXPECT_EQ(read->capacity_milli(), 10'000);
  ASSERT_EQ(read->tasks.size(), 2U);
  EXPECT_EQ(read->tasks[0].name, "a");
  const Kind& shared = read->kinds[read->tasks[1].kind];
  EXPECT_THAT(shared.request.products, ElementsAre("G2", "T4"));
  EXPECT_EQ(shared.request.milli, 460);
  EXPECT_THAT(shared.runs_on, ElementsAre(true, true));
  EXPECT_EQ(read->tasks[1].lifetime_s, -1);
}

TEST(ReadWorkload, CountsTasksThatAreAlikeAsOneKind) {
  const Workload w = workload("a,1000,1000,1,G\n", "x,1,1,1,1000,,0,9\ny,1,2,1,1000,,4,\nz,1,1,8,1000,,1,0\n");
  ASSERT_EQ(w.kinds.size(), 2U);
  EXPECT_EQ(w.kinds[0].tasks, 2);
  EXPECT_EQ(w.tasks[0].lifetime_s, 9);
  EXPECT_EQ(w.tasks[1].lifetime_s, -1);
  EXPECT_EQ(w.tasks[2].lifetime_s, 0) << "that it ended before it began is nothing, not less";
  EXPECT_NEAR(w.mix().classes[0].share, 2.0 / 3, 1e-12);
}

TEST(ReadWorkload, ATaskLivesFromItsStartIfTheFileSaysIt) {
  const auto read =
      read_workload(kNodes, "n",
                    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,scheduled_time,deletion_time\n"
                    "t,1,1,1,1000,100,150.5,200.9\n",
                    "t");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->tasks[0].lifetime_s, 50);
}

struct WrongCase {
  std::string nodes;
  std::string tasks;
  const char* says;
};
class WrongWorkload : public testing::TestWithParam<WrongCase> {};

std::string node_line(const std::string& line) {
  return "sn,cpu_milli,memory_mib,gpu,model\na,64000,262144,2,P100\n" + line;
}
std::string task_line(const std::string& line) { return kTasks + line; }

INSTANTIATE_TEST_SUITE_P(
    Table, WrongWorkload,
    testing::Values(
        WrongCase{"", kTasks, "n.csv: the file is empty; its first line must name the columns"},
        WrongCase{"\n \n", kTasks, "n.csv: the file is empty; its first line must name the columns"},
        WrongCase{"sn,cpu_milli,memory_mib,model\n", kTasks, "n.csv line 1: there is no column \"gpu\""},
        WrongCase{"sn,cpu_milli,memory_mib,gpu,model\n", kTasks, "n.csv: there is no node with GPUs"},
        WrongCase{node_line("b,1,2,3\n"), kTasks, "n.csv line 3: it has 4 fields, but the first line names 5 columns"},
        WrongCase{node_line("\nb,x,2,3,G\n"), kTasks,
                  "n.csv line 4: cpu_milli must be a whole number from 0 to 1000000000, not \"x\""},
        WrongCase{node_line("b,-1,2,3,G\n"), kTasks,
                  "n.csv line 3: cpu_milli must be a whole number from 0 to 1000000000, not \"-1\""},
        WrongCase{node_line("b,1,2,17,G\n"), kTasks,
                  "n.csv line 3: gpu must be a whole number from 0 to 16, not \"17\""},
        WrongCase{node_line("b,1,2,9999999999999999999999,G\n"), kTasks, "n.csv line 3: gpu must be"},
        WrongCase{node_line("\"b\",1,2,3,G\n"), kTasks, "n.csv line 3: it has quotes, which are not understood here"},
        WrongCase{kNodes, task_line("u,1,1,1,0\n"),
                  "t.csv line 3: gpu_milli must be a whole number from 1 to 1000, not \"0\""},
        WrongCase{kNodes, task_line("u,1,1,1,1001\n"), "t.csv line 3: gpu_milli must be"},
        WrongCase{kNodes, task_line("u,1,1,-1,1000\n"), "t.csv line 3: num_gpu must be"},
        WrongCase{kNodes, task_line("u,1,1.5,1,1000\n"), "t.csv line 3: memory_mib must be"},
        WrongCase{kNodes, task_line("u,1,1,1," + std::string(500, '9') + "\n"), "999999...\""},
        WrongCase{kNodes, "name,cpu_milli,memory_mib,num_gpu,gpu_milli,deletion_time\nt,1,1,1,1000,soon\n",
                  "t.csv line 2: deletion_time must be a number of seconds, not \"soon\""},
        WrongCase{kNodes, "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nt,1,1,0,0\n",
                  "t.csv: there is no task that asks for a GPU"}));

TEST_P(WrongWorkload, IsOneLineThatSaysWhere) {
  const WrongCase& wrong = GetParam();
  const auto read = read_workload(wrong.nodes, "n.csv", wrong.tasks, "t.csv");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().to_string(), testing::HasSubstr(wrong.says));
  EXPECT_EQ(read.error().to_string().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace berth::simulate
