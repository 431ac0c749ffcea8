#include "berth/codec/recommend_request.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "berth/core/text.h"
#include "json_document.h"
#include "json_fields.h"
#include "pod_reader.h"

namespace berth::codec {
namespace {

using std::string_view;

constexpr std::size_t kMostWishedDatasets = 64;
constexpr std::size_t kMostWishedGpus = 4096;
constexpr string_view kDefaultNamespace = "default";

constexpr std::array<string_view, 10> kKeys = {
    "gpus",           "datasets",     "namespace", "datasetPolicy", "minCoverage",
    "topologyPolicy", "minGpuMemory", "pod",       "nodes",         "warm"};

void refuse_unknown_keys(simdjson::dom::object body, Reading& reading) {
  for (const auto& [key, value] : body) {
    if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) continue;
    std::string known;
    for (const string_view one : kKeys) (known += known.empty() ? "" : ", ") += one;
    return reading.fail("is not a field; there are " + known, key);
  }
}

// A whole number from `least` to `most`.
std::size_t count(const Field& field, std::size_t least, std::size_t most, std::size_t otherwise, Reading& reading) {
  if (!field.given) return otherwise;
  std::int64_t value = 0;
  const bool whole = field.value.is<std::int64_t>() && field.value.get(value) == simdjson::SUCCESS;
  if (whole && value >= static_cast<std::int64_t>(least) && value <= static_cast<std::int64_t>(most)) {
    return static_cast<std::size_t>(value);
  }
  reading.fail("must be a whole number from " + std::to_string(least) + " to " + std::to_string(most), field.name);
  return otherwise;
}

std::optional<model::DatasetRef> dataset(string_view written, string_view ns, Reading& reading,
                                         string_view field = {}) {
  auto ref = model::parse_dataset_ref(written, ns);
  if (!ref) reading.fail("must be NAME or NAMESPACE/NAME", field);
  return ref;
}

void read_datasets(model::PodRequest& pod, const Field& field, Reading& reading) {
  const auto items = array(field, reading);
  if (!items) return;
  const Reading::Step in_list(reading, field.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    string_view written;
    if (item.get(written) != simdjson::SUCCESS) return reading.fail(wrong_type("a string", item));
    if (index > kMostWishedDatasets)
      return reading.fail("is one too many: at most " + std::to_string(kMostWishedDatasets));
    auto ref = dataset(written, pod.ns, reading);
    if (!ref) return;
    const auto same = [&](const model::WantedDataset& wanted) { return wanted.ref == *ref; };
    if (std::none_of(pod.datasets.begin(), pod.datasets.end(), same)) pod.datasets.push_back({*std::move(ref), false});
  }
}

void read_min_coverage(model::PodRequest& pod, const Field& field, Reading& reading) {
  if (!field.given) return;
  double percent = 0;
  if (!field.value.is_number() || field.value.get(percent) != simdjson::SUCCESS || !(percent > 0) || percent > 100) {
    return reading.fail("must be per cent, a number above 0 and up to 100", field.name);
  }
  pod.min_coverage = percent / 100;
}

void read_min_gpu_memory(model::PodRequest& pod, const Field& field, Reading& reading) {
  if (!field.given) return;
  std::string written;
  std::int64_t gib = 0;
  string_view quantity;
  if (field.value.get(quantity) == simdjson::SUCCESS) {
    written = quantity;
  } else if (field.value.is<std::int64_t>() && field.value.get(gib) == simdjson::SUCCESS) {
    written = std::to_string(gib);
  }
  const auto mib = model::parse_gpu_memory(written);
  if (mib) pod.given.min_gpu_memory_mib = pod.min_gpu_memory_mib = *mib;
  if (!mib) reading.fail("must be a quantity such as \"80Gi\", or whole GiB such as 80", field.name);
}

template <class Parse>
void read_name(auto& into, const Field& field, Parse parse, string_view allowed, Reading& reading) {
  if (!field.given) return;
  const auto value = parse(text(field, reading));
  if (value) into = value;
  if (!value) reading.fail("must be " + std::string(allowed), field.name);
}

}  // namespace

core::Result<RecommendRequest> read_recommend_request(std::string& body, const model::ResourceNames& resources,
                                                      const model::PodDefaults& defaults, std::size_t most_nodes) {
  JsonDocument document;
  const auto root = document.parse(body);
  if (!root) return tl::unexpected(root.error());
  simdjson::dom::object fields;
  if (root->get(fields) != simdjson::SUCCESS) {
    return core::fail(core::ErrorCode::kInvalid, "the body " + wrong_type("an object", *root));
  }
  Reading reading;
  refuse_unknown_keys(fields, reading);
  const auto [gpus, datasets, ns, dataset_policy, min_coverage, topology_policy, min_gpu_memory, pod, nodes, warm] =
      pick<kKeys.size()>(fields, kKeys, reading);

  RecommendRequest request;
  model::Pod manifest;
  if (const auto written = object(pod, reading)) {
    const Reading::Step step(reading, "pod");
    read_into(manifest, *written, resources, reading);
    if (manifest.ns.empty()) {
      manifest.ns = kDefaultNamespace;
      if (!manifest.gang.name.empty()) manifest.gang.name.insert(0, manifest.ns);
    }
  } else {
    manifest.ns = ns.given ? text(ns, reading) : kDefaultNamespace;
    manifest.gpus = static_cast<std::int64_t>(count(gpus, 0, kMostWishedGpus, 0, reading));
  }
  if (!core::is_name(manifest.ns)) reading.fail("must be the name of a namespace", "namespace");
  if (pod.given) {
    for (const Field* other :
         {&gpus, &datasets, &ns, &dataset_policy, &min_coverage, &topology_policy, &min_gpu_memory}) {
      if (other->given) reading.fail("can't be given beside pod, which says it itself", other->name);
    }
  } else if (!gpus.given) {
    reading.fail("is missing; give gpus, or a pod", "gpus");
  }
  request.pod = model::make_request(manifest, defaults);
  read_datasets(request.pod, datasets, reading);
  model::PolicyTerms& given = request.pod.given;
  read_name(given.dataset_policy, dataset_policy, model::parse_dataset_policy, "preferred or required", reading);
  read_name(given.topology_policy, topology_policy, model::parse_topology_policy, "none, best-effort or restricted",
            reading);
  request.pod.dataset_policy = given.dataset_policy.value_or(request.pod.dataset_policy);
  request.pod.topology_policy = given.topology_policy.value_or(request.pod.topology_policy);
  read_min_coverage(request.pod, min_coverage, reading);
  read_min_gpu_memory(request.pod, min_gpu_memory, reading);
  request.nodes = count(nodes, 1, most_nodes, std::min<std::size_t>(request.nodes, most_nodes), reading);
  if (warm.given) {
    const string_view written = text(warm, reading);
    if (!reading.failed()) request.warm = dataset(written, manifest.ns, reading, warm.name);
  }
  if (!reading.failed() && request.pod.invalid) reading.fail(request.pod.invalid->to_string(), "pod");
  if (reading.failed()) return tl::unexpected(reading.error());
  return request;
}

}  // namespace berth::codec
