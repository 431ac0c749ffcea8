#include "berth/server/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source_dir.h"
#include "unit/server/markdown_table.h"

namespace berth::server {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

std::string error_of(std::string_view yaml) {
  const auto config = parse_config(yaml, "berth.yaml");
  return config ? "no error" : config.error().to_string();
}

TEST(Config, EmptyFileIsTheDefaults) {
  for (const char* text : {"", "# nothing\n", "---\n"}) {
    const auto config = parse_config(text, "berth.yaml");
    ASSERT_TRUE(config) << config.error().to_string();
    EXPECT_EQ(config->listen, "127.0.0.1:8900");
    EXPECT_EQ(config->placement.candidates, 32U);
    EXPECT_EQ(config->limits.max_request_bytes, 16U << 20U);
    EXPECT_TRUE(check_config(*config));
  }
}

TEST(Config, TakesEveryKey) {
  const auto config = parse_config(R"(
listen: "[::1]:1"
adminListen: localhost:2
insecure: true
gpuResource: amd.com/gpu
migPrefix: amd.com/part-
shareResources:
  memoryMib: [amd.com/mem, acme.com/mem]
  memoryGib: []
  ofEach: {percent: [amd.com/cores]}
gpuCount: enforce
coarse: datasets
candidates: 64
otherFilteringExtender: true
weights: {locality: 1, topology: 0, packing: 2.5, proximity: 3}
topology:
  bandwidth: {nvlink: 50, pix: 60, pxb: 50, phb: 40, node: 30, sys: 20}
data:
  bandwidth: {node: 5Gi, rack: 3Gi, zone: 2Gi, remote: 1Gi, registry: 512Mi}
  minSaving: 1m
  readersAtFullSpeed: 4
  unknownSize: 1Ti
  unknownCoverage: 25
  labelGrace: 0s
  rackLabel: example.com/rack
  zoneLabel: example.com/hall
  probeInterval: 1m
policy:
  datasetPolicy: required
  topologyPolicy: restricted
  minGpuMemory: 80
  gpuProducts: [NVIDIA-H100-80GB-HBM3, "NVIDIA-H800"]
ledger:
  softLifetime: 1m30s
decisions: {keepPods: 10}
wake: {enabled: false}
weightBounds: {locality: [1, 8]}
gang: {levels: [example.com/switch]}
events: {enabled: false, pendingAfter: 1h}
bind: {listen: "127.0.0.1:3", timeout: 2s, hamiAnnotations: true}
limits:
  maxRequestBytes: 128Mi
  maxBodiesBytes: 1Gi
  maxConnections: 100
log: {level: debug, format: json}
drainTimeout: 0s
)",
                                   "berth.yaml");
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(config->listen, "[::1]:1");
  EXPECT_EQ(config->admin_listen, "localhost:2");
  EXPECT_TRUE(config->insecure);
  EXPECT_EQ(config->resources.gpu, "amd.com/gpu");
  EXPECT_EQ(config->resources.mig_prefix, "amd.com/part-");
  EXPECT_THAT(config->resources.shares,
              ElementsAre(model::ShareResource{"amd.com/mem", model::ShareUnit::kMib, false},
                          model::ShareResource{"acme.com/mem", model::ShareUnit::kMib, false},
                          model::ShareResource{"berth.io/gpu-milli", model::ShareUnit::kMilli, false},
                          model::ShareResource{"nvidia.com/gpumem", model::ShareUnit::kMib, true},
                          model::ShareResource{"nvidia.com/gpumem-percentage", model::ShareUnit::kMemoryPercent, true},
                          model::ShareResource{"amd.com/cores", model::ShareUnit::kPercent, true}));
  EXPECT_EQ(config->gpu_count, GpuCount::kEnforce);
  EXPECT_EQ(config->placement.coarse, policy::Coarse::kDatasets);
  EXPECT_EQ(config->placement.candidates, 64U);
  EXPECT_TRUE(config->placement.other_filtering_extender);
  EXPECT_EQ(config->policy.weights.locality, 1);
  EXPECT_EQ(config->policy.weights.topology, 0);
  EXPECT_EQ(config->policy.weights.packing, 2.5);
  EXPECT_EQ(config->policy.weights.proximity, 3);
  EXPECT_EQ(config->policy.weight_bounds.least.locality, 1);
  EXPECT_EQ(config->policy.weight_bounds.most.locality, 8);
  EXPECT_EQ(config->policy.weight_bounds.most.packing, 1000);
  EXPECT_THAT(config->policy.gang_levels, ElementsAre("example.com/switch"));
  EXPECT_EQ(config->resources.levels, config->policy.gang_levels);
  EXPECT_EQ(config->link_bandwidths, (model::LinkBandwidths{50, 60, 50, 40, 30, 20}));
  const policy::DataCosts& data = config->placement.data;
  EXPECT_EQ(data.bandwidth.node, std::size_t{5} << 30U);
  EXPECT_EQ(data.bandwidth.rack, std::size_t{3} << 30U);
  EXPECT_EQ(data.bandwidth.zone, std::size_t{2} << 30U);
  EXPECT_EQ(data.bandwidth.remote, std::size_t{1} << 30U);
  EXPECT_EQ(data.bandwidth.registry, std::size_t{1} << 29U);
  EXPECT_EQ(data.min_saving, milliseconds(60'000));
  EXPECT_EQ(data.readers_at_full_speed, 4U);
  EXPECT_EQ(data.unknown_bytes, std::size_t{1} << 40U);
  EXPECT_EQ(config->policy.dataset_policy, model::DatasetPolicy::kRequired);
  EXPECT_EQ(config->policy.topology_policy, model::TopologyPolicy::kRestricted);
  EXPECT_EQ(config->policy.min_gpu_memory_mib, 80 * 1024);
  EXPECT_THAT(config->policy.gpu_products, ElementsAre("NVIDIA-H100-80GB-HBM3", "NVIDIA-H800"));
  EXPECT_EQ(config->resources.rack_label, "example.com/rack");
  EXPECT_EQ(config->resources.zone_label, "example.com/hall");
  EXPECT_EQ(config->data.coverage.assumed, 0.25);
  EXPECT_EQ(config->data.coverage.label_grace, milliseconds(0));
  EXPECT_EQ(config->data.probe_interval, milliseconds(60'000));
  EXPECT_EQ(config->soft_lifetime, milliseconds(90'000));
  EXPECT_EQ(config->keep_pods, 10U);
  EXPECT_FALSE(config->wake);
  EXPECT_FALSE(config->events.enabled);
  EXPECT_EQ(config->events.pending_after, milliseconds(3'600'000));
  EXPECT_EQ(config->bind.listen, "127.0.0.1:3");
  EXPECT_EQ(config->bind.timeout, milliseconds(2'000));
  EXPECT_TRUE(config->bind.hami_annotations);
  EXPECT_EQ(config->limits.max_request_bytes, 128U << 20U);
  EXPECT_EQ(config->limits.max_bodies_bytes, 1U << 30U);
  EXPECT_EQ(config->limits.max_connections, 100U);
  EXPECT_EQ(config->log.level, LogLevel::kDebug);
  EXPECT_EQ(config->log.format, LogFormat::kJson);
  EXPECT_EQ(config->drain_timeout, milliseconds(0));
}

// A key whose dots are levels.
std::string as_yaml(std::string_view path, std::string_view value) {
  std::string yaml;
  std::string indent;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    yaml += indent + std::string(path.substr(0, dot)) + ":\n";
    indent += "  ";
    path.remove_prefix(dot + 1);
  }
  return yaml + indent + std::string(path) + ": " + std::string(value);
}

TEST(Config, EveryDefaultOfTheTableIsWhatTheStructHas) {
  // A file that says every default must change nothing; compared over all fields by what the table says of them.
  for (const ConfigKey& key : config_keys()) {
    const auto config = parse_config(as_yaml(key.path, key.default_value), "default");
    ASSERT_TRUE(config) << config.error().to_string();
    const Config standard;
    EXPECT_EQ(config->listen, standard.listen);
    EXPECT_EQ(config->admin_listen, standard.admin_listen);
    EXPECT_EQ(config->insecure, standard.insecure);
    EXPECT_EQ(config->resources.gpu, standard.resources.gpu);
    EXPECT_EQ(config->resources.mig_prefix, standard.resources.mig_prefix);
    EXPECT_EQ(config->resources.shares, standard.resources.shares);
    EXPECT_EQ(config->gpu_count, standard.gpu_count);
    EXPECT_EQ(config->placement.coarse, standard.placement.coarse);
    EXPECT_EQ(config->placement.candidates, standard.placement.candidates);
    EXPECT_EQ(config->placement.other_filtering_extender, standard.placement.other_filtering_extender);
    EXPECT_EQ(config->policy.weights, standard.policy.weights);
    EXPECT_EQ(config->policy.weight_bounds.least, standard.policy.weight_bounds.least);
    EXPECT_EQ(config->policy.weight_bounds.most, standard.policy.weight_bounds.most);
    EXPECT_EQ(config->policy.gang_levels, standard.policy.gang_levels);
    EXPECT_EQ(config->resources.levels, standard.resources.levels);
    EXPECT_EQ(config->link_bandwidths, standard.link_bandwidths);
    EXPECT_EQ(config->placement.data, standard.placement.data);
    EXPECT_EQ(config->policy.dataset_policy, standard.policy.dataset_policy);
    EXPECT_EQ(config->policy.topology_policy, standard.policy.topology_policy);
    EXPECT_EQ(config->policy.min_gpu_memory_mib, standard.policy.min_gpu_memory_mib);
    EXPECT_EQ(config->policy.gpu_products, standard.policy.gpu_products);
    EXPECT_EQ(config->resources.rack_label, standard.resources.rack_label);
    EXPECT_EQ(config->resources.zone_label, standard.resources.zone_label);
    EXPECT_EQ(config->data.coverage.assumed, standard.data.coverage.assumed);
    EXPECT_EQ(config->data.coverage.label_grace, standard.data.coverage.label_grace);
    EXPECT_EQ(config->data.probe_interval, standard.data.probe_interval);
    EXPECT_EQ(config->soft_lifetime, standard.soft_lifetime);
    EXPECT_EQ(config->keep_pods, standard.keep_pods);
    EXPECT_EQ(config->wake, standard.wake);
    EXPECT_EQ(config->events.enabled, standard.events.enabled);
    EXPECT_EQ(config->events.pending_after, standard.events.pending_after);
    EXPECT_EQ(config->bind.listen, standard.bind.listen);
    EXPECT_EQ(config->bind.timeout, standard.bind.timeout);
    EXPECT_EQ(config->bind.hami_annotations, standard.bind.hami_annotations);
    EXPECT_EQ(config->limits.max_request_bytes, standard.limits.max_request_bytes);
    EXPECT_EQ(config->limits.max_bodies_bytes, standard.limits.max_bodies_bytes);
    EXPECT_EQ(config->limits.max_connections, standard.limits.max_connections);
    EXPECT_EQ(config->log.level, standard.log.level);
    EXPECT_EQ(config->log.format, standard.log.format);
    EXPECT_EQ(config->drain_timeout, standard.drain_timeout);
  }
}

TEST(Config, DataOutweighsTopologyAndPackingTogether) {
  const model::Weights weights = Config{}.policy.weights;
  EXPECT_GT(weights.locality, weights.topology + weights.packing);
  EXPECT_GT(weights.topology, weights.packing);
}

struct BadConfig {
  const char* name;
  const char* yaml;
  const char* error;
};
class ConfigError : public testing::TestWithParam<BadConfig> {};

TEST_P(ConfigError, NamesFileLineKeyAndWhatIsAllowed) { EXPECT_EQ(error_of(GetParam().yaml), GetParam().error); }

INSTANTIATE_TEST_SUITE_P(
    Keys, ConfigError,
    testing::Values(
        BadConfig{"Misspelt", "# a\nweights:\n  locallity: 1\n",
                  "berth.yaml:3: weights.locallity is not a key; did you mean weights.locality?"},
        BadConfig{"OtherCase", "admin_listen: a:1\n",
                  "berth.yaml:1: admin_listen is not a key; did you mean adminListen?"},
        BadConfig{"Section", "weight: {locality: 1}\n", "berth.yaml:1: weight is not a key; did you mean weights?"},
        BadConfig{"Unknown", "log:\n  colour: red\n",
                  "berth.yaml:2: log.colour is not a key; docs/configuration.md lists them"},
        BadConfig{
            "DotInsteadOfLevel", "log.level: info\n",
            "berth.yaml:1: log.level is not a key; a dot in the documentation stands for a level, so write it as a "
            "map"},
        BadConfig{"Repeated", "listen: a:1\ncoarse: all\nlisten: a:2\n", "berth.yaml:3: listen is given twice"},
        BadConfig{"RepeatedBelow", "log:\n  level: info\n  level: warn\n", "berth.yaml:3: log.level is given twice"},
        BadConfig{"NoValue", "listen:\n", "berth.yaml:1: listen has no value; leave the key out for the default"},
        BadConfig{"SectionIsText", "log: info\n", "berth.yaml:1: log must be a map"},
        BadConfig{"ListAtTop", "- listen\n", "berth.yaml: must be a map of keys"},
        BadConfig{"TwoDocuments", "listen: a:1\n---\nlisten: b:1\n",
                  "berth.yaml: holds more than one document; only one is read"},
        BadConfig{"KeyIsAList", "? [a]\n: b\n", "berth.yaml:1: keys must be texts"}));

INSTANTIATE_TEST_SUITE_P(
    Values, ConfigError,
    testing::Values(
        BadConfig{"Bool", "insecure: yes\n", "berth.yaml:1: insecure must be true or false, not \"yes\""},
        BadConfig{"BoolInQuotes", "insecure: \"true\"\n", "berth.yaml:1: insecure must be true or false, not \"true\""},
        BadConfig{"Name", "coarse: some\n", "berth.yaml:1: coarse must be off, datasets or all, not \"some\""},
        BadConfig{"CountTooLarge", "candidates: 5001\n",
                  "berth.yaml:1: candidates must be a whole number from 1 to 5000, not \"5001\""},
        BadConfig{"CountZero", "candidates: 0\n",
                  "berth.yaml:1: candidates must be a whole number from 1 to 5000, not \"0\""},
        BadConfig{"CountFraction", "candidates: 1.5\n",
                  "berth.yaml:1: candidates must be a whole number from 1 to 5000, not \"1.5\""},
        BadConfig{"CountIsMap", "candidates: {a: 1}\n",
                  "berth.yaml:1: candidates must be a whole number from 1 to 5000"},
        BadConfig{"PerCentAboveHundred", "data: {unknownCoverage: 101}\n",
                  "berth.yaml:1: data.unknownCoverage must be a whole number from 0 to 100, not \"101\""},
        BadConfig{"WeightNegative", "weights: {packing: -1}\n",
                  "berth.yaml:1: weights.packing must be a number from 0 to 1000, not \"-1\""},
        BadConfig{"WeightNan", "weights: {packing: nan}\n",
                  "berth.yaml:1: weights.packing must be a number from 0 to 1000, not \"nan\""},
        BadConfig{"WeightsAllZero", "weights: {locality: 0, topology: 0, packing: 0}\n",
                  "berth.yaml: weights must not all be 0"},
        BadConfig{"SizeTooLarge", "limits:\n  maxRequestBytes: 129Mi\n",
                  "berth.yaml:2: limits.maxRequestBytes must be a size from 1Ki to 128Mi, such as 16Mi, not \"129Mi\""},
        BadConfig{"SizeNotOne", "limits:\n  maxBodiesBytes: lots\n",
                  "berth.yaml:2: limits.maxBodiesBytes must be a size from 1Ki to 4Gi, such as 16Mi, not \"lots\""},
        BadConfig{
            "DurationWithoutUnit", "ledger: {softLifetime: 30}\n",
            "berth.yaml:1: ledger.softLifetime must be a duration from 1s to 1h, such as 30s or 1m30s, not \"30\""},
        BadConfig{"DurationTooLong", "drainTimeout: 2h\n",
                  "berth.yaml:1: drainTimeout must be a duration from 0s to 1h, such as 30s or 1m30s, not \"2h\""},
        BadConfig{
            "GpuMemory", "policy: {minGpuMemory: big}\n",
            "berth.yaml:1: policy.minGpuMemory must be a size such as 80Gi, or a whole number of GiB, not \"big\""},
        BadConfig{"ListIsText", "policy: {gpuProducts: H100}\n",
                  "berth.yaml:1: policy.gpuProducts must be a list of texts, not \"H100\""},
        BadConfig{"ListWithEmpty", "policy:\n  gpuProducts:\n    - \"\"\n",
                  "berth.yaml:3: policy.gpuProducts must be a list of texts, none of them empty"}));

TEST(Config, TextThatIsNotYamlNamesTheLine) {
  EXPECT_THAT(error_of("listen: a:1\nlog: {level: info\n"), testing::StartsWith("berth.yaml:3: is not YAML: "));
}

TEST(Config, FileThatIsNotThere) {
  const auto config = load_config("/nowhere/berth.yaml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().to_string(), "/nowhere/berth.yaml: can't be read");
  EXPECT_FALSE(load_config("/"));
}

TEST(ConfigCheck, RefusesToListenBeyondLoopbackUnlessInsecure) {
  Config config;
  config.admin_listen = "0.0.0.0:8901";
  const auto checked = check_config(config);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().to_string(), testing::StartsWith("adminListen: 0.0.0.0:8901 can be reached"));
  config.insecure = true;
  EXPECT_TRUE(check_config(config));
  config.listen = "8900";
  EXPECT_FALSE(check_config(config));
}

TEST(ConfigCheck, BodiesTogetherNeedRoomForOne) {
  Config config;
  config.limits.max_bodies_bytes = config.limits.max_request_bytes - 1;
  EXPECT_FALSE(check_config(config));
}

TEST(ConfigCheck, LoopbackAddresses) {
  for (const char* address : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "::1", "127.0.0.1"}) {
    EXPECT_TRUE(is_loopback(address)) << address;
  }
  for (const char* address : {"0.0.0.0:1", ":1", "[::]:1", "10.0.0.1:1", "127.0.0.1.example.com:1", "128.0.0.1", ""}) {
    EXPECT_FALSE(is_loopback(address)) << address;
  }
}

TEST(ConfigCheck, GpuCountFollowsTheSourceUnlessSaid) {
  Config config;
  EXPECT_EQ(placement_settings(config, true).gpu_count, policy::GpuCountMode::kTrust);
  EXPECT_EQ(placement_settings(config, false).gpu_count, policy::GpuCountMode::kEnforce);
  config.gpu_count = GpuCount::kTrust;
  EXPECT_EQ(placement_settings(config, false).gpu_count, policy::GpuCountMode::kTrust);
  config.gpu_count = GpuCount::kEnforce;
  EXPECT_EQ(placement_settings(config, true).gpu_count, policy::GpuCountMode::kEnforce);
}

TEST(ConfigDocs, ListExactlyTheKeysOfTheProgram) {
  std::vector<MarkdownRow> keys;
  for (const ConfigKey& key : config_keys()) {
    keys.push_back({std::string(key.path), std::string(key.type), std::string(key.default_value),
                    std::string(key.allowed), std::string(key.meaning)});
  }
  EXPECT_EQ(markdown_table(BERTH_SOURCE_DIR "/docs/configuration.md", "## File"), keys);
}

}  // namespace
}  // namespace berth::server
