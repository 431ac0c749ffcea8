// bench_load: measures Berth at the wire, as kube-scheduler sees it, beside an echo handler in the same process.
//
// For every size of cluster an API server of our own shows Berth nodes, ten pods a node and a stream of pod changes;
// bench_server is a child. Exit status 1 when a bound of docs/benchmarks.md is missed in every round.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "api_server.h"
#include "binds.h"
#include "connections.h"
#include "dataset_cost.h"
#include "event_latency.h"
#include "report.h"
#include "scheduler_load.h"
#include "server_process.h"

namespace berth::bench {
namespace {

constexpr std::size_t kPodsPerNode = 10;
constexpr std::size_t kWholeNodes = 1000;  // in a request of whole nodes, at most

struct Options {
  bool quick = false;
  std::vector<std::size_t> nodes;
  std::vector<std::string> only;
  int rounds = 3;
  double changes = 200;
  std::string format = "table";
  std::string out;
  std::string commit = "unknown";

  [[nodiscard]] bool wants(const std::string& section) const {
    return only.empty() || std::ranges::find(only, section) != only.end();
  }
};

std::vector<Check> bounds_of(const LoadPlan& plan, std::size_t nodes, const CallFigures& figures) {
  const double p99 = figures.berth.total.quantile_ms(0.99);
  if (plan.form == Form::kWholeNodes) {
    if (nodes != 1000) return {};
    return {{"P99 after last body byte", figures.berth.after_body.quantile_ms(0.99), 15}};
  }
  if (nodes == 5000) {
    return {{"P99", p99, 5},
            {"P50 above echo", figures.berth.total.quantile_ms(0.5) - figures.echo.total.quantile_ms(0.5), 1}};
  }
  if (nodes == 50'000) return {{"P99", p99, 15}};
  return {};
}

std::string figure_name(const LoadPlan& plan, const CallFigures& figures) {
  std::string name = figures.verb;
  name += plan.form == Form::kNames ? ", names" : ", whole nodes";
  if (plan.flow == Flow::kWide) return name + ", not narrowed";
  return name + (figures.verb == "filter" ? "" : ", those kept");
}

Row row_of(const LoadPlan& plan, std::size_t nodes, int round, const CallFigures& figures, const LoadFigures& both) {
  Row row;
  row.figure = figure_name(plan, figures);
  row.nodes = nodes;
  row.round = round;
  row.count = figures.berth.total.count();
  row.request_bytes = figures.request_bytes;
  row.answer_bytes = figures.answer_bytes;
  row.time = quantiles(figures.berth.total);
  row.has_echo = true;
  row.echo = quantiles(figures.echo.total);
  row.scheduled = quantiles(figures.berth.scheduled);
  row.after_body = quantiles(figures.berth.after_body);
  row.echo_after_body = quantiles(figures.echo.after_body);
  row.berth_cpu_ms = both.berth_cpu_ms;
  row.echo_cpu_ms = both.echo_cpu_ms;
  row.lateness = quantiles(both.lateness);
  row.per_second = plan.per_second;
  row.checks = bounds_of(plan, nodes, figures);
  char note[200];
  std::snprintf(note, sizeof note, "%.0f/s, late P99 %.1f ms, %zu kB in, %zu kB out, server CPU %.2f ms, echo %.2f ms",
                plan.per_second, both.lateness.quantile_ms(0.99), figures.request_bytes / 1000,
                figures.answer_bytes / 1000, both.berth_cpu_ms, both.echo_cpu_ms);
  row.note = note;
  return row;
}

Row value_row(std::string figure, std::size_t nodes, double value, std::string unit, std::vector<Check> checks,
              std::string note = {}) {
  Row row;
  row.figure = std::move(figure);
  row.nodes = nodes;
  row.has_time = false;
  row.value = value;
  row.unit = std::move(unit);
  row.checks = std::move(checks);
  row.note = std::move(note);
  return row;
}

// Berth over a generated cluster that changes.
class Stage {
 public:
  Stage(const Options& options, Report& report, std::size_t nodes)
      : options_(options), report_(report), cluster_(nodes, kPodsPerNode), api_(cluster_, options.changes) {}

  core::Result<void> run() {
    const auto port = api_.start();
    if (!port) return tl::unexpected(port.error());
    auto server = ServerProcess::start(write_kubeconfig(scratch_.path(), *port), scratch_.path());
    if (!server) return tl::unexpected(server.error());
    server_.emplace(*std::move(server));
    report_.add(value_row("start to ready, bench API server", cluster_.nodes(), server_->seconds_to_ready(), "s", {}));
    return measure();
  }

 private:
  core::Result<void> measure() {
    const std::size_t nodes = cluster_.nodes();
    if (options_.wants("names")) {
      for (const Flow flow : {Flow::kNarrowed, Flow::kWide}) {
        if (auto done = load(cluster_, names_plan(flow)); !done) return done;
      }
    }
    if (nodes >= 5000 && options_.wants("memory")) {
      std::vector<Check> checks;
      if (nodes == 5000) checks = {{"resident", server_->resident_mib(), 256, "MiB"}};
      report_.add(value_row("memory after names", nodes, server_->resident_mib(), "MiB", checks));
    }
    if (nodes == 5000 && options_.wants("connections")) {
      if (auto done = connections(); !done) return done;
    }
    const bool whole = nodes <= kWholeNodes || (nodes == 5000 && options_.wants("memory") && !options_.quick);
    if (whole && options_.wants("whole")) {
      const GeneratedCluster part(std::min(nodes, kWholeNodes), kPodsPerNode);
      for (const Flow flow : {Flow::kNarrowed, Flow::kWide}) {
        if (auto done = load(part, whole_plan(flow)); !done) return done;
      }
      report_.add(value_row("memory after whole nodes", nodes, server_->resident_mib(), "MiB", {}));
    }
    return {};
  }

  [[nodiscard]] LoadPlan names_plan(Flow flow) const {
    LoadPlan plan{Form::kNames, flow, 800, 40, 100};
    if (cluster_.nodes() == 5000) plan.calls = 2000;
    // A hundredth of a second is not enough for two megabytes each way and 50,000 nodes judged.
    if (cluster_.nodes() > 5000 && flow == Flow::kWide) plan.per_second = 20;
    if (cluster_.nodes() > 5000 && flow == Flow::kWide) plan.calls = 320;
    if (options_.quick) plan.calls = 400;
    return plan;
  }
  [[nodiscard]] LoadPlan whole_plan(Flow flow) const {
    LoadPlan plan{Form::kWholeNodes, flow, 240, 10, 20};
    if (flow == Flow::kWide) plan.per_second = 10;
    if (options_.quick) plan.calls = 60;
    return plan;
  }

  core::Result<void> load(const GeneratedCluster& asked, const LoadPlan& plan) {
    SchedulerLoad load(asked, server_->extender_port(), next_pod_);
    for (int round = 1; round <= options_.rounds; ++round) {
      const auto figures = load.run(plan, [this] { return server_->cpu_time(); });
      if (!figures) return tl::unexpected(figures.error());
      bool met = report_.add(row_of(plan, asked.nodes(), round, figures->filter, *figures));
      met = report_.add(row_of(plan, asked.nodes(), round, figures->prioritize, *figures)) && met;
      if (met) break;
    }
    next_pod_ = load.next_pod();
    return {};
  }

  core::Result<void> connections() {
    const std::chrono::seconds idle(options_.quick ? 2 : 30);
    const auto figures = measure_connections(cluster_, server_->extender_port(), 600, idle);
    if (!figures) return tl::unexpected(figures.error());
    const auto add = [&](const std::string& name, const Latencies& latencies) {
      Row row;
      row.figure = name;
      row.nodes = cluster_.nodes();
      row.count = latencies.count();
      row.time = quantiles(latencies);
      row.checks = {{"max", latencies.quantile_ms(1), 1000}};
      report_.add(std::move(row));
    };
    add("600 connections at once", figures->first);
    add("600 connections, " + std::to_string(idle.count()) + " s idle", figures->after_idle);
    report_.add(value_row("memory with 600 connections", cluster_.nodes(), server_->resident_mib(), "MiB", {}));
    return {};
  }

  const Options& options_;
  Report& report_;
  ScratchDirectory scratch_;
  GeneratedCluster cluster_;
  ApiServer api_;
  std::optional<ServerProcess> server_;
  std::uint64_t next_pod_ = 0;
};

core::Result<void> events(const Options& options, Report& report) {
  const GeneratedCluster cluster(5000, kPodsPerNode);
  const ScratchDirectory scratch;
  for (int round = 1; round <= options.rounds; ++round) {
    const auto latencies =
        measure_events(cluster, options.changes, std::chrono::seconds(options.quick ? 4 : 20), scratch.path().string());
    if (!latencies) return tl::unexpected(latencies.error());
    Row row;
    row.figure = "event to snapshot";
    row.nodes = cluster.nodes();
    row.round = round;
    row.count = latencies->count();
    row.time = quantiles(*latencies);
    row.checks = {{"P99", row.time.p99_ms, 20}};
    if (report.add(std::move(row))) break;
  }
  return {};
}

// 2,000 datasets on 5,000 nodes against none: the medians of Filter by the clock, or what the server's process uses.
core::Result<void> dataset_cost(const Options& options, Report& report) {
  constexpr std::size_t kNodes = 5000;
  constexpr std::size_t kDatasetObjects = 2000;
  for (int round = 1; round <= options.rounds; ++round) {
    const auto cost = measure_dataset_cost(kNodes, kDatasetObjects, options.quick ? 4 : 10, 100);
    if (!cost) return tl::unexpected(cost.error());
    const double without = cost->without.quantile_ms(0.5);
    const double with = cost->with.quantile_ms(0.5);
    Row row;
    row.figure = "filter, 2,000 datasets";
    row.nodes = kNodes;
    row.round = round;
    row.count = cost->with.count();
    row.time = quantiles(cost->with);
    row.checks = {{"P50 over none", 100 * with / without, 120, "%"}};
    char note[120];
    std::snprintf(note, sizeof note, "without datasets P50 %.3f, P99 %.3f ms; server CPU %.3f and %.3f ms", without,
                  cost->without.quantile_ms(0.99), cost->with_cpu_ms, cost->without_cpu_ms);
    row.note = note;
    if (report.add(std::move(row))) break;
  }
  return {};
}

// Bursts of Binds, and Filter beside them.
core::Result<void> binds(const Options& options, Report& report) {
  constexpr std::size_t kNodes = 5000;
  for (int round = 1; round <= options.rounds; ++round) {
    const auto figures = measure_binds(kNodes, options.quick ? 5 : 20, 100, options.changes);
    if (!figures) return tl::unexpected(figures.error());
    Row own;
    own.figure = "100 Binds at once, Berth's part";
    own.nodes = kNodes;
    own.round = round;
    own.count = figures->own.count();
    own.time = quantiles(figures->own);
    own.checks = {{"P99", own.time.p99_ms, 5}, {"shared GPUs", static_cast<double>(figures->shared), 0, "GPUs"}};
    char note[120];
    std::snprintf(note, sizeof note, "whole call P50 %.1f, P99 %.1f ms, of it the API server 10 ms; %zu refused",
                  figures->total.quantile_ms(0.5), figures->total.quantile_ms(0.99), figures->refused);
    own.note = note;
    Row beside;
    beside.figure = "filter beside Binds";
    beside.nodes = kNodes;
    beside.round = round;
    beside.count = figures->filter_with.count();
    beside.time = quantiles(figures->filter_with);
    const double without = figures->filter_without.quantile_ms(0.99);
    beside.checks = {{"P99 over none", 100 * beside.time.p99_ms / without, 120, "%"}};
    std::snprintf(note, sizeof note, "without Binds P50 %.2f, P99 %.2f ms", figures->filter_without.quantile_ms(0.5),
                  without);
    beside.note = note;
    const bool met = report.add(std::move(own));
    if (report.add(std::move(beside)) && met) break;
  }
  return {};
}

core::Result<void> run_all(const Options& options, Report& report) {
  for (const std::size_t nodes : options.nodes) {
    Stage stage(options, report, nodes);
    if (auto done = stage.run(); !done) return done;
  }
  if (options.wants("datasets")) {
    if (auto done = dataset_cost(options, report); !done) return done;
  }
  if (options.wants("binds")) {
    if (auto done = binds(options, report); !done) return done;
  }
  if (options.wants("events")) return events(options, report);
  return {};
}

int run(Options options) {
  if (options.nodes.empty()) options.nodes = {100, 1000, 5000};
  if (options.nodes.size() == 3 && !options.quick) options.nodes.push_back(50'000);
  const auto began = std::chrono::steady_clock::now();
  Report report;
  report.machine = this_machine();
  report.machine.commit = options.commit;
  if (const auto done = run_all(options, report); !done) {
    std::fprintf(stderr, "bench_load: %s\n", done.error().to_string().c_str());
    return 1;
  }
  report.machine.load_after = load_average();
  report.machine.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const std::string text = options.format == "json" ? report.json() : report.table();
  if (options.out.empty()) {
    std::printf("%s", text.c_str());
  } else if (!(std::ofstream(options.out) << text)) {
    std::fprintf(stderr, "bench_load: %s can't be written\n", options.out.c_str());
    return 1;
  }
  for (const std::string& missed : report.missed()) std::fprintf(stderr, "missed: %s\n", missed.c_str());
  return report.missed().empty() ? 0 : 1;
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  berth::bench::Options options;
  CLI::App app("Measures Berth as kube-scheduler sees it; see docs/benchmarks.md.", "bench_load");
  app.add_flag("--quick,--short", options.quick, "A minute: fewer calls, up to 5,000 nodes");
  app.add_option("--nodes", options.nodes, "Sizes of clusters (default 100,1000,5000,50000)")->delimiter(',');
  app.add_option("--only", options.only, "Sections: names, whole, connections, memory, datasets, binds, events")
      ->delimiter(',')
      ->check(CLI::IsMember({"names", "whole", "connections", "memory", "datasets", "binds", "events"}));
  app.add_option("--rounds", options.rounds, "At most so many rounds for a figure that misses its bound")
      ->check(CLI::Range(1, 20));
  app.add_option("--changes", options.changes, "Pod changes a second")->check(CLI::NonNegativeNumber);
  app.add_option("--format", options.format, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_option("--out", options.out, "Write there instead of to standard output");
  app.add_option("--commit", options.commit, "What is measured, for the report");
  CLI11_PARSE(app, argc, argv);
  return berth::bench::run(options);
}
