// The command line as a person meets it: exit status 2 for wrong usage, 1 for a failure, one line saying what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "berth/kube/kubeconfig.h"
#include "support/berth_process.h"
#include "support/cluster_json.h"

namespace berth::tests {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct Outcome {
  int status;
  std::string output;
  std::string errors;
};

Outcome run(std::vector<std::string> arguments, const std::string& input = {}) {
  arguments.insert(arguments.begin(), BERTH_BINARY);
  ChildProcess child(arguments, input);
  Outcome outcome;
  outcome.output = child.rest_of_output();
  outcome.errors = child.rest_of_errors();
  outcome.status = child.wait();
  return outcome;
}

struct Wrong {
  std::vector<std::string> arguments;
  int status;
  const char* says;
};

class WrongUsage : public ::testing::TestWithParam<Wrong> {};

INSTANTIATE_TEST_SUITE_P(
    Table, WrongUsage,
    ::testing::Values(
        Wrong{{}, 2, "subcommand is required"}, Wrong{{"sevre"}, 2, "sevre"},
        Wrong{{"serve", "--lisen", "x"}, 2, "--lisen"}, Wrong{{"serve"}, 2, "say where the cluster is"},
        Wrong{{"serve", "--cluster-file", "x", "--in-cluster"}, 2, "excludes"},
        Wrong{{"serve", "--cluster-file", "/nowhere/cluster.json"}, 1, "/nowhere/cluster.json"},
        Wrong{{"serve", "--config", "/nowhere/berth.yaml", "--cluster-file", "x"}, 1, "/nowhere/berth.yaml"},
        Wrong{{"serve", "--kubeconfig", "/nowhere/kubeconfig"}, 1, "/nowhere/kubeconfig"},
        Wrong{{"serve", "--cluster-file", "x", "--store", "redis://127.0.0.1:6379/0"}, 2, "memory://"},
        Wrong{{"serve", "--cluster-file", "x", "--listen", "0.0.0.0:0"}, 2, "insecure"},
        Wrong{{"serve", "--cluster-file", "x", "--listen", "nonsense"}, 2, "nonsense"},
        Wrong{{"serve", "--cluster-file", "x", "--listen", "127.0.0.1:99999"}, 2, "99999"},
        Wrong{{"serve", "--cluster-file", "x", "--admin-listen", "nonsense"}, 2, "nonsense"},
        Wrong{{"serve", "--cluster-file", "x", "--log-level", "loud"}, 2, "loud"},
        Wrong{{"serve", "--cluster-file", "x", "--bind-listen", "127.0.0.1:0"}, 2, "live cluster"},
        Wrong{{"serve", "--cluster-file", "x", "--bind-listen", "nonsense"}, 2, "nonsense"},
        Wrong{{"topology"}, 2, "FILE is required"}, Wrong{{"topology", "a.txt", "--format", "xml"}, 2, "--format"},
        Wrong{{"topology", "/nowhere/topo.txt"}, 1, "/nowhere/topo.txt"},
        Wrong{{"topology", "-", "--config", "/nowhere/berth.yaml"}, 1, "/nowhere/berth.yaml"},
        Wrong{{"simulate"}, 2, "--nodes is required"},
        Wrong{{"simulate", "--nodes", "n", "--tasks", "t", "--policy", "best"}, 2, "bestfit"},
        Wrong{{"simulate", "--nodes", "n", "--tasks", "t", "--seeds", "3..1"}, 2, "1..10"},
        Wrong{{"simulate", "--nodes", "n", "--tasks", "t", "--ties", "none"}, 2, "--ties"},
        Wrong{{"simulate", "--nodes", "n", "--tasks", "t", "--load", "0.9"}, 2, "--departures"},
        Wrong{{"simulate", "--nodes", "n", "--tasks", "t", "--departures", "--plot", "p.svg"}, 2, "--plot"},
        Wrong{{"simulate", "--nodes", "-", "--tasks", "-"}, 2, "standard input"},
        Wrong{{"simulate", "--nodes", "/nowhere/nodes.csv", "--tasks", "t"}, 1, "/nowhere/nodes.csv"},
        Wrong{{"explain"}, 2, "NAMESPACE/NAME"}, Wrong{{"explain", "pod-without-namespace"}, 2, "NAMESPACE/NAME"},
        Wrong{{"explain", "a/b", "--server", "http://127.0.0.1:1"}, 1, "is Berth running there?"},
        Wrong{{"explain", "--cluster-file", "x"}, 2, "--pod"},
        Wrong{{"explain", "--cluster-file", "/nowhere/c.json", "--pod", "p.json"}, 1, "/nowhere/c.json"}));

TEST_P(WrongUsage, IsOneLineThatSaysWhat) {
  const Wrong& wrong = GetParam();
  const Outcome outcome = run(wrong.arguments);
  EXPECT_EQ(outcome.status, wrong.status) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr(wrong.says));
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  EXPECT_TRUE(outcome.output.empty()) << outcome.output;
}

