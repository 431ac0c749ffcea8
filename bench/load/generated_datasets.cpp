#include "generated_datasets.h"

#include <set>

#include "generated_cluster.h"

namespace berth::bench {
namespace {

constexpr std::size_t kWantedEvery = 50;  // nodes, of the two datasets that pods ask for

std::string dataset_name(std::size_t dataset) {
  return dataset < 2 ? "imagenet-" + std::to_string(dataset) : "corpus-" + std::to_string(dataset);
}

// As the objects are written here, with numbers in their last digits.
std::string uid(std::string_view prefix, std::size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(prefix) + "-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

template <class... Parts>
void append(std::string& out, const Parts&... parts) {
  (out.append(parts), ...);
}

}  // namespace

GeneratedDatasets::GeneratedDatasets(std::size_t nodes, std::size_t datasets) : datasets_(datasets) {
  for (std::size_t dataset = 0; dataset < datasets; ++dataset) {
    std::set<std::size_t> on;
    if (dataset < 2) {
      for (std::size_t node = 0; node < nodes; node += kWantedEvery) on.insert(node);
    } else {
      const std::size_t count = 4 + mixed(dataset) % 13;
      for (std::size_t i = 0; i < count; ++i) on.insert(mixed(dataset * 64 + i) % nodes);
    }
    std::size_t number = 0;
    for (const std::size_t node : on) workers_.push_back({dataset, number++, node});
  }
}

model::Dataset GeneratedDatasets::dataset(std::size_t dataset) const {
  model::Dataset made;
  made.ref = {std::string(kNamespace), dataset_name(dataset)};
  made.uid = uid("da7a5e70", dataset);
  made.phase = "Bound";
  made.runtime = "alluxio";
  made.total_bytes = static_cast<std::int64_t>(100 + mixed(dataset) % 900) << 30U;
  made.cached = static_cast<double>(10 + mixed(dataset + 7) % 90) / 100;
  return made;
}

model::Pod GeneratedDatasets::worker(std::size_t worker) const {
  const Worker& at = workers_[worker];
  const std::string name = dataset_name(at.dataset);
  model::Pod made = waiting_pod(name + "-worker-" + std::to_string(at.number), uid("30a7e700", worker), 0, "");
  made.node = GeneratedCluster::node_name(at.node);
  made.phase = model::PodPhase::kRunning;
  model::CachePod cache;
  cache.dataset = name;
  cache.ready = true;
  cache.host_ip = "10." + std::to_string(at.node / 65'536) + "." + std::to_string(at.node / 256 % 256) + "." +
                  std::to_string(at.node % 256);
  cache.pod_ip = cache.host_ip;
  made.cache = cache;
  return made;
}

void append_dataset_json(std::string& out, const model::Dataset& dataset, std::string_view resource_version) {
  append(out, R"({"apiVersion":"data.fluid.io/v1alpha1","kind":"Dataset","metadata":{"name":")", dataset.ref.name,
         R"(","namespace":")", dataset.ref.ns, R"(","uid":")", dataset.uid, R"(","resourceVersion":")",
         resource_version,
         R"(","creationTimestamp":"2026-03-14T09:26:53Z"},"spec":{"mounts":[{"mountPoint":"s3://bucket/)",
         dataset.ref.name, R"(","name":")", dataset.ref.name, R"("}]},"status":{"phase":")", dataset.phase,
         R"(","ufsTotal":")", std::to_string(dataset.total_bytes >> 30U),
         R"(.00GiB","conditions":[],"cacheStates":{"cachedPercentage":")",
         std::to_string(static_cast<int>(dataset.cached.value_or(0) * 100 + 0.5)),
         R"(.0%","cacheCapacity":"1.00TiB","cacheHitRatio":"97.1%"},"runtimes":[{"name":")", dataset.ref.name,
         R"(","namespace":")", dataset.ref.ns, R"(","category":"Accelerate","type":")", dataset.runtime, R"("}]}})");
}

void append_claim_json(std::string& out, const model::Dataset& dataset, std::string_view resource_version) {
  append(
      out, R"({"metadata":{"name":")", dataset.ref.name, R"(","namespace":")", dataset.ref.ns,
      R"(","resourceVersion":")", resource_version, R"(","labels":{")", model::worker_label(dataset.ref, dataset.uid),
      R"(":"true"}},"spec":{"accessModes":["ReadOnlyMany"],"storageClassName":"fluid"},"status":{"phase":"Bound"}})");
}

void append_worker_json(std::string& out, const model::Pod& worker, std::string_view resource_version) {
  const model::CachePod& cache = *worker.cache;
  append(
      out, R"({"metadata":{"name":")", worker.name, R"(","namespace":")", worker.ns, R"(","uid":")", worker.uid,
      R"(","resourceVersion":")", resource_version,
      R"(","creationTimestamp":"2026-03-14T09:26:53Z","labels":{"app":"alluxio","role":"alluxio-worker","release":")",
      cache.dataset, R"(","fluid.io/dataset":")", worker.ns, "-", cache.dataset,
      R"(","fluid.io/dataset-placement":"Shared"}},"spec":{"nodeName":")", worker.node,
      R"(","containers":[{"name":"alluxio-worker","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Running",)"
      R"("startTime":"2026-03-14T09:26:55Z","hostIP":")",
      cache.host_ip, R"(","podIP":")", cache.pod_ip, R"(","conditions":[{"type":"Ready","status":")",
      cache.ready ? "True" : "False", R"("}]}})");
}

}  // namespace berth::bench
