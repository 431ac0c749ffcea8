// `berth serve` as kube-scheduler and people meet it: the real program on a cluster file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "berth/core/sanitized.h"
#include "support/berth_process.h"
#include "support/cluster_json.h"
#include "unit/server/http_raw_client.h"

namespace berth::tests {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// a and b hold data; c is full.
std::string small_cluster() {
  return list_json({node_json("a", 8, {"team-imagenet"}), node_json("b", 8), node_json("c", 8),
                    pod_json("holder", 8, "c"), pod_json("four", 4, "b")});
}

class Serve : public ::testing::Test {
 protected:
  explicit Serve(const std::string& cluster = small_cluster(), std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--cluster-file", dir_.write("cluster.json", cluster)});
    berth_ = std::make_unique<BerthProcess>(BERTH_BINARY, more);
  }

  json filter(const std::string& body) {
    const auto answer = berth_->post("/filter", body);
    EXPECT_TRUE(answer) << "no answer";
    EXPECT_EQ(answer->status, 200) << answer->body;
    return json::parse(answer->body);
  }

  TempDir dir_;
  std::unique_ptr<BerthProcess> berth_;
};

TEST_F(Serve, PlacesByDataAndRejectsFullNodes) {
  const json pod = pod_json("train", 2, "", {{"berth.io/datasets", "imagenet"}});
  const json answer = filter(names_args(pod, {"a", "b", "c"}));
  EXPECT_EQ(answer.at("NodeNames"), json({"a", "b"}));
  EXPECT_EQ(answer.at("Nodes"), nullptr);
  EXPECT_EQ(answer.at("FailedNodes"), json({{"c", "INSUFFICIENT_GPU"}}));
  const json scores = json::parse(berth_->post("/prioritize", names_args(pod, {"b", "a"}))->body);
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores.at(0), json({{"Host", "a"}, {"Score", 10}}));
  EXPECT_EQ(scores.at(1).at("Host"), "b");
  EXPECT_LT(scores.at(1).at("Score").get<int>(), 10);
}

TEST_F(Serve, PacksOntoTheMostUsedNodeThatFits) {
  const json scores = json::parse(berth_->post("/prioritize", names_args(pod_json("train", 2), {"a", "b"}))->body);
  EXPECT_EQ(scores.at(0), json({{"Host", "b"}, {"Score", 10}}));
}

TEST_F(Serve, WholeNodesAreEchoedByteForByte) {
  json odd = node_json("a");
  odd["metadata"]["annotations"]["odd"] = "\xc3\xa4 \" \\ \n 1.50";
  std::string body = nodes_args(pod_json("train", 2), {odd, node_json("c")});
  const std::string raw = odd.dump();
  body.replace(body.find(raw), raw.size(), " " + raw + "\n ");
  const auto answer = berth_->post("/filter", body);
  ASSERT_EQ(answer->status, 200);
  EXPECT_THAT(answer->body, HasSubstr("[" + raw + "]"));
  EXPECT_EQ(json::parse(answer->body).at("NodeNames"), nullptr);
}

TEST_F(Serve, KeysInAnyCaseAndAnyContentType) {
  const std::string body = json({{"pod", pod_json("train", 1)}, {"nodenames", {"a"}}}).dump();
  httplib::Client client("127.0.0.1", berth_->extender_port());
  for (const char* type : {"application/json", "text/plain", "application/x-www-form-urlencoded"}) {
    const auto answer = client.Post("/filter", body, type);
    ASSERT_TRUE(answer) << type;
    EXPECT_EQ(json::parse(answer->body).at("NodeNames"), json({"a"})) << type;
  }
}

TEST_F(Serve, PodsThatAreNoneOfOursPassUntouched) {
  const json answer = filter(names_args(pod_json("web", 0), {"c", "x", "a"}));
  EXPECT_EQ(answer.at("NodeNames"), json({"c", "x", "a"}));
  EXPECT_EQ(berth_->post("/prioritize", names_args(pod_json("web", 0), {"c", "x"}))->body, "[]");
  EXPECT_EQ(berth_->admin("/api/v1/explain?pod=team/web")->status, 404);
}

