#include "dataset_cost.h"

#include <memory>
#include <optional>

#include "api_server.h"
#include "generated_cluster.h"
#include "generated_datasets.h"
#include "scheduler_load.h"
#include "server_process.h"

namespace berth::bench {
namespace {

constexpr std::size_t kPodsPerNode = 10;

// A server over a cluster of its own, ready to be asked.
class Side {
 public:
  static core::Result<std::unique_ptr<Side>> start(std::size_t nodes, std::size_t datasets) {
    auto side = std::unique_ptr<Side>(new Side(nodes, datasets));
    const auto port = side->api_.start();
    if (!port) return tl::unexpected(port.error());
    auto server = ServerProcess::start(write_kubeconfig(side->scratch_.path(), *port), side->scratch_.path());
    if (!server) return tl::unexpected(server.error());
    side->server_.emplace(*std::move(server));
    side->load_.emplace(side->cluster_, side->server_->extender_port());
    return side;
  }

  core::Result<LoadFigures> ask(std::size_t calls) {
    LoadPlan plan;
    plan.calls = calls;
    plan.block = calls;
    plan.all_large = true;
    plan.datasets = datasets_.datasets() > 0;
    return load_->run(plan, [this] { return server_->cpu_time(); });
  }

 private:
  Side(std::size_t nodes, std::size_t datasets)
      : cluster_(nodes, kPodsPerNode, false),
        datasets_(nodes, datasets),
        api_(cluster_, 0, {}, datasets > 0 ? &datasets_ : nullptr) {}

  ScratchDirectory scratch_;
  GeneratedCluster cluster_;
  GeneratedDatasets datasets_;
  ApiServer api_;
  std::optional<ServerProcess> server_;
  std::optional<SchedulerLoad> load_;
};

}  // namespace

core::Result<DatasetCost> measure_dataset_cost(std::size_t nodes, std::size_t datasets, std::size_t blocks,
                                               std::size_t calls) {
  auto without = Side::start(nodes, 0);
  if (!without) return tl::unexpected(without.error());
  auto with = Side::start(nodes, datasets);
  if (!with) return tl::unexpected(with.error());
  DatasetCost cost;
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto plain = (*without)->ask(calls);
    if (!plain) return tl::unexpected(plain.error());
    const auto rich = (*with)->ask(calls);
    if (!rich) return tl::unexpected(rich.error());
    cost.without.add_all(plain->filter.berth.total);
    cost.with.add_all(rich->filter.berth.total);
    cost.without_cpu_ms += plain->berth_cpu_ms / static_cast<double>(blocks);
    cost.with_cpu_ms += rich->berth_cpu_ms / static_cast<double>(blocks);
  }
  return cost;
}

}  // namespace berth::bench
