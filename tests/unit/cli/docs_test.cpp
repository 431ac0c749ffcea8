// What the documentation lists is what the program has: command-line flags and routes. (Configuration keys and metrics
// are compared in tests/unit/server.)
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <sstream>

#include "berth/cli/command_line.h"
#include "berth/control/waiting_pods.h"
#include "berth/core/clock.h"
#include "berth/kube/api_client.h"
#include "berth/model/pod.h"
#include "berth/server/admin_handlers.h"
#include "berth/server/bind_handlers.h"
#include "berth/server/decision_log.h"
#include "berth/server/extender_handlers.h"
#include "berth/server/metrics.h"
#include "berth/server/preempt_handler.h"
#include "berth/state/cluster_state.h"
#include "source_dir.h"

namespace berth::cli {
namespace {

std::string section(const std::string& file, const std::string& heading) {
  std::ifstream in(std::string(BERTH_SOURCE_DIR) + "/" + file);
  std::stringstream all;
  all << in.rdbuf();
  std::string text = all.str();
  if (heading.empty()) return text;
  const auto from = text.find("\n" + heading + "\n");
  if (from == std::string::npos) return {};
  const auto to = text.find("\n## ", from + 1);
  return text.substr(from, to == std::string::npos ? to : to - from);
}

// The words in backticks that begin rows of tables, as far as `end` (if it is there), of those that `wanted` takes.
template <class Wanted>
std::set<std::string> first_words(const std::string& text, char end, const Wanted& wanted) {
  std::set<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    std::string word = line.substr(3, line.find('`', 3) - 3);
    word = word.substr(0, word.find(end));
    if (wanted(word)) found.insert(word);
  }
  return found;
}

bool is_flag(const std::string& word) { return word.starts_with("--"); }
bool is_route(const std::string& word) { return word.starts_with("GET /") || word.starts_with("POST /"); }
bool is_annotation(const std::string& word) { return word.starts_with(model::kAnnotationPrefix); }
bool is_reason(const std::string& word) {
  return word.size() > 5 && word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
}

void expect_every_flag(const std::string& command, const std::string& heading) {
  std::set<std::string> flags;
  for (const auto& flag : flag_names()) {
    if (flag.command == command) flags.insert(flag.flag);
  }
  ASSERT_FALSE(flags.empty());
  EXPECT_EQ(first_words(section("docs/configuration.md", heading), ' ', is_flag), flags);
}

TEST(Docs, ListEveryFlagOfServe) { expect_every_flag("serve", "## Command line"); }
TEST(Docs, ListEveryFlagOfExplain) { expect_every_flag("explain", "## berth explain"); }
TEST(Docs, ListEveryFlagOfTopology) { expect_every_flag("topology", "## berth topology"); }
TEST(Docs, ListEveryFlagOfAgent) { expect_every_flag("agent", "## berth agent"); }
TEST(Docs, ListEveryFlagOfSimulate) { expect_every_flag("simulate", "## berth simulate"); }

TEST(Docs, ListEveryRoute) {
  const core::SystemClock clock;
  state::ClusterState state({}, clock);
  server::DecisionLog decisions(1, 1);
  server::Metrics metrics("test");
  const server::ExtenderContext context{state, decisions, metrics, clock, {}, {}, {}};
  const std::atomic<bool> draining = false;
  const server::AdminContext admin_context{context, "test", {}, draining};
  control::WaitingPods waiting(state);
  const auto client = kube::ApiClient::create({.server = "http://127.0.0.1:1"}, clock);
  ASSERT_TRUE(client) << client.error().to_string();
  control::Binder binder({}, **client, state.snapshots(), state, waiting, {}, clock);
  const server::BindContext bind_context{binder, metrics, clock};
  server::HttpServer bind({});
  server::add_bind_routes(bind, bind_context);
  server::HttpServer extender({});
  server::HttpServer admin({});
  server::add_extender_routes(extender, context);
  server::add_preempt_route(extender, context);
  server::add_admin_routes(admin, admin_context);
  std::set<std::string> routes;
  for (const auto* of : {&extender, &admin, &bind}) {
    const auto names = of->routes();
    ASSERT_FALSE(names.empty());
    routes.insert(names.begin(), names.end());
  }
  EXPECT_EQ(first_words(section("docs/api.md", ""), '?', is_route), routes);
}

TEST(Docs, ListEveryAnnotation) {
  std::set<std::string> keys;
  for (const auto key : model::annotation_keys()) keys.insert(std::string(model::kAnnotationPrefix) + std::string(key));
  EXPECT_EQ(first_words(section("docs/api.md", "## Annotations"), ' ', is_annotation), keys);
}

TEST(Docs, ListEveryReason) {
  std::set<std::string> reasons;
  for (int i = 1; i < model::kReasonCount; ++i) reasons.emplace(model::to_string(static_cast<model::Reason>(i)));
  EXPECT_EQ(first_words(section("docs/api.md", ""), ' ', is_reason), reasons);
}

}  // namespace
}  // namespace berth::cli
