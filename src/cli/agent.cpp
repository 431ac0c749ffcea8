#include "agent.h"

#include "report.h"

#ifdef BERTH_WITHOUT_AGENT

namespace berth::cli {

int agent(const AgentFlags&) {
  return report(kFailure, "this build has no agent, because " BERTH_WITHOUT_AGENT "; docs/agent.md says what it needs");
}

}  // namespace berth::cli

#else

#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

#include "berth/agent/agent.h"
#include "berth/core/quantity.h"
#include "berth/core/text.h"
#include "berth/core/version.h"
#include "berth/kube/api_client.h"
#include "berth/kube/kubeconfig.h"
#include "berth/server/config.h"
#include "berth/server/logging.h"
#include "stop_signals.h"

namespace berth::cli {
namespace {

using namespace std::chrono_literals;
using core::ErrorCode;

core::Result<std::chrono::milliseconds> interval(const char* flag, const std::string& text,
                                                 std::chrono::milliseconds least) {
  const auto parsed = core::parse_duration(text);
  if (!parsed || *parsed < least || *parsed > 24h) {
    return core::fail(ErrorCode::kInvalid,
                      "\"" + text + "\" is no duration from " + std::to_string(least.count() / 1000) + "s to 24h",
                      flag);
  }
  return *parsed;
}

core::Result<agent::AgentOptions> to_options(const AgentFlags& flags) {
  agent::AgentOptions options;
  if (!core::is_name(flags.node)) {
    return core::fail(
        ErrorCode::kInvalid,
        flags.node.empty() ? "say which node this is, or set NODE_NAME" : "\"" + flags.node + "\" is no name of a node",
        "--node-name");
  }
  if (!flags.pod_resources.starts_with("unix:")) {
    return core::fail(ErrorCode::kInvalid, "\"" + flags.pod_resources + "\" does not begin with \"unix:\"",
                      "--pod-resources");
  }
  const auto every = interval("--interval", flags.interval, 1s);
  if (!every) return tl::unexpected(every.error());
  const auto machine = interval("--machine-interval", flags.machine_interval, 10s);
  if (!machine) return tl::unexpected(machine.error());
  options.node = flags.node;
  options.nvidia_smi = flags.nvidia_smi;
  options.pod_resources = flags.pod_resources;
  options.interval = *every;
  options.machine_interval = *machine;
  return options;
}

core::Result<std::unique_ptr<kube::ApiClient> > make_client(const AgentFlags& flags, const core::Clock& clock) {
  if (flags.dry_run) return nullptr;
  auto access = flags.in_cluster ? kube::load_in_cluster() : kube::load_kubeconfig(flags.kubeconfig, flags.context);
  if (!access) return tl::unexpected(access.error());
  return kube::ApiClient::create(*std::move(access), clock);
}

}  // namespace

int agent(const AgentFlags& flags) {
  const auto options = to_options(flags);
  if (!options) return report(kUsage, options.error().to_string());
  if (flags.kubeconfig.empty() && !flags.in_cluster && !flags.dry_run) {
    return report(kUsage, "say where the cluster is: --in-cluster or --kubeconfig FILE, or --dry-run to write nothing");
  }
  server::LogConfig log;
  if (flags.log_level) {
    const auto level = server::parse_log_level(*flags.log_level);
    if (!level) return report(kUsage, "--log-level: \"" + *flags.log_level + "\" is none of debug, info, warn, error");
    log.level = *level;
  }
  const StopSignals signals;
  server::set_up_logging(log);
  const core::SystemClock clock;
  const auto client = make_client(flags, clock);
  if (!client) return report(client.error());
  if (!flags.once) signals.hold();
  agent::Agent running(*options, client->get(), clock);
  if (flags.once) return running.step() ? kOk : kFailure;
  spdlog::info("berth {} agent of node {}", core::kVersion, options->node);
  running.start();
  const char* signal = signals.wait();
  spdlog::info("{}: ending; what is published stays", signal);
  running.stop();
  return kOk;
}

}  // namespace berth::cli

#endif