TEST_F(Serve, NoNodeFitsListsEveryReason) {
  const json pod =
      pod_json("train", 2, "", {{"berth.io/datasets", "imagenet"}, {"berth.io/dataset-policy", "required"}});
  const json answer = filter(names_args(pod, {"b", "c", "new"}));
  EXPECT_EQ(answer.at("NodeNames"), json::array());
  EXPECT_EQ(answer.at("FailedNodes"), json({{"c", "INSUFFICIENT_GPU"}}));
  EXPECT_EQ(answer.at("FailedAndUnresolvableNodes"), json({{"b", "DATASET_NOT_CACHED"}, {"new", "NODE_UNKNOWN"}}));
}

TEST_F(Serve, ADatasetThatExistsNowhereIsUnknownOnEveryNode) {
  const json pod =
      pod_json("train", 2, "", {{"berth.io/datasets", "nowhere"}, {"berth.io/dataset-policy", "required"}});
  const json answer = filter(names_args(pod, {"a", "c", "new"}));
  EXPECT_EQ(answer.at("FailedNodes"), json::object());
  EXPECT_EQ(answer.at("FailedAndUnresolvableNodes"),
            json({{"a", "DATASET_UNKNOWN"}, {"c", "DATASET_UNKNOWN"}, {"new", "DATASET_UNKNOWN"}}));
}

TEST_F(Serve, WrongPathsAndMethods) {
  httplib::Client client("127.0.0.1", berth_->extender_port());
  EXPECT_EQ(client.Get("/filter")->status, 405);
  EXPECT_EQ(client.Post("/bind", "{}", "application/json")->status, 404);
  EXPECT_TRUE(json::parse(client.Get("/nowhere")->body).contains("error"));
}

struct BadBody {
  const char* name;
  std::string body;
};

TEST_F(Serve, BadBodiesAre400AndCostNothingElse) {
  const std::string good = names_args(pod_json("train", 1), {"a", "b"});
  const std::vector<BadBody> bodies = {
      {"empty", ""},
      {"not JSON", "hello"},
      {"truncated", good.substr(0, good.size() / 2)},
      {"deeply nested", std::string(200'000, '[')},
      {"deeply nested and closed", R"({"Pod":)" + std::string(5000, '[') + std::string(5000, ']') + "}"},
      {"no pod", R"({"NodeNames":["a"]})"},
      {"null pod", R"({"Pod":null,"NodeNames":["a"]})"},
      {"pod is a number", R"({"Pod":3,"NodeNames":["a"]})"},
      {"names are numbers", R"({"Pod":)" + pod_json("p", 1).dump() + R"(,"NodeNames":[1,2]})"},
      {"names are an object", R"({"Pod":)" + pod_json("p", 1).dump() + R"(,"NodeNames":{"a":1}})"},
      {"an array", "[" + good + "]"},
      {"two values", good + good},
      {"not UTF-8", R"({"Pod":{"metadata":{"name":")"
                    "\xff"
                    R"("}},"NodeNames":[]})"},
      {"a node without a name", R"({"Pod":)" + pod_json("p", 1).dump() + R"(,"Nodes":{"items":[{"metadata":{}}]}})"},
  };
  for (const auto& bad : bodies) {
    for (const char* path : {
             "/filter",
             "/prioritize",
         }) {
      const auto answer = berth_->post(path, bad.body);
      ASSERT_TRUE(answer) << bad.name;
      EXPECT_EQ(answer->status, 400) << bad.name << ": " << answer->body;
      EXPECT_FALSE(json::parse(answer->body).at("error").get<std::string>().empty()) << bad.name;
      EXPECT_EQ(json::parse(berth_->post("/filter", good)->body).at("NodeNames").size(), 2U) << "after " << bad.name;
    }
  }
}

