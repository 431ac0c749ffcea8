#include "berth/cli/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "agent.h"
#include "berth/cli/command_line.h"
#include "berth/core/version.h"
#include "explain.h"
#include "report.h"
#include "serve.h"
#include "simulate.h"
#include "topology.h"

namespace berth::cli {
namespace {

constexpr const char* kFooter =
    "Try Berth on a dump of your own cluster:\n"
    "  kubectl get nodes,pods,pvc,datasets.data.fluid.io -A -o json > cluster.json   (nodes,pods,pvc without Fluid)\n"
    "  berth explain --cluster-file cluster.json --pod pod.json\n"
    "  berth serve --cluster-file cluster.json";

struct Flags {
  ServeFlags serve;
  ExplainFlags explain;
  TopologyFlags topology;
  AgentFlags agent;
  SimulateFlags simulate;
};

void add_serve(CLI::App& app, ServeFlags& flags) {
  CLI::App* serve = app.add_subcommand(
      "serve", "Answer kube-scheduler's calls: Filter, Prioritize, and if switched on Preempt and Bind");
  serve->add_option("--config", flags.config, "YAML file of docs/configuration.md")->type_name("FILE");
  serve->add_option("--listen", flags.listen, "Extender address; port 0 picks a free one (default 127.0.0.1:8900)")
      ->type_name("HOST:PORT");
  serve->add_option("--admin-listen", flags.admin_listen, "Admin address (default 127.0.0.1:8901)")
      ->type_name("HOST:PORT");
  serve
      ->add_option("--bind-listen", flags.bind_listen,
                   "Address of Bind, on a port of its own (default: the scheduler binds)")
      ->type_name("HOST:PORT");
  auto* kubeconfig =
      serve->add_option("--kubeconfig", flags.kubeconfig, "Watch the cluster that this file names")->type_name("FILE");
  serve->add_option("--context", flags.context, "Context of the kubeconfig (default: its current one)")
      ->type_name("NAME")
      ->needs(kubeconfig);
  auto* in_cluster = serve->add_flag("--in-cluster", flags.in_cluster, "Watch the cluster that Berth runs in");
  auto* file =
      serve
          ->add_option("--cluster-file", flags.cluster_file,
                       "Read the cluster from `kubectl get nodes,pods,pvc,datasets.data.fluid.io -A -o json`; - is "
                       "standard input. The file is read again when it changes")
          ->type_name("FILE|-");
  kubeconfig->excludes(in_cluster)->excludes(file);
  in_cluster->excludes(file);
  serve->add_option("--store", flags.store, "Where replicas share what they learn (memory:// in this version)")
      ->type_name("URL");
  serve->add_flag("--insecure", flags.insecure, "Listen beyond loopback without TLS");
  serve->add_option("--log-level", flags.log_level, "debug, info, warn or error")->type_name("LEVEL");
}

void add_explain(CLI::App& app, ExplainFlags& flags) {
  CLI::App* explain = app.add_subcommand("explain", "Show why a pod was placed where it was, or would be");
  auto* pod = explain->add_option("POD", flags.pod, "NAMESPACE/NAME")->type_name("NAMESPACE/NAME");
  auto* server = explain->add_option("--server", flags.server, "Admin address of a running Berth")
                     ->type_name("URL")
                     ->capture_default_str();
  auto* kubeconfig = explain
                         ->add_option("--kubeconfig", flags.kubeconfig,
                                      "Ask the Berth of this cluster, through the API server's service proxy")
                         ->type_name("FILE")
                         ->excludes(server);
  explain->add_option("--context", flags.context, "Context of the kubeconfig")->type_name("NAME")->needs(kubeconfig);
  explain->add_option("--service", flags.service, "Berth's Service, with --kubeconfig")
      ->type_name("NAMESPACE/NAME:PORT")
      ->capture_default_str()
      ->needs(kubeconfig);
  auto* file = explain
                   ->add_option("--cluster-file", flags.cluster_file,
                                "Work it out offline on a dump of a cluster; - is standard input")
                   ->type_name("FILE|-")
                   ->excludes(server)
                   ->excludes(kubeconfig)
                   ->excludes(pod);
  auto* pod_file = explain->add_option("--pod", flags.pod_file, "The pod as JSON, with --cluster-file")
                       ->type_name("FILE")
                       ->needs(file);
  file->needs(pod_file);
  explain->add_option("--config", flags.config, "YAML file of docs/configuration.md, with --cluster-file")
      ->type_name("FILE")
      ->needs(file);
  explain->add_flag("--json", flags.json, "Print JSON instead of a table");
  explain->add_option("--candidates", flags.most, "Candidates to print")
      ->type_name("N")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
}

void add_topology(CLI::App& app, TopologyFlags& flags) {
  CLI::App* topology =
      app.add_subcommand("topology", "Show how a machine's GPUs are linked, and which sets of them are best");
  topology->add_option("FILE", flags.file, "What `nvidia-smi topo -m` printed; - is standard input")
      ->type_name("FILE|-")
      ->required();
  topology->add_option("--format", flags.format, "table or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  topology->add_option("--config", flags.config, "YAML file of docs/configuration.md, for the bandwidths of links")
      ->type_name("FILE");
}

void add_agent(CLI::App& app, AgentFlags& flags) {
  CLI::App* agent = app.add_subcommand("agent", "Tell Berth of the GPUs of the node that this runs on");
  agent->add_option("--node-name", flags.node, "The node (default: environment variable NODE_NAME)")
      ->type_name("NAME")
      ->envname("NODE_NAME");
  auto* kubeconfig = agent->add_option("--kubeconfig", flags.kubeconfig, "Write to the cluster that this file names")
                         ->type_name("FILE");
  agent->add_option("--context", flags.context, "Context of the kubeconfig (default: its current one)")
      ->type_name("NAME")
      ->needs(kubeconfig);
  agent->add_flag("--in-cluster", flags.in_cluster, "Write to the cluster that the agent runs in")
      ->excludes(kubeconfig);
  agent->add_option("--nvidia-smi", flags.nvidia_smi, "The program that tells of the GPUs")
      ->type_name("PATH")
      ->capture_default_str();
  agent->add_option("--pod-resources", flags.pod_resources, "The kubelet's socket that tells who holds them")
      ->type_name("unix://PATH")
      ->capture_default_str();
  agent->add_option("--interval", flags.interval, "How often the kubelet is asked")
      ->type_name("DURATION")
      ->capture_default_str();
  agent->add_option("--machine-interval", flags.machine_interval, "How often the machine is read")
      ->type_name("DURATION")
      ->capture_default_str();
  agent->add_flag("--once", flags.once, "Read and write once, and end");
  agent->add_flag("--dry-run", flags.dry_run, "Print what would be written");
  agent->add_option("--log-level", flags.log_level, "debug, info, warn or error")->type_name("LEVEL");
}

std::unique_ptr<CLI::App> command_line(Flags& flags) {
  auto app = std::make_unique<CLI::App>("Berth tells kube-scheduler which node each AI pod should run on.", "berth");
  app->footer(kFooter);
  app->require_subcommand(1);
  app->set_version_flag("--version", std::string(core::kVersion));
  add_serve(*app, flags.serve);
  add_explain(*app, flags.explain);
  add_topology(*app, flags.topology);
  add_agent(*app, flags.agent);
  add_simulate(*app, flags.simulate);
  app->add_subcommand("version", "Print the version");
  return app;
}

}  // namespace

int run(int argc, char** argv, const std::function<void(server::HttpServer&)>& more_extender_routes) {
  Flags flags;
  const auto app = command_line(flags);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app->exit(error);  // --help, --version
    const auto named = app->get_subcommands();
    if (named.empty() && argc > 1 && argv[1][0] != '-') {
      return report(kUsage, "\"" + std::string(argv[1]) +
                                "\" is no command; there are serve, explain, topology, agent, simulate and version");
    }
    const std::string command = named.empty() ? "berth" : "berth " + named.front()->get_name();
    return report(kUsage, std::string(error.what()) + " (see `" + command + " --help`)");
  }
  if (app->got_subcommand("version")) {
    std::printf("berth %s\n", std::string(core::kVersion).c_str());
    return kOk;
  }
  if (app->got_subcommand("serve")) return serve(flags.serve, more_extender_routes);
  if (app->got_subcommand("topology")) return topology(flags.topology);
  if (app->got_subcommand("agent")) return agent(flags.agent);
  if (app->got_subcommand("simulate")) return simulate(flags.simulate);
  return explain(flags.explain);
}

std::vector<FlagName> flag_names() {
  Flags flags;
  const auto app = command_line(flags);
  std::vector<FlagName> names;
  for (const CLI::App* command : app->get_subcommands({})) {
    for (const CLI::Option* option : command->get_options()) {
      const std::string name = option->get_name();
      if (name.starts_with("--") && name != "--help") names.push_back({command->get_name(), name});
    }
  }
  return names;
}

}  // namespace berth::cli
