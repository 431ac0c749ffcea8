#include "serve.h"

#include <malloc.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "berth/control/control.h"
#include "berth/control/waiting_pods.h"
#include "berth/core/version.h"
#include "berth/kube/api_client.h"
#include "berth/kube/kubeconfig.h"
#include "berth/server/admin_handlers.h"
#include "berth/server/config.h"
#include "berth/server/decision_log.h"
#include "berth/server/extender_handlers.h"
#include "berth/server/logging.h"
#include "berth/server/metrics.h"
#include "berth/server/preempt_handler.h"
#include "berth/sources/alluxio_prober.h"
#include "berth/sources/api_source.h"
#include "berth/sources/file_source.h"
#include "berth/state/cluster_state.h"
#include "binding.h"
#include "report.h"
#include "stop_signals.h"

namespace berth::cli {
namespace {

// What kept decisions may take in all; at 5,000 nodes one is about 50 kB.
constexpr std::size_t kDecisionBytes = std::size_t{32} << 20U;

// Nobody waits for what the admin port still has in work.
constexpr std::chrono::milliseconds kAdminDrain{1'000};

// A file for every connection, and memory that goes back to the system: with a heap a thread and a threshold that
// creeps up, glibc would keep what one large request took.
void set_process_limits() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_MMAP_THRESHOLD, 6 << 20);  // above what judging 50,000 nodes takes: its pages are not made anew each time
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
}

core::Result<server::Config> merged_config(const ServeFlags& flags) {
  server::Config config;
  if (!flags.config.empty()) {
    auto loaded = server::load_config(flags.config);
    if (!loaded) return loaded;
    config = *std::move(loaded);
  }
  if (flags.listen) config.listen = *flags.listen;
  if (flags.admin_listen) config.admin_listen = *flags.admin_listen;
  if (flags.bind_listen) config.bind.listen = *flags.bind_listen;
  if (flags.insecure) config.insecure = true;
  if (flags.log_level) config.log.level = server::parse_log_level(*flags.log_level).value_or(config.log.level);
  return config;
}

// The addresses given as flags, apart from what the configuration file says.
core::Result<void> check_flags(const ServeFlags& flags, const server::Config& merged) {
  server::Config given;
  given.insecure = merged.insecure;
  if (flags.listen) given.listen = *flags.listen;
  if (flags.admin_listen) given.admin_listen = *flags.admin_listen;
  if (flags.bind_listen) given.bind.listen = *flags.bind_listen;
  return server::check_config(given);
}

struct NamedSource {
  std::string name;
  std::unique_ptr<sources::Source> source;
  std::unique_ptr<kube::ApiClient> writer;  // null with a cluster file
  std::unique_ptr<kube::ApiClient> binder;  // null unless Berth binds
};

core::Result<NamedSource> make_source(const ServeFlags& flags, const server::Config& config, model::UpdateSink& sink,
                                      const core::Clock& clock) {
  if (!flags.cluster_file.empty()) {
    sources::FileSourceOptions options;
    options.file = flags.cluster_file;
    options.resources = config.resources;
    return NamedSource{flags.cluster_file == "-" ? "standard input" : "file " + flags.cluster_file,
                       std::make_unique<sources::FileSource>(std::move(options), sink, clock), nullptr, nullptr};
  }
  auto access = flags.in_cluster ? kube::load_in_cluster() : kube::load_kubeconfig(flags.kubeconfig, flags.context);
  if (!access) return tl::unexpected(access.error());
  auto client = kube::ApiClient::create(*access, clock);
  if (!client) return tl::unexpected(client.error());
  auto writer = kube::ApiClient::create(*access, clock);
  if (!writer) return tl::unexpected(writer.error());
  std::unique_ptr<kube::ApiClient> binder;
  if (!config.bind.listen.empty()) {
    auto made = kube::ApiClient::create(*std::move(access), clock, kBindConnections);
    if (!made) return tl::unexpected(made.error());
    binder = *std::move(made);
  }
  std::string name = "API server " + (*client)->server();
  sources::ApiSourceOptions options;
  options.resources = config.resources;
  options.budgets = config.preempt;
  return NamedSource{std::move(name),
                     std::make_unique<sources::ApiSource>(*std::move(client), sink, std::move(options), clock),
                     *std::move(writer), std::move(binder)};
}

control::ControlOptions control_options(const server::Config& config, const policy::Settings& settings) {
  control::ControlOptions options;
  options.wake = config.wake;
  options.events = config.events.enabled;
  options.pending_after = config.events.pending_after;
  options.settings = settings;
  options.defaults = config.policy;
  return options;
}

// Out of the newest snapshot, so that the prober hears of a master that moved as soon as anybody does.
std::vector<sources::AlluxioMaster> alluxio_masters(const model::Snapshot& snapshot,
                                                    const std::vector<model::DatasetRef>& awaited) {
  std::vector<const model::DatasetPlacement*> close;
  close.reserve(awaited.size());
  for (const model::DatasetRef& dataset : awaited) close.push_back(snapshot.placement(dataset));
  std::vector<sources::AlluxioMaster> masters;
  for (const auto& placement : snapshot.datasets) {
    if (!placement || placement->master.empty()) continue;
    const bool waited_for = std::ranges::find(close, placement.get()) != close.end();
    masters.push_back({placement->ref, placement->master, placement->loading, waited_for});
  }
  return masters;
}

server::HttpServerOptions extender_options(const server::Config& config) {
  server::HttpServerOptions options;
  options.address = config.listen;
  options.max_body_bytes = config.limits.max_request_bytes;
  options.max_bodies_bytes = config.limits.max_bodies_bytes;
  options.max_connections = config.limits.max_connections;
  return options;
}

server::HttpServerOptions admin_options(const server::Config& config) {
  server::HttpServerOptions options;
  options.name = "admin";
  options.address = config.admin_listen;
  options.max_body_bytes = config.limits.max_request_bytes;
  options.max_bodies_bytes = config.limits.max_bodies_bytes;
  // As many as the extender, and idle ones soon gone: probes open a connection each, and must find room.
  options.max_connections = config.limits.max_connections;
  options.keep_alive = std::chrono::seconds(15);
  return options;
}

server::SourceSample to_sample(const sources::SourceCounters& counters) {
  return {counters.resource, counters.connected, counters.lists,    counters.watches,       counters.events,
          counters.restarts, counters.gone,      counters.failures, counters.broken_objects};
}

server::ProbeSample to_sample(const sources::ProberCounters& counters) {
  return {counters.masters, counters.probes, counters.failures, counters.oldest};
}

}  // namespace

