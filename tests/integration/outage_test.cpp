// stork#99, gpushare-scheduler-extender#128: an extender that asks others on the path of a request, or can't be
// reached, costs every pod its timeout. Berth asks nobody, so that an outage of the API server delays no answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/berth_process.h"
#include "support/cluster_json.h"
#include "support/fake_api_server.h"

namespace berth {
namespace {

using nlohmann::json;
using testing::FakeApiServer;
using testing::kNodesPath;
using testing::make_node;
using testing::make_pod;

TEST(ApiServerOutage, DelaysNoAnswerAndIsNoReasonToRestart) {
  FakeApiServer server;
  const tests::TempDir directory;
  server.put(kNodesPath, make_node("a"));
  server.put(kNodesPath, make_node("b"));
  const std::string kubeconfig =
      "kind: Config\ncurrent-context: test\n"
      "contexts: [{name: test, context: {cluster: test, user: berth}}]\n"
      "clusters: [{name: test, cluster: {server: '" +
      server.url() + "'}}]\nusers: [{name: berth, user: {}}]\n";
  tests::BerthProcess berth(BERTH_BINARY, {"--kubeconfig", directory.write("config", kubeconfig)});
  const std::string question = tests::names_args(make_pod("ns", "p"), {"a", "b"});
  json before;
  do {
    const auto answer = berth.post("/filter", question);
    ASSERT_TRUE(answer);
    before = json::parse(answer->body);
  } while (!before["Error"].get<std::string>().empty());

  server.stop();
  const auto after = berth.post("/filter", question);
  ASSERT_TRUE(after);
  EXPECT_EQ(json::parse(after->body), before);
  EXPECT_EQ(berth.admin("/healthz")->status, 200);
  EXPECT_EQ(berth.admin("/readyz")->status, 200);
}

}  // namespace
}  // namespace berth