TEST_F(Serve, TooLargeIs413AndMemoryReturns) {
  const auto resident_kib = [this] {
    std::ifstream status("/proc/" + std::to_string(berth_->child().pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    }
    return -1L;
  };
  const std::string good = names_args(pod_json("train", 1), {"a"});
  ASSERT_EQ(berth_->post("/filter", good)->status, 200);
  const long before = resident_kib();
  std::vector<json> nodes;
  json fat = node_json("a");
  fat["metadata"]["annotations"]["filler"] = std::string(1U << 20U, 'x');
  for (int i = 0; i < 15; ++i) nodes.push_back(fat);
  ASSERT_EQ(berth_->post("/filter", nodes_args(pod_json("train", 1), nodes))->status, 200);
  nodes.push_back(fat);
  ASSERT_EQ(berth_->post("/filter", nodes_args(pod_json("train", 1), nodes))->status, 413);
  ASSERT_EQ(berth_->post("/filter", good)->status, 200);
  if (!core::kSanitized) {
    EXPECT_LT(resident_kib(), before + 12 * 1024) << "before: " << before << " KiB";
  }
}

TEST_F(Serve, TenThousandUnknownNamesStayCandidates) {
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back("new-" + std::to_string(i));
  const json args = json::parse(names_args(pod_json("train", 1), names));
  EXPECT_EQ(filter(args.dump()).at("NodeNames").size(), 32U);
  const json hard = pod_json("hard", 1, "", {{"berth.io/topology-policy", "restricted"}});
  const json answer = filter(names_args(hard, names));
  EXPECT_EQ(answer.at("NodeNames"), json::array());
  EXPECT_EQ(answer.at("FailedAndUnresolvableNodes").size(), 10'000U);
}

TEST_F(Serve, RepeatedNamesAreAnsweredOnce) {
  EXPECT_EQ(filter(names_args(pod_json("train", 1), {"a", "a", "b", "b"})).at("NodeNames").size(), 2U);
}

TEST_F(Serve, InvalidPolicyNamesNoNode) {
  const json pod = pod_json("train", 1, "", {{"berth.io/topology-policy", "tight"}});
  EXPECT_EQ(filter(names_args(pod, {"a"})).at("FailedAndUnresolvableNodes"), json({{"a", "INVALID_POLICY"}}));
  const json told = json::parse(berth_->admin("/api/v1/explain?pod=team/train")->body);
  EXPECT_EQ(told.at("error"),
            "annotation berth.io/topology-policy: \"tight\" is not allowed; use none, best-effort or restricted");
}

TEST_F(Serve, ExplainAndDecisionsShowWhatWasAnswered) {
  const json pod = pod_json("train", 2, "", {{"berth.io/datasets", "imagenet"}});
  filter(names_args(pod, {"a", "b", "c"}));
  berth_->post("/prioritize", names_args(pod, {"a", "b"}));
  const json told = json::parse(berth_->admin("/api/v1/explain?pod=team/train")->body);
  EXPECT_EQ(told.at("winner"), "a");
  EXPECT_EQ(told.at("asked"), 3);
  EXPECT_EQ(told.at("candidates").at(0).at("score"), 10);
  EXPECT_EQ(told.at("rejected"), json::parse(R"([{"reason":"INSUFFICIENT_GPU","count":1,"nodes":["c"]}])"));
  EXPECT_EQ(json::parse(berth_->admin("/api/v1/decisions?limit=1")->body).at("decisions").at(0).at("pod"),
            "team/train");
  EXPECT_EQ(berth_->admin("/api/v1/decisions?limit=0")->status, 400);
  EXPECT_EQ(berth_->admin("/api/v1/explain")->status, 400);

  ChildProcess table(
      {BERTH_BINARY, "explain", "team/train", "--server", "http://127.0.0.1:" + std::to_string(berth_->admin_port())});
  const std::string text = table.rest_of_output();
  EXPECT_EQ(table.wait(), 0);
  EXPECT_THAT(text, HasSubstr("winner    a\n"));
  EXPECT_THAT(text, HasSubstr("INSUFFICIENT_GPU      1: c\n"));
}

TEST_F(Serve, WhatIfChangesNothing) {
  const std::string body = names_args(pod_json("idea", 8), {});
  const auto answer = berth_->admin_post("/api/v1/explain", body);
  ASSERT_EQ(answer->status, 200);
  EXPECT_EQ(json::parse(answer->body).at("winner"), "a");
  const json summary = json::parse(berth_->admin("/api/v1/summary")->body);
  EXPECT_EQ(summary.at("ledgerEntries"), 0);
  EXPECT_EQ(summary.at("decisions"), 0);
  EXPECT_EQ(summary.at("nodes"), 3);
  EXPECT_EQ(summary.at("gpus"), json({{"capacity", 24}, {"used", 12}}));
  EXPECT_EQ(summary.at("freeGpus").at("whole"), 12);
  EXPECT_EQ(summary.at("freeGpus").at("byIsland"), json({{"4", 4}, {"8", 8}}));
}

TEST_F(Serve, WhatIsFreeOnANode) {
  const auto free = [&](const std::string& node) {
    return json::parse(berth_->admin("/api/v1/nodes?node=" + node)->body).at("freeGpus");
  };
  EXPECT_EQ(free("b").at("largestRequest"), 4);
  EXPECT_GT(free("b").at("fragmentation"), 0) << "no use to a job of eight";
  EXPECT_EQ(free("c"), json::parse(R"({"whole": 0, "milli": 0, "largestRequest": 0, "fragmentation": 0.0,
                                       "byIsland": {}})"));
}

TEST_F(Serve, HealthReadinessVersionMetrics) {
  EXPECT_EQ(berth_->admin("/healthz")->body, "ok\n");
  EXPECT_EQ(berth_->admin("/readyz")->status, 200);
  EXPECT_TRUE(json::parse(berth_->admin("/version")->body).contains("version"));
  filter(names_args(pod_json("train", 1), {"a", "c"}));
  const std::string metrics = berth_->admin("/metrics")->body;
  EXPECT_THAT(metrics, HasSubstr("berth_requests_total{code=\"200\",verb=\"filter\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("berth_rejected_nodes_total{reason=\"INSUFFICIENT_GPU\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("berth_free_gpus{island=\"8\"} 8\n"));
  EXPECT_THAT(metrics, HasSubstr("berth_node_free_gpus{node=\"c\"} 0\n"));
}

TEST_F(Serve, TheFileIsReadAgainWhenItChanges) {
  dir_.write("cluster.json", list_json({node_json("a"), node_json("brand-new")}));
  // Waits for the change by asking: each answer comes from whichever snapshot is newest.
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  json summary;
  do {
    summary = json::parse(berth_->admin("/api/v1/summary")->body);
  } while (summary.at("nodes") != 2 && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(summary.at("nodes"), 2);
}

TEST_F(Serve, SigtermDrainsAndExitsZero) {
  berth_->child().send_signal(SIGTERM);
  EXPECT_EQ(berth_->child().wait(), 0);
}

// A liveness probe must find room beside connections that are only kept.
TEST(ServeAdmin, IdleConnectionsTakeNoRoomFromProbes) {
  const TempDir dir;
  BerthProcess berth(BERTH_BINARY, {"--cluster-file", dir.write("cluster.json", small_cluster())});
  std::vector<server::RawClient> idle;
  for (int i = 0; i < 200; ++i) idle.emplace_back(static_cast<std::uint16_t>(berth.admin_port()));
  EXPECT_EQ(berth.admin("/healthz")->status, 200);
}

TEST(ServeAdmin, HasTheConfiguredLimitOfConnections) {
  const TempDir dir;
  const std::string config = dir.write("berth.yaml", "limits: {maxConnections: 2}\n");
  BerthProcess berth(BERTH_BINARY, {"--cluster-file", dir.write("cluster.json", small_cluster()), "--config", config});
  const auto port = static_cast<std::uint16_t>(berth.admin_port());
  std::vector<server::RawClient> kept;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(kept.emplace_back(port).ask("GET /healthz HTTP/1.1\r\n\r\n").status, 200);
  EXPECT_EQ(server::RawClient(port).answer().status, 503);
}

// A client that stalls in the middle of a request, on each port.
TEST(ServeDrain, StalledClientsDoNotKeepItFromEnding) {
  const TempDir dir;
  const std::string config = dir.write("berth.yaml", "drainTimeout: 100ms\n");
  BerthProcess berth(BERTH_BINARY, {"--cluster-file", dir.write("cluster.json", small_cluster()), "--config", config});
  std::vector<server::RawClient> stalled;
  for (const int port : {berth.extender_port(), berth.admin_port()}) {
    for (const char* part : {"POST", "POST /filter HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"}) {
      stalled.emplace_back(static_cast<std::uint16_t>(port)).say(part);
    }
  }
  const auto open = [&] { return berth.admin("/metrics")->body; };
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (open().find("berth_open_connections{server=\"extender\"} 2") == std::string::npos &&
         std::chrono::steady_clock::now() < deadline) {
  }
  berth.child().send_signal(SIGTERM);
  // Standard error ends with the program: rest_of_errors() gives up after 30 s, as long as a stalled request may take.
  EXPECT_NO_THROW(berth.child().rest_of_errors());
  EXPECT_EQ(berth.child().wait(), 0);
}

}  // namespace
}  // namespace berth::tests
