// The admin port's answers about data, over a socket and from what sources push.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "berth/server/admin_handlers.h"

namespace berth::server {
namespace {

using nlohmann::json;
using testing::HasSubstr;

model::Node node(const std::string& name) {
  model::Node node;
  node.name = name;
  node.uid = name;
  node.gpus = 8;
  return node;
}

class DatasetRoutes : public testing::Test {
 protected:
  void SetUp() override {
    add_admin_routes(server_, admin_);
    const auto port = server_.start();
    ASSERT_TRUE(port) << port.error().to_string();
    client_ = std::make_unique<httplib::Client>("127.0.0.1", *port);
  }

  // Two nodes, and a label on one of them that tells of vision/imagenet: this cluster does not serve Fluid's API.
  void fill() {
    model::Node holder = node("a");
    holder.fluid_labels = {model::worker_label({"vision", "imagenet"}, {})};
    state_.push(model::AllNodes{{holder, node("b")}});
    state_.push(model::AllPods{});
    state_.push(model::FluidServed{false});
    state_.push(model::DataListed{});
    state_.step();
  }

  std::pair<int, json> get(const std::string& target) {
    const auto answer = client_->Get(target);
    return answer ? std::pair(answer->status, json::parse(answer->body)) : std::pair(0, json());
  }
  std::pair<int, json> ask(const std::string& body) {
    const auto answer = client_->Post("/api/v1/recommend", body, "application/json");
    return answer ? std::pair(answer->status, json::parse(answer->body)) : std::pair(0, json());
  }

  core::ManualClock clock_;
  state::ClusterState state_{{}, clock_};
  DecisionLog decisions_{10, 1 << 20};
  Metrics metrics_{"test"};
  const ExtenderContext context_{state_, decisions_, metrics_, clock_, {}, {}, {}};
  const std::atomic<bool> draining_ = false;
  const AdminContext admin_{context_, "test", [] { return SourceStatus{}; }, draining_};
  HttpServer server_{{}};
  std::unique_ptr<httplib::Client> client_;
};

TEST_F(DatasetRoutes, BeforeReadinessNothingIsTold) {
  EXPECT_EQ(get("/api/v1/datasets").first, 503);
  const auto [status, answer] = ask(R"({"gpus": 1})");
  EXPECT_EQ(status, 503);
  EXPECT_THAT(answer.at("error").get<std::string>(), HasSubstr("berth is not ready: "));
}

TEST_F(DatasetRoutes, TheListAndOneOfIt) {
  fill();
  const auto [status, list] = get("/api/v1/datasets");
  EXPECT_EQ(status, 200);
  EXPECT_EQ(list.at("count"), 1);
  const auto [one_status, one] = get("/api/v1/datasets?dataset=vision/imagenet");
  EXPECT_EQ(one_status, 200);
  EXPECT_EQ(list.at("datasets").at(0), one);
  EXPECT_EQ(one.at("nodes").at(0).at("node"), "a");
  EXPECT_EQ(one.at("nodes").at(0).at("source"), "label");
}

TEST_F(DatasetRoutes, AgesGrowWithTheClock) {
  fill();
  clock_.advance(std::chrono::seconds(40));
  const auto one = get("/api/v1/datasets?dataset=vision/imagenet").second;
  EXPECT_EQ(one.at("nodes").at(0).at("ageSeconds"), 40);
}

TEST_F(DatasetRoutes, ADatasetThatDoesNotExistIs404) {
  fill();
  const auto [status, answer] = get("/api/v1/datasets?dataset=vision/lost");
  EXPECT_EQ(status, 404);
  EXPECT_THAT(answer.at("error").get<std::string>(), HasSubstr("there is no dataset vision/lost"));
}

TEST_F(DatasetRoutes, WrongParametersAre400) {
  fill();
  for (const char* query : {"dataset=imagenet", "dataset=/imagenet", "dataset=vision/", "dataset=a/b/c", "limit=0",
                            "limit=10001", "limit=all", "limit=1x", "limit=-1"}) {
    const auto [status, answer] = get(std::string("/api/v1/datasets?") + query);
    EXPECT_EQ(status, 400) << query;
    EXPECT_FALSE(answer.at("error").get<std::string>().empty()) << query;
  }
}

TEST_F(DatasetRoutes, AdviceForAJob) {
  fill();
  const auto [status, answer] = ask(R"({"gpus": 2, "datasets": ["vision/imagenet"], "warm": "vision/imagenet"})");
  ASSERT_EQ(status, 200) << answer;
  EXPECT_EQ(answer.at("nodes").at(0).at("node"), "a");
  EXPECT_EQ(answer.at("slurmNodeList"), "a,b");
  EXPECT_EQ(answer.at("warm").at("nodes").size(), 2U);
  EXPECT_EQ(answer.at("warm").at("dataLoad").at("metadata"),
            json({{"namespace", "vision"}, {"name", "imagenet-warm"}}));
  // Nothing is promised to anyone, and nothing is kept.
  EXPECT_EQ(get("/api/v1/summary").second.at("ledgerEntries"), 0);
  EXPECT_EQ(decisions_.pods(), 0U);
}

TEST_F(DatasetRoutes, AWrongBodyIs400AndNamesTheField) {
  fill();
  const auto [status, answer] = ask(R"({"gpus": 2, "nodes": 1000})");
  EXPECT_EQ(status, 400);
  EXPECT_EQ(answer.at("error"), "nodes: must be a whole number from 1 to 64");
}

// A pod manifest mounts a claim; before the claims are known nobody could say what it wants.
TEST_F(DatasetRoutes, ThePodOfAJobByItsClaim) {
  fill();
  state_.push(model::ClaimSet{{"vision", "data", {"vision", "imagenet"}}});
  state_.step();
  const auto [status, answer] = ask(R"({"pod": {"metadata": {"namespace": "vision"}, "spec": {
      "containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}],
      "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}}})");
  ASSERT_EQ(status, 200) << answer;
  EXPECT_EQ(answer.at("datasets"), json({"vision/imagenet"}));
}

}  // namespace
}  // namespace berth::server
