#include <CLI/CLI.hpp>

#include "simulate.h"

namespace berth::cli {
namespace {

constexpr const char* kSimulateFooter =
    "Compare policies on the openb trace, and draw the result:\n"
    "  berth simulate --nodes openb_node_list_gpu_node.csv --tasks openb_pod_list_default.csv --policy "
    "bestfit,fgd,berth "
    "--plot allocation.svg\n"
    "docs/packing.md says what is measured, and how to replay a trace of your own.";

void add_knobs(CLI::App& simulate, SimulateFlags& flags) {
  const char* group = "Knobs of berth";
  simulate
      .add_option("--large-jobs", flags.large_jobs,
                  "Weight of jobs of several GPUs: less packs denser, more keeps nodes whole")
      ->type_name("NUMBER")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str()
      ->group(group);
  simulate.add_option("--tilt", flags.tilt, "How much small tasks count by what they can still use")
      ->type_name("PART")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(group);
  simulate.add_option("--tilt-power", flags.tilt_power, "How strongly size counts there")
      ->type_name("NUMBER")
      ->check(CLI::Range(0.0, 6.0))
      ->capture_default_str()
      ->group(group);
  simulate.add_option("--floor", flags.floor, "Capacity below this part of the cluster makes nothing dearer")
      ->type_name("PART")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(group);
  simulate.add_option("--cpu-weight", flags.cpu_weight, "How much GPUs that the CPU left can't feed count as lost")
      ->type_name("PART")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(group);
  simulate.add_option("--refresh", flags.refresh, "Decisions between two looks at the whole cluster")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->group(group);
}

void add_through_http(CLI::App& simulate, SimulateFlags& flags) {
  const char* group = "Through the real protocol";
  auto* through_http =
      simulate
          .add_flag("--through-http", flags.through_http,
                    "Start a Berth and play the cluster around it: the API server that it watches, and the "
                    "kube-scheduler that asks Filter, Prioritize and Bind, taking any of equal nodes")
          ->group(group);
  simulate.add_option("--config", flags.config, "Configuration of that Berth, a YAML file of docs/configuration.md")
      ->type_name("FILE")
      ->needs(through_http)
      ->group(group);
}

void add_departures(CLI::App& simulate, SimulateFlags& flags) {
  const char* group = "Tasks that end";
  simulate
      .add_flag("--departures", flags.departures, "Tasks end after their lifetimes, and wait where there is no room")
      ->group(group);
  simulate.add_option("--load", flags.load, "GPU time asked for, as a part of what there is (default 0.95)")
      ->type_name("PART")
      ->check(CLI::Range(0.01, 2.0))
      ->group(group);
  simulate
      .add_option("--large-weight", flags.large_weight,
                  "How often tasks of 8 GPUs are drawn beside others (default 10)")
      ->type_name("NUMBER")
      ->check(CLI::Range(0.0, 1000.0))
      ->group(group);
  simulate
      .add_option("--arrivals", flags.arrivals, "Tasks (default: as many as arrive in 12 of the longest lifetimes)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{10}, std::int64_t{100'000'000}))
      ->group(group);
}

}  // namespace

void add_simulate(CLI::App& app, SimulateFlags& flags) {
  CLI::App* simulate =
      app.add_subcommand("simulate", "Replay a trace of tasks and see how many GPUs each policy can allocate");
  simulate->footer(kSimulateFooter);
  simulate->add_option("--nodes", flags.nodes, "CSV with the columns sn, cpu_milli, memory_mib, gpu, model")
      ->type_name("CSV")
      ->required();
  simulate
      ->add_option("--tasks", flags.tasks,
                   "CSV with the columns name, cpu_milli, memory_mib, num_gpu, gpu_milli, and if there gpu_spec and "
                   "creation_time, scheduled_time, deletion_time")
      ->type_name("CSV")
      ->required();
  simulate
      ->add_option("--policy", flags.policies,
                   "random, bestfit, packing, dotprod, clustering, fgd or berth; several with commas between them")
      ->type_name("NAME")
      ->delimiter(',')
      ->capture_default_str();
  simulate->add_option("--seeds", flags.seeds, "One run each: 1..10, or 1,2,5")
      ->type_name("SEEDS")
      ->capture_default_str();
  simulate
      ->add_option("--inflation", flags.inflation, "Tasks arrive until so many times the GPUs there are were asked for")
      ->type_name("NUMBER")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  simulate->add_option("--jobs", flags.jobs, "Runs at a time (default: one for each processor)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  simulate->add_option("--format", flags.format, "table or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  simulate->add_option("--plot", flags.plot, "Draw allocation by arrival as SVG")->type_name("FILE");
  simulate
      ->add_option("--ties", flags.ties,
                   "Among nodes of equal score: fixed takes the first in a random order of the run, random any, as "
                   "kube-scheduler does")
      ->type_name("HOW")
      ->check(CLI::IsMember({"fixed", "random"}))
      ->capture_default_str();
  simulate
      ->add_option("--mix-from", flags.mix_from,
                   "fgd and berth learn from this part of the arrivals alone (default: they know the list)")
      ->type_name("PART")
      ->check(CLI::Range(0.0, 1.0));
  simulate->add_flag("--islands", flags.islands,
                     "GPUs 0-3 and 4-7 of 8 are NVLink islands: prefer them, and count tasks of 2 and 4 inside one");
  add_through_http(*simulate, flags);
  add_departures(*simulate, flags);
  add_knobs(*simulate, flags);
}

}  // namespace berth::cli