int serve(const ServeFlags& flags, const std::function<void(server::HttpServer&)>& more_extender_routes) {
  if (flags.cluster_file.empty() && flags.kubeconfig.empty() && !flags.in_cluster) {
    return report(kUsage, "say where the cluster is: --cluster-file FILE, --kubeconfig FILE or --in-cluster");
  }
  if (flags.store != "memory://") {
    return report(kUsage, "--store: this version has memory:// only, which is the default");
  }
  if (flags.log_level && !server::parse_log_level(*flags.log_level)) {
    return report(kUsage, "--log-level: \"" + *flags.log_level + "\" is none of debug, info, warn, error");
  }
  const StopSignals signals;
  set_process_limits();
  const auto config = merged_config(flags);
  if (!config) return report(config.error());
  if (const auto good = check_flags(flags, *config); !good) return report(kUsage, good.error().to_string());
  if (const auto good = server::check_config(*config); !good) return report(good.error());
  const bool live = flags.cluster_file.empty();
  if (!live && !config->bind.listen.empty()) {
    return report(kUsage, "--bind-listen (bind.listen): pods are bound in a live cluster; a cluster file is only read");
  }
  server::set_up_logging(config->log);

  const core::SystemClock clock;
  state::StateOptions state_options;
  state_options.soft_lifetime = config->soft_lifetime;
  state_options.coverage = config->data.coverage;
  state_options.link_bandwidths = config->link_bandwidths;
  state_options.mix = config->mix;
  state_options.mix.gpu_products = config->policy.gpu_products;
  state_options.preemption = config->preempt;
  state_options.await_data = live;
  state::ClusterState state(state_options, clock);
  control::WaitingPods waiting(state);
  auto made = make_source(flags, *config, live ? static_cast<model::UpdateSink&>(waiting) : state, clock);
  if (!made) return report(made.error());
  sources::Source& source = *made->source;
  sources::AlluxioProberOptions prober_options;
  prober_options.every = config->data.probe_interval;

  server::DecisionLog decisions(config->keep_pods, kDecisionBytes);
  server::Metrics metrics(core::kVersion);
  server::ExtenderContext context{
      state, decisions, metrics, clock, server::placement_settings(*config, live), config->policy, config->resources};
  std::optional<control::Control> control;
  if (made->writer) {
    control.emplace(control_options(*config, context.settings), *made->writer, waiting, state.snapshots(), clock);
    context.decided = [&control](auto decision) { control->decided(std::move(decision)); };
  }
  std::optional<Binding> binding;
  if (made->binder) binding.emplace(*config, std::move(made->binder), context, waiting);
  const auto masters = [&] {
    return alluxio_masters(*state.snapshots().load(), control ? control->awaited() : std::vector<model::DatasetRef>());
  };
  sources::AlluxioProber prober(masters, state, prober_options, clock);
  std::atomic<bool> draining = false;
  const server::AdminContext admin_context{
      context, std::string(core::kVersion),
      [&] { return server::SourceStatus{made->name, source.connected(), source.why_not_ready()}; }, draining};

  server::HttpServer extender(extender_options(*config));
  server::HttpServer admin(admin_options(*config));
  server::add_extender_routes(extender, context);
  if (config->preempt) server::add_preempt_route(extender, context);
  if (more_extender_routes) more_extender_routes(extender);
  server::add_admin_routes(admin, admin_context);
  metrics.set_sampler([&] {
    server::MetricSample sample;
    sample.snapshot = state.snapshots().load();
    sample.snapshot_age = clock.now() - sample.snapshot->built;
    sample.wall = clock.wall();
    sample.state = state.counters();
    sample.decision_pods = decisions.pods();
    sample.servers = {{"extender", extender.counters()}, {"admin", admin.counters()}};
    if (binding) sample.servers.push_back({"bind", binding->counters()});
    for (const auto& counters : source.counters()) sample.sources.push_back(to_sample(counters));
    if (control) sample.control = control->counters();
    sample.probes = to_sample(prober.counters());
    return sample;
  });

  // A file is read before the ports open, so that a mistake in it ends the program at once.
  if (live) signals.hold();
  if (const auto started = source.start(); !started) return report(started.error());
  signals.hold();
  state.step();
  state.start();
  if (control) control->start();
  // What a file tells of may be far away, or long gone.
  if (live) prober.start();
  const auto extender_port = extender.start();
  if (!extender_port) return report(extender_port.error());
  const auto admin_port = admin.start();
  if (!admin_port) return report(admin_port.error());
  const auto host = [](const std::string& address) { return address.substr(0, address.rfind(':')); };
  std::printf("extender listening on %s:%u\nadmin listening on %s:%u\n", host(config->listen).c_str(), *extender_port,
              host(config->admin_listen).c_str(), *admin_port);
  if (binding) {
    const auto bind_port = binding->start();
    if (!bind_port) return report(bind_port.error());
    std::printf("bind listening on %s:%u\n", host(config->bind.listen).c_str(), *bind_port);
  }
  std::fflush(stdout);
  spdlog::info("berth {} serves {}", core::kVersion, made->name);

  const char* signal = signals.wait();
  spdlog::info("{}: draining", signal);
  draining = true;
  // One deadline for all; the admin port answers until the others have ended.
  const auto until = clock.now() + config->drain_timeout;
  extender.drain(config->drain_timeout);
  if (binding) {
    binding->drain(std::max(std::chrono::milliseconds(0),
                            std::chrono::duration_cast<std::chrono::milliseconds>(until - clock.now())));
    binding->stop();
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock.now());
  admin.drain(std::clamp(left, std::chrono::milliseconds(0), kAdminDrain));
  if (control) control->stop();
  prober.stop();
  source.stop();
  state.stop();
  return kOk;
}

}  // namespace berth::cli
