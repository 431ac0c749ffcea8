// stork#99, gpushare-scheduler-extender#128: an extender that asks others on the path of a request, or can't be
// reached, costs every pod its timeout. Berth asks nobody, so that an outage of the API server delays no answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "berth/kube/kubeconfig.h"
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
  const std::string kubeconfig = kube::kubeconfig_for(server.url());
  tests::BerthProcess berth(BERTH_BINARY, {"--kubeconfig", directory.write("config", kubeconfig)});
  const json pod = make_pod("ns", "p");
  const json before = tests::filter_when_ready(berth, pod, {"a", "b"});

  server.stop();
  const auto after = berth.post("/filter", tests::names_args(pod, {"a", "b"}));
  ASSERT_TRUE(after);
  EXPECT_EQ(json::parse(after->body), before);
  EXPECT_EQ(berth.admin("/healthz")->status, 200);
  EXPECT_EQ(berth.admin("/readyz")->status, 200);
}

}  // namespace
}  // namespace berth