// What a file says wrongly is a failure, not wrong usage, also beside good flags.
TEST(WrongConfiguration, ExitsWith1) {
  const TempDir dir;
  for (const char* text : {"listen: nonsense\n", "adminListen: 0.0.0.0:0\n", "lisen: x\n",
                           "limits: {maxBodiesBytes: 1Ki}\n", "log: {level: loud}\n"}) {
    const std::string config = dir.write("berth.yaml", text);
    for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--log-level", "info"}}) {
      std::vector<std::string> arguments = {"serve", "--cluster-file", "x", "--config", config};
      arguments.insert(arguments.end(), flags.begin(), flags.end());
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.status, 1) << text << outcome.errors;
      EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
    }
  }
}

// Two GPUs of a DGX Station on one NVLink, and one that is not linked, as a driver of 2018 shows them.
constexpr const char* kTopology =
    "\tGPU0\tGPU1\tGPU2\tmlx5_0\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV2\tSYS\tPIX\t0-9\t0\n"
    "GPU1\tNV2\t X \tSYS\tPHB\t0-9\t0\n"
    "GPU2\tSYS\tSYS\t X \tSYS\t10-19\tN/A\n"
    "mlx5_0\tPIX\tPHB\tSYS\t X \t\t\n";

// The slowest of three is SYS, 8 GB/s; the sum 50 + 8 + 8.
TEST(Topology, PrintsLinksAndBestSetsAPersonReads) {
  const Outcome outcome = run({"topology", "-"}, kTopology);
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output,
            "GPU     0    1    2   NUMA   nearest NICs\n"
            "0       X  NV2  SYS   0      PIX mlx5_0\n"
            "1     NV2    X  SYS   0      PHB mlx5_0\n"
            "2     SYS  SYS    X   -      SYS mlx5_0\n"
            "\n"
            "Best sets, in GB/s per direction; the first is taken where all GPUs are free\n"
            "GPUs   slowest   all pairs   sets\n"
            "2      50        50          0,1\n"
            "3      8         66          0,1,2\n");
}

