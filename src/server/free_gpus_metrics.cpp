#include "free_gpus_metrics.h"

#include <string>
#include <utility>

#include "berth/server/metrics.h"

namespace berth::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

MetricFamily gauges(const char* name) { return {name, metric_help(name), prometheus::MetricType::Gauge, {}}; }

void add(MetricFamily& family, std::vector<ClientMetric::Label> labels, double value) {
  ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  metric.gauge.value = value;
}

void collect_cluster(const model::FreeGpusView& view, std::vector<MetricFamily>& families) {
  MetricFamily free = gauges("berth_free_gpus");
  for (int size = 1; size <= view.most_gpus; ++size) {
    const std::int64_t gpus = view.cluster.by_island[static_cast<std::size_t>(size)];
    add(free, {{"island", std::to_string(size)}}, static_cast<double>(gpus));
  }
  MetricFamily largest = gauges("berth_largest_request_gpus");
  add(largest, {}, static_cast<double>(view.cluster.largest_request));
  MetricFamily fragmentation = gauges("berth_fragmentation_ratio");
  add(fragmentation, {}, view.cluster.fragmentation());
  for (MetricFamily* each : {&free, &largest, &fragmentation}) families.push_back(std::move(*each));
}

void collect_nodes(const model::Snapshot& snapshot, const model::FreeGpusView& view,
                   std::vector<MetricFamily>& families) {
  MetricFamily free = gauges("berth_node_free_gpus");
  MetricFamily fragmentation = gauges("berth_node_fragmentation_ratio");
  for (model::Slot slot = 0; slot < view.nodes.size(); ++slot) {
    const model::NodeState& state = snapshot.at(slot);
    if (state.node == nullptr || (state.gpus == 0 && state.uses == nullptr)) continue;
    const std::string& name = state.node->name;
    const model::FreeGpus& left = view.nodes[slot];
    add(free, {{"node", name}}, static_cast<double>(left.whole));
    add(fragmentation, {{"node", name}}, left.fragmentation());
  }
  families.push_back(std::move(free));
  families.push_back(std::move(fragmentation));
}

}  // namespace

std::shared_ptr<const model::FreeGpusView> FreeGpusMetrics::view(const model::Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  if (view_ == nullptr || version_ != snapshot.version) {
    view_ = std::make_shared<const model::FreeGpusView>(model::view_free_gpus(snapshot, view_.get()));
    version_ = snapshot.version;
  }
  return view_;
}

std::vector<MetricFamily> FreeGpusMetrics::collect(const model::Snapshot& snapshot) {
  const auto free = view(snapshot);
  std::vector<MetricFamily> families;
  collect_cluster(*free, families);
  collect_nodes(snapshot, *free, families);
  return families;
}

}  // namespace berth::server
