#include "config_keys.h"

#include <algorithm>
#include <vector>

#include "config_classes.h"
#include "config_values.h"

namespace berth::server {
namespace {

using core::ErrorCode;
using core::fail;
using core::Result;
using std::chrono::milliseconds;

constexpr std::size_t kKi = 1U << 10U;
constexpr std::size_t kMi = 1U << 20U;
constexpr std::size_t kGi = 1U << 30U;
constexpr std::size_t kTi = kGi << 10U;

// Moves a value that was read to its place, or passes the error on.
template <class T, class U>
Result<void> set(U& into, Result<T> value) {
  if (!value) return tl::unexpected(value.error());
  into = std::move(*value);
  return {};
}

// One of several names.
template <class T, class Parse>
Result<void> set_name(T& into, const YAML::Node& node, Parse parse, const char* allowed) {
  const auto text = read_text(node);
  const std::optional<T> value = text ? parse(*text) : std::nullopt;
  if (!value) return fail(ErrorCode::kInvalid, std::string("must be ") + allowed);
  into = *value;
  return {};
}

std::optional<GpuCount> parse_gpu_count(std::string_view text) {
  if (text == "auto") return GpuCount::kAuto;
  if (text == "trust") return GpuCount::kTrust;
  if (text == "enforce") return GpuCount::kEnforce;
  return std::nullopt;
}

std::optional<policy::Coarse> parse_coarse(std::string_view text) {
  if (text == "off") return policy::Coarse::kOff;
  if (text == "datasets") return policy::Coarse::kDatasets;
  if (text == "all") return policy::Coarse::kAll;
  return std::nullopt;
}

std::optional<LogFormat> parse_log_format(std::string_view text) {
  if (text == "text") return LogFormat::kText;
  if (text == "json") return LogFormat::kJson;
  return std::nullopt;
}

// The names of one kind of share; those of the others stay.
Result<void> set_shares(Config& config, const YAML::Node& node, model::ShareUnit unit, bool of_each) {
  auto names = read_texts(node);
  if (!names) return tl::unexpected(names.error());
  auto& shares = config.resources.shares;
  const auto of_kind = [&](const model::ShareResource& one) { return one.unit == unit && one.of_each == of_each; };
  auto at = std::find_if(shares.begin(), shares.end(), of_kind) - shares.begin();
  std::erase_if(shares, of_kind);
  for (std::string& name : *names) {
    const auto same = [&](const model::ShareResource& one) { return one.name == name; };
    if (std::any_of(shares.begin(), shares.end(), same)) {
      return fail(ErrorCode::kInvalid,
                  "must name a resource once in all of shareResources, not \"" + name + "\" again");
    }
    shares.insert(shares.begin() + at++, {std::move(name), unit, of_each});
  }
  return {};
}

Result<void> set_bandwidth(std::size_t& into, const YAML::Node& node) { return set(into, read_size(node, kMi, kTi)); }

// A class of links is never without any bandwidth, and two of them may be as wide as each other.
Result<void> set_link_bandwidth(int& into, const YAML::Node& node) {
  const auto value = read_count(node, 1, 1000);
  if (!value) return tl::unexpected(value.error());
  into = static_cast<int>(*value);
  return {};
}

Result<void> set_gpu_memory(Config& config, const YAML::Node& node) {
  const auto text = read_text(node);
  const auto mib = text ? model::parse_gpu_memory(*text) : Result<std::int64_t>(tl::unexpected(text.error()));
  if (!mib) return fail(ErrorCode::kInvalid, "must be a size such as 80Gi, or a whole number of GiB");
  config.policy.min_gpu_memory_mib = *mib;
  return {};
}

Result<void> set_bounds(Config& config, const YAML::Node& node, double model::Weights::* part) {
  const auto refuse = [] {
    return fail(ErrorCode::kInvalid, "must be a list of two weights from 0 to 1000, the lesser first");
  };
  if (!node.IsSequence() || node.size() != 2) return refuse();
  const auto least = read_weight(node[0]);
  const auto most = read_weight(node[1]);
  if (!least || !most || *least > *most) return refuse();
  config.policy.weight_bounds.least.*part = *least;
  config.policy.weight_bounds.most.*part = *most;
  return {};
}

Result<void> set_levels(const YAML::Node& node, Config& config) {
  auto levels = read_texts(node);
  const std::string allowed = "must be up to " + std::to_string(model::kMaxLevels) + " different label keys";
  if (!levels || levels->size() > model::kMaxLevels) return fail(ErrorCode::kInvalid, allowed);
  for (auto level = levels->begin(); level != levels->end(); ++level) {
    if (level->empty() || std::find(levels->begin(), level, *level) != level) return fail(ErrorCode::kInvalid, allowed);
    // It is the closest level already.
    if (*level == model::kHostnameLabel) {
      return fail(ErrorCode::kInvalid, "must not hold " + *level + ", which is always the closest level");
    }
  }
  config.resources.levels = *levels;
  config.policy.gang_levels = *std::move(levels);
  return {};
}

// In the order of docs/configuration.md.
const std::vector<KeyReader>& table() {
  static const std::vector<KeyReader> kTable{
      {{"listen", "address", "127.0.0.1:8900", "HOST:PORT",
        "Where kube-scheduler asks: /filter and /prioritize. Port 0 picks a free one."},
       [](const YAML::Node& node, Config& config) { return set(config.listen, read_text(node)); }},
      {{"adminListen", "address", "127.0.0.1:8901", "HOST:PORT",
        "Where people and probes ask: health, metrics, explain. Port 0 picks a free one."},
       [](const YAML::Node& node, Config& config) { return set(config.admin_listen, read_text(node)); }},
      {{"insecure", "bool", "false", "true, false",
        "Allows the two addresses to be reachable from other machines, without TLS."},
       [](const YAML::Node& node, Config& config) { return set(config.insecure, read_bool(node)); }},
      {{"gpuResource", "text", "nvidia.com/gpu", "a resource name", "The extended resource that counts whole GPUs."},
       [](const YAML::Node& node, Config& config) { return set(config.resources.gpu, read_text(node)); }},
      {{"migPrefix", "text", "nvidia.com/mig-", "the beginning of a resource name",
        "What comes before the profile in extended resources that count MIG partitions."},
       [](const YAML::Node& node, Config& config) { return set(config.resources.mig_prefix, read_text(node)); }},
      {{"shareResources.memoryMib", "list", "[nvidia.com/gpu-mem]", "resource names",
        "Extended resources that ask for a share of one GPU by MiB of its memory."},
       [](const YAML::Node& node, Config& config) { return set_shares(config, node, model::ShareUnit::kMib, false); }},
      {{"shareResources.memoryGib", "list", "[aliyun.com/gpu-mem]", "resource names", "The same by GiB."},
       [](const YAML::Node& node, Config& config) { return set_shares(config, node, model::ShareUnit::kGib, false); }},
      {{"shareResources.milli", "list", "[berth.io/gpu-milli]", "resource names",
        "The same by thousandths of its time."},
       [](const YAML::Node& node, Config& config) {
         return set_shares(config, node, model::ShareUnit::kMilli, false);
       }},
      {{"shareResources.ofEach.memoryMib", "list", "[nvidia.com/gpumem]", "resource names",
        "Extended resources that ask for shares of as many GPUs as gpuResource says, by MiB of the memory of each."},
       [](const YAML::Node& node, Config& config) { return set_shares(config, node, model::ShareUnit::kMib, true); }},
      {{"shareResources.ofEach.memoryPercent", "list", "[nvidia.com/gpumem-percentage]", "resource names",
        "The same by per cent of the memory of each."},
       [](const YAML::Node& node, Config& config) {
         return set_shares(config, node, model::ShareUnit::kMemoryPercent, true);
       }},
      {{"shareResources.ofEach.percent", "list", "[nvidia.com/gpucores]", "resource names",
        "The same by per cent of the time of each."},
       [](const YAML::Node& node, Config& config) {
         return set_shares(config, node, model::ShareUnit::kPercent, true);
       }},
      {{"gpuCount", "name", "auto", "auto, trust, enforce",
        "Who rejects a node with too few free GPUs: the scheduler (trust; Berth ranks it last) or Berth (enforce). "
        "auto is trust with a live cluster and enforce with a cluster file."},
       [](const YAML::Node& node, Config& config) {
         return set_name(config.gpu_count, node, parse_gpu_count, "auto, trust or enforce");
       }},
      {{"coarse", "name", "all", "off, datasets, all",
        "Which pods /filter hands only the best nodes on for: none, those with datasets, or all."},
       [](const YAML::Node& node, Config& config) {
         return set_name(config.placement.coarse, node, parse_coarse, "off, datasets or all");
       }},
      {{"candidates", "count", "32", "1 to 5000",
        "How many nodes /filter hands on at a pod's first attempt, at least."},
       [](const YAML::Node& node, Config& config) {
         return set(config.placement.candidates, read_count(node, 1, 5'000));
       }},
      {{"otherFilteringExtender", "bool", "false", "true, false",
        "Another extender with a filter stands beside Berth and may reject what Berth hands on: never hand on only the "
        "best."},
       [](const YAML::Node& node, Config& config) {
         return set(config.placement.other_filtering_extender, read_bool(node));
       }},
      {{"weights.locality", "weight", "4", "0 to 1000",
        "What it weighs how soon the pod's datasets and images are loaded."},
       [](const YAML::Node& node, Config& config) { return set(config.policy.weights.locality, read_weight(node)); }},
      {{"weights.topology", "weight", "2", "0 to 1000",
        "What it weighs how well the GPUs that the pod would get are linked."},
       [](const YAML::Node& node, Config& config) { return set(config.policy.weights.topology, read_weight(node)); }},
      {{"weights.packing", "weight", "1", "0 to 1000", "What it weighs that the GPUs left over stay useful."},
       [](const YAML::Node& node, Config& config) { return set(config.policy.weights.packing, read_weight(node)); }},
      {{"weights.proximity", "weight", "2", "0 to 1000",
        "What it weighs that the members of a gang are near each other; only for pods of a gang."},
       [](const YAML::Node& node, Config& config) { return set(config.policy.weights.proximity, read_weight(node)); }},
      {{"weightBounds.locality", "range", "[0, 1000]", "two weights",
        "What a SchedulingPolicy may set as weights.locality, least and most."},
       [](const YAML::Node& node, Config& config) { return set_bounds(config, node, &model::Weights::locality); }},
      {{"weightBounds.topology", "range", "[0, 1000]", "two weights", "The same for weights.topology."},
       [](const YAML::Node& node, Config& config) { return set_bounds(config, node, &model::Weights::topology); }},
      {{"weightBounds.packing", "range", "[0, 1000]", "two weights", "The same for weights.packing."},
       [](const YAML::Node& node, Config& config) { return set_bounds(config, node, &model::Weights::packing); }},
      {{"weightBounds.proximity", "range", "[0, 1000]", "two weights", "The same for weights.proximity."},
       [](const YAML::Node& node, Config& config) { return set_bounds(config, node, &model::Weights::proximity); }},
      {{"packing.mu", "weight", "2", "0 to 1000",
        "How much jobs of several GPUs count in packing: more keeps more nodes whole for them (packing.md)."},
       [](const YAML::Node& node, Config& config) { return set(config.placement.large_jobs, read_weight(node)); }},
      {{"packing.window", "count", "10000", "100 to 100000",
        "From how many pods, the last ones seen, Berth learns what the next ones are likely to ask for."},
       [](const YAML::Node& node, Config& config) { return set(config.mix.window, read_count(node, 100, 100'000)); }},
      {{"packing.classes", "list", "[]", "maps such as {gpus: 8, cpu: 96, share: 5}",
        "Requests to be reckoned with however few were seen, each with its least share of all in per cent; packing.md "
        "has the keys."},
       [](const YAML::Node& node, Config& config) { return set(config.mix.declared, read_classes(node)); }},
      {{"gang.levels", "list", "[nvidia.com/gpu.clique, topology.kubernetes.io/rack, topology.kubernetes.io/zone]",
        "up to 8 label keys, the closest first",
        "The node labels by which nodes are near each other, besides the node itself; one that a node lacks says "
        "nothing of it."},
       set_levels},
      {{"topology.bandwidth.nvlink", "count", "25", "1 to 1000",
        "GB/s per direction of one NVLink; a bond of k has k times as much."},
       [](const YAML::Node& node, Config& config) { return set_link_bandwidth(config.link_bandwidths.nvlink, node); }},
      {{"topology.bandwidth.pix", "count", "20", "1 to 1000",
        "GB/s per direction between GPUs with at most one PCIe bridge between them."},
       [](const YAML::Node& node, Config& config) { return set_link_bandwidth(config.link_bandwidths.pix, node); }},
      {{"topology.bandwidth.pxb", "count", "16", "1 to 1000",
        "The same with several PCIe bridges and no host bridge between them."},
       [](const YAML::Node& node, Config& config) { return set_link_bandwidth(config.link_bandwidths.pxb, node); }},
      {{"topology.bandwidth.phb", "count", "12", "1 to 1000", "The same through a host bridge."},
       [](const YAML::Node& node, Config& config) { return set_link_bandwidth(config.link_bandwidths.phb, node); }},
      {{"topology.bandwidth.node", "count", "10", "1 to 1000", "The same between host bridges of one NUMA node."},
       [](const YAML::Node& node, Config& config) { return set_link_bandwidth(config.link_bandwidths.node, node); }},
      {{"topology.bandwidth.sys", "count", "8", "1 to 1000", "The same across NUMA nodes."},
       [](const YAML::Node& node, Config& config) { return set_link_bandwidth(config.link_bandwidths.sys, node); }},
      {{"data.bandwidth.node", "size", "4Gi", "1Mi to 1Ti",
        "Bytes a second that a pod reads from the cache of its own node."},
       [](const YAML::Node& node, Config& config) {
         return set_bandwidth(config.placement.data.bandwidth.node, node);
       }},
      {{"data.bandwidth.rack", "size", "2Gi", "1Mi to 1Ti", "The same from another node of its rack."},
       [](const YAML::Node& node, Config& config) {
         return set_bandwidth(config.placement.data.bandwidth.rack, node);
       }},
      {{"data.bandwidth.zone", "size", "1Gi", "1Mi to 1Ti", "The same from another rack of its zone."},
       [](const YAML::Node& node, Config& config) {
         return set_bandwidth(config.placement.data.bandwidth.zone, node);
       }},
      {{"data.bandwidth.remote", "size", "256Mi", "1Mi to 1Ti",
        "The same from another zone, or from the storage behind the dataset."},
       [](const YAML::Node& node, Config& config) {
         return set_bandwidth(config.placement.data.bandwidth.remote, node);
       }},
      {{"data.bandwidth.registry", "size", "128Mi", "1Mi to 1Ti",
        "Bytes a second of a container image that the node lacks."},
       [](const YAML::Node& node, Config& config) {
         return set_bandwidth(config.placement.data.bandwidth.registry, node);
       }},
      {{"data.minSaving", "duration", "5s", "0s to 1h", "A difference in loading time below it decides nothing."},
       [](const YAML::Node& node, Config& config) {
         return set(config.placement.data.min_saving, read_duration(node, milliseconds(0), milliseconds(3'600'000)));
       }},
      {{"data.readersAtFullSpeed", "count", "8", "1 to 10000",
        "How many pods on one node read the same dataset without slowing each other."},
       [](const YAML::Node& node, Config& config) {
         return set(config.placement.data.readers_at_full_speed, read_count(node, 1, 10'000));
       }},
      {{"data.unknownSize", "size", "100Gi", "1Mi to 100Ti", "What a dataset counts whose size is not known."},
       [](const YAML::Node& node, Config& config) {
         return set(config.placement.data.unknown_bytes, read_size(node, kMi, 100 * kTi));
       }},
      {{"data.rackLabel", "text", "topology.kubernetes.io/rack", "a label key",
        "The node label that names a node's rack; nodes without it are nobody's neighbours."},
       [](const YAML::Node& node, Config& config) { return set(config.resources.rack_label, read_text(node)); }},
      {{"data.zoneLabel", "text", "topology.kubernetes.io/zone", "a label key",
        "The node label that names a node's zone; nodes without it are taken to be in one zone."},
       [](const YAML::Node& node, Config& config) { return set(config.resources.zone_label, read_text(node)); }},
      {{"data.unknownCoverage", "per cent", "50", "0 to 100",
        "How much of a dataset its ready workers are taken to hold together where nothing tells."},
       [](const YAML::Node& node, Config& config) {
         const auto percent = read_count(node, 0, 100);
         if (percent) config.data.coverage.assumed = static_cast<double>(*percent) / 100;
         return percent ? Result<void>() : tl::unexpected(percent.error());
       }},
      {{"data.labelGrace", "duration", "60s", "0s to 1h",
        "How long a node label of Fluid's counts without a worker pod on the node."},
       [](const YAML::Node& node, Config& config) {
         return set(config.data.coverage.label_grace, read_duration(node, milliseconds(0), milliseconds(3'600'000)));
       }},
      {{"data.probeInterval", "duration", "20s", "1s to 1h",
        "How often an Alluxio master is asked what its workers hold; every 5 seconds at least while a DataLoad runs, "
        "twice "
        "a second while pods that require the dataset wait."},
       [](const YAML::Node& node, Config& config) {
         return set(config.data.probe_interval, read_duration(node, milliseconds(1'000), milliseconds(3'600'000)));
       }},
      {{"policy.datasetPolicy", "name", "preferred", "preferred, required",
        "For pods without berth.io/dataset-policy."},
       [](const YAML::Node& node, Config& config) {
         return set_name(config.policy.dataset_policy, node, model::parse_dataset_policy, "preferred or required");
       }},
      {{"policy.topologyPolicy", "name", "best-effort", "none, best-effort, restricted",
        "For pods without berth.io/topology-policy."},
       [](const YAML::Node& node, Config& config) {
         return set_name(config.policy.topology_policy, node, model::parse_topology_policy,
                         "none, best-effort or restricted");
       }},
      {{"policy.minGpuMemory", "size", "0", "a size, or whole GiB",
        "For pods without berth.io/min-gpu-memory; 0 is no minimum."},
       [](const YAML::Node& node, Config& config) { return set_gpu_memory(config, node); }},
      {{"policy.gpuProducts", "list", "[]", "values of the label nvidia.com/gpu.product",
        "The only GPU products that pods may get; empty allows all."},
       [](const YAML::Node& node, Config& config) { return set(config.policy.gpu_products, read_texts(node)); }},
      {{"ledger.softLifetime", "duration", "30s", "1s to 1h",
        "How long a node that Berth chose counts as promised to the pod while the pod is not seen bound."},
       [](const YAML::Node& node, Config& config) {
         return set(config.soft_lifetime, read_duration(node, milliseconds(1'000), milliseconds(3'600'000)));
       }},
      {{"decisions.keepPods", "count", "1000", "1 to 100000",
        "Of how many pods the last decisions are kept, for explain."},
       [](const YAML::Node& node, Config& config) { return set(config.keep_pods, read_count(node, 1, 100'000)); }},
      {{"preempt.enabled", "bool", "false", "true, false",
        "Answers POST /preempt: kube-scheduler asks before it evicts pods for another (preemption.md)."},
       [](const YAML::Node& node, Config& config) { return set(config.preempt, read_bool(node)); }},
      {{"bind.listen", "address", "\"\"", "HOST:PORT, or empty",
        "Where kube-scheduler asks Berth to bind pods: /bind, on a port of its own. Empty: it binds by itself."},
       [](const YAML::Node& node, Config& config) {
         const bool off = node.IsScalar() && node.Scalar().empty();
         return set(config.bind.listen, off ? Result<std::string>("") : read_text(node));
       }},
      {{"bind.timeout", "duration", "3s", "500ms to 4500ms",
        "How long the API server may take in all to bind a pod; to be below the scheduler's httpTimeout, which is 5s "
        "unless "
        "configured."},
       [](const YAML::Node& node, Config& config) {
         return set(config.bind.timeout, read_duration(node, milliseconds(500), milliseconds(4'500)));
       }},
      {{"bind.hamiAnnotations", "bool", "false", "true, false",
        "Writes the annotations of HAMi's scheduler in the Binding as well, for HAMi's device plugin."},
       [](const YAML::Node& node, Config& config) { return set(config.bind.hami_annotations, read_bool(node)); }},
      {{"wake.enabled", "bool", "true", "true, false",
        "Asks kube-scheduler to try a pod again that Berth alone had rejected and that fits now, by an annotation."},
       [](const YAML::Node& node, Config& config) { return set(config.wake, read_bool(node)); }},
      {{"events.enabled", "bool", "true", "true, false",
        "Writes events on pods: where their data is, why they wait, what is wrong with what they ask for."},
       [](const YAML::Node& node, Config& config) { return set(config.events.enabled, read_bool(node)); }},
      {{"events.pendingAfter", "duration", "5m", "10s to 24h",
        "How long a rejected pod waits, since its creation, before an event says what it waits for."},
       [](const YAML::Node& node, Config& config) {
         return set(config.events.pending_after, read_duration(node, milliseconds(10'000), milliseconds(86'400'000)));
       }},
      {{"limits.maxRequestBytes", "size", "16Mi", "1Ki to 128Mi",
        "The largest request body; a larger one is answered 413. Raise it when the scheduler sends whole nodes."},
       [](const YAML::Node& node, Config& config) {
         return set(config.limits.max_request_bytes, read_size(node, kKi, 128 * kMi));
       }},
      {{"limits.maxBodiesBytes", "size", "256Mi", "1Ki to 4Gi",
        "All request bodies in work together, of each port; beyond it requests are answered 503."},
       [](const YAML::Node& node, Config& config) {
         return set(config.limits.max_bodies_bytes, read_size(node, kKi, 4 * kGi));
       }},
      {{"limits.maxConnections", "count", "2048", "1 to 16384",
        "Open connections of each port; beyond it they are answered 503. Idle ones end after 2 minutes, on the admin "
        "port after 15 seconds."},
       [](const YAML::Node& node, Config& config) {
         return set(config.limits.max_connections, read_count(node, 1, 16'384));
       }},
      {{"log.level", "name", "info", "debug, info, warn, error", "The least important messages that are written."},
       [](const YAML::Node& node, Config& config) {
         return set_name(config.log.level, node, parse_log_level, "debug, info, warn or error");
       }},
      {{"log.format", "name", "text", "text, json", "Lines for people, or one JSON object a line."},
       [](const YAML::Node& node, Config& config) {
         return set_name(config.log.format, node, parse_log_format, "text or json");
       }},
      {{"drainTimeout", "duration", "20s", "0s to 1h",
        "How long requests in work may take to end after SIGTERM; what is left is then cut."},
       [](const YAML::Node& node, Config& config) {
         return set(config.drain_timeout, read_duration(node, milliseconds(0), milliseconds(3'600'000)));
       }},
  };
  return kTable;
}

}  // namespace

std::span<const KeyReader> key_readers() { return table(); }

std::span<const ConfigKey> config_keys() {
  static const std::vector<ConfigKey> kKeys = [] {
    std::vector<ConfigKey> keys;
    for (const KeyReader& reader : table()) keys.push_back(reader.key);
    return keys;
  }();
  return kKeys;
}

}  // namespace berth::server