TEST(Topology, PrintsJson) {
  const TempDir dir;
  const Outcome outcome = run({"topology", dir.write("topo.txt", kTopology), "--format", "json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(nlohmann::json::parse(outcome.output), nlohmann::json::parse(R"({"gpus": 3, "numa": [0, 0, null],
              "links": [[0, 1, "NV2"], [0, 2, "SYS"], [1, 2, "SYS"]], "best_sets": {"2": [[0, 1]], "3": [[0, 1, 2]]}})"));
}

TEST(Topology, BandwidthsComeFromTheConfiguration) {
  const TempDir dir;
  const std::string config = dir.write("berth.yaml", "topology: {bandwidth: {nvlink: 4}}\n");
  const Outcome outcome = run({"topology", "-", "--format", "json", "--config", config}, kTopology);
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(nlohmann::json::parse(outcome.output).at("best_sets").at("2"),
            nlohmann::json::parse("[[0, 1], [0, 2], [1, 2]]"));
}

TEST(Topology, WhatCantBeReadIsOneLineThatSaysWhere) {
  const Outcome outcome = run({"topology", "-"}, "\tGPU0\tGPU1\nGPU0\t X \tNV\x1B[5m\xFF\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, ::testing::StartsWith("berth: standard input: line 2, column GPU1: "));
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  EXPECT_TRUE(outcome.output.empty()) << outcome.output;
}

TEST(Version, IsPrinted) {
  const Outcome outcome = run({"version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, ::testing::StartsWith("berth "));
}

TEST(Help, SaysHowToTryItOnADump) {
  const Outcome outcome = run({"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("berth explain --cluster-file cluster.json --pod pod.json"));
}

TEST(ExplainOffline, PrintsATableAPersonReads) {
  const TempDir dir;
  const std::string cluster = dir.write(
      "cluster.json", list_json({node_json("a", 8, {"team-imagenet"}), node_json("b", 8), node_json("full", 8),
                                 pod_json("holder", 8, "full"), pod_json("four", 4, "b")}));
  const std::string pod = dir.write("pod.json", pod_json("train", 2, "", {{"berth.io/datasets", "imagenet"}}).dump());
  const Outcome outcome = run({"explain", "--cluster-file", cluster, "--pod", pod});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("pod       team/train   2 GPUs, datasets team/imagenet\nwinner    a\n"));
  // 100 GiB take 25 s here and 100 s from the zone: locality of b is 25/100.
  // Packing: the default mix as 20 pods, and two pods without CPU, 8 GPUs and 4. What two GPUs cost on a and b beside a
  // clean loss is 1.91 and 0.80 by the formulas of docs/packing.md, so 1/(1 + 1.91²) and 1/(1 + 0.80²).
  // Weights 4, 2, 1: a = (4·1 + 2·1 + 1·0.216)/7, b = (4·0.25 + 2·1 + 1·0.609)/7; score of b = floor(9 · 0.516/0.888).
  EXPECT_THAT(outcome.output,
              HasSubstr("NODE  SCORE  TOTAL  LOCALITY  TOPOLOGY  PACKING  DATA            LOAD  FREE  GPUS\n"));
  EXPECT_THAT(
      outcome.output,
      ContainsRegex("a        10  0\\.888     1\\.000     1\\.000    0\\.216  100% label [0-9]+s +25s     8  0,1\n"));
  EXPECT_THAT(outcome.output,
              ContainsRegex("b         5  0\\.516     0\\.250     1\\.000    0\\.609  0% +100s     4  4,5\n"));
  EXPECT_THAT(outcome.output, HasSubstr("INSUFFICIENT_GPU      1: full\n"));
}

TEST(ExplainOffline, APodOfTheDumpDoesNotStandInItsOwnWay) {
  const TempDir dir;
  const auto bound = pod_json("train", 8, "only");
  const std::string pod = dir.write("pod.json", bound.dump());
  const Outcome outcome =
      run({"explain", "--cluster-file", "-", "--pod", pod, "--json"}, list_json({node_json("only"), bound}));
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(nlohmann::json::parse(outcome.output).at("winner"), "only");
}

TEST(ExplainOffline, TakesTheDumpFromStandardInputAndPrintsJson) {
  const TempDir dir;
  const std::string pod = dir.write("pod.json", pod_json("train", 1).dump());
  const Outcome outcome =
      run({"explain", "--cluster-file", "-", "--pod", pod, "--json"}, list_json({node_json("only")}));
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(nlohmann::json::parse(outcome.output).at("winner"), "only");
}

TEST(ServeStandardInput, IsReadOnce) {
  BerthProcess berth(BERTH_BINARY, {"--cluster-file", "-"}, list_json({node_json("only")}));
  EXPECT_EQ(nlohmann::json::parse(berth.admin("/api/v1/summary")->body).at("nodes"), 1);
}

class SignalWhileReading : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Signals, SignalWhileReading, ::testing::Values(SIGTERM, SIGINT));

// A pipe whose other end stays open and silent: the program must not wait for it.
TEST_P(SignalWhileReading, EndsIt) {
  const TempDir dir;
  const std::string fifo = dir.path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string part = list_json({node_json("only")}).substr(0, 20);
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--cluster-file", "-"},
                                                    {"--cluster-file", fifo},
                                                    {"--kubeconfig", fifo},
                                                    {"--cluster-file", "x", "--config", fifo}}) {
    std::vector<std::string> command = {BERTH_BINARY, "serve"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    ChildProcess child(command, part, ChildProcess::Input::kOpen);
    // Until it is running, a signal would end it anyway: it is when it waits in a read or an open.
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    const auto state = [&] {
      std::string name;
      std::string paren;
      std::string letter;
      std::ifstream("/proc/" + std::to_string(child.pid()) + "/stat") >> name >> paren >> letter;
      return paren == "(berth)" ? letter : "";
    };
    while (state() != "S" && std::chrono::steady_clock::now() < deadline) {
    }
    child.send_signal(GetParam());
    EXPECT_EQ(child.wait(), 128 + GetParam()) << arguments.at(1);
  }
}

TEST(ServeStandardInput, SignalAfterItsEndDrains) {
  BerthProcess berth(BERTH_BINARY, {"--cluster-file", "-"}, list_json({node_json("only")}));
  berth.child().send_signal(SIGTERM);
  EXPECT_EQ(berth.child().wait(), 0);
}

// Nothing listens on port 1: Berth starts, is not ready, says so, and stands in nobody's way.
TEST(ServeWithoutItsCluster, AnswersErrorsButLetsOtherPodsPass) {
  const TempDir dir;
  const std::string kubeconfig = dir.write("kubeconfig", berth::kube::kubeconfig_for("http://127.0.0.1:1"));
  BerthProcess berth(BERTH_BINARY, {"--kubeconfig", kubeconfig});
  const auto readiness = berth.admin("/readyz");
  EXPECT_EQ(readiness->status, 503);
  EXPECT_THAT(readiness->body, HasSubstr("not ready: "));
  const auto ours = nlohmann::json::parse(berth.post("/filter", names_args(pod_json("train", 1), {"a"}))->body);
  EXPECT_THAT(ours.at("Error").get<std::string>(), HasSubstr("not ready"));
  EXPECT_EQ(ours.at("NodeNames"), nullptr);
  const auto other = nlohmann::json::parse(berth.post("/filter", names_args(pod_json("web", 0), {"a"}))->body);
  EXPECT_EQ(other.at("NodeNames"), nlohmann::json({"a"}));
  berth.child().send_signal(SIGTERM);
  EXPECT_EQ(berth.child().wait(), 0);
}

constexpr const char* kTraceNodes = "sn,cpu_milli,memory_mib,gpu,model\nn,64000,262144,2,T4\n";
constexpr const char* kTraceTasks =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\n"
    "a,4000,1024,1,1000,0,100\nb,4000,1024,1,500,0,100\n";

TEST(Simulate, ReplaysATraceAndDrawsIt) {
  const TempDir dir;
  const std::string nodes = dir.write("nodes.csv", kTraceNodes);
  const std::string tasks = dir.write("tasks.csv", kTraceTasks);
  const std::string plot = dir.path("plot.svg");
  const Outcome outcome = run({"simulate", "--nodes", nodes, "--tasks", tasks, "--seeds", "1..2", "--inflation", "0",
                               "--format", "json", "--plot", plot});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "") << "no progress where it is short and no terminal";
  const auto told = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(told["policy"], "berth");
  EXPECT_EQ(told["mean"]["allocation"]["75"], 75);
  EXPECT_EQ(told["runs"][1]["seed"], 2);
  std::ifstream picture(plot);
  std::string first;
  std::getline(picture, first);
  EXPECT_THAT(first, HasSubstr("<svg "));
}

TEST(Simulate, PrintsTablesOfReplaysAndOfWaiting) {
  const TempDir dir;
  const std::string nodes = dir.write("nodes.csv", kTraceNodes);
  const std::string tasks = dir.write("tasks.csv", kTraceTasks);
  Outcome outcome = run({"simulate", "--nodes", nodes, "--tasks", tasks, "--policy", "fgd,berth", "--seeds", "1"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("1 nodes, 2 GPUs; a list of 2 tasks; 1 run\n"));
  outcome = run({"simulate", "--nodes", nodes, "--tasks", tasks, "--policy", "bestfit,berth", "--departures",
                 "--arrivals", "100", "--seeds", "1..3"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("berth - bestfit, 1: "));
}

TEST(Simulate, SaysWhichLineIsWrong) {
  const TempDir dir;
  const std::string nodes = dir.write("nodes.csv", kTraceNodes);
  const std::string tasks = dir.write("tasks.csv", std::string(kTraceTasks) + "c,4000,1024,1,2000,0,100\n");
  const Outcome outcome = run({"simulate", "--nodes", nodes, "--tasks", tasks});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("tasks.csv line 4: gpu_milli must be a whole number from 1 to 1000"));
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
}

}  // namespace
}  // namespace berth::tests
