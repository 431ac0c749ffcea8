#include "policy_reader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "berth/model/pod.h"

namespace berth::codec {
namespace {

using simdjson::dom::element;
using std::string_view;

// As the definition has them.
constexpr std::size_t kMostProducts = 64;
constexpr std::size_t kMostProductBytes = 256;
constexpr double kMostWeight = 1000;

// The value as it stands in the object, not the whole of a long one.
std::string written(element value) {
  string_view text;
  std::string shown = value.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(value);
  // A cut must not split a letter.
  std::size_t end = std::min<std::size_t>(shown.size(), 128);
  while (end < shown.size() && end > 0 && (static_cast<unsigned char>(shown[end]) & 0xC0U) == 0x80U) --end;
  shown.resize(end);
  return shown;
}

void refuse(model::SchedulingPolicy& policy, const char* field, element value, string_view allowed) {
  if (policy.invalid) return;
  policy.invalid = core::Error{core::ErrorCode::kInvalid,
                               "\"" + written(value) + "\" is not allowed; use " + std::string(allowed), field};
}

template <class T, class Parse>
void read_name(model::SchedulingPolicy& policy, std::optional<T>& into, const Field& given, const char* field,
               Parse parse, string_view allowed) {
  if (!given.given) return;
  string_view text;
  if (given.value.get(text) == simdjson::SUCCESS) into = parse(text);
  if (!into) refuse(policy, field, given.value, allowed);
}

// int-or-string, as the annotation.
void read_memory(model::SchedulingPolicy& policy, const Field& given) {
  if (!given.given) return;
  string_view text;
  std::int64_t number = 0;
  std::string digits;
  if (given.value.get(text) != simdjson::SUCCESS && given.value.get(number) == simdjson::SUCCESS && number >= 0) {
    digits = std::to_string(number);
    text = digits;
  }
  const auto mib = model::parse_gpu_memory(text);
  if (mib) policy.terms.min_gpu_memory_mib = *mib;
  if (!mib) {
    refuse(policy, "spec.minGpuMemory", given.value, "a quantity such as 80Gi, or whole GiB such as 80");
  }
}

void read_products(model::SchedulingPolicy& policy, const Field& given) {
  if (!given.given) return;
  constexpr string_view kAllowed = "a list of up to 64 values of the label nvidia.com/gpu.product";
  constexpr const char* kField = "spec.gpuProducts";
  simdjson::dom::array items;
  if (given.value.get(items) != simdjson::SUCCESS) return refuse(policy, kField, given.value, kAllowed);
  std::vector<std::string> products;
  for (const element item : items) {
    string_view text;
    const bool fits = item.get(text) == simdjson::SUCCESS && !text.empty() && text.size() <= kMostProductBytes &&
                      products.size() < kMostProducts;
    if (!fits) return refuse(policy, kField, item, kAllowed);
    products.emplace_back(text);
  }
  policy.terms.gpu_products = std::move(products);
}

void read_weight(model::SchedulingPolicy& policy, std::optional<double>& into, const Field& given, const char* field) {
  if (!given.given) return;
  double weight = 0;
  if (given.value.is_number() && given.value.get(weight) == simdjson::SUCCESS && weight >= 0 && weight <= kMostWeight) {
    into = weight;
  } else {
    refuse(policy, field, given.value, "a number from 0 to 1000");
  }
}

void read_weights(model::SchedulingPolicy& policy, const Field& given, Reading& reading) {
  if (!given.given) return;
  simdjson::dom::object fields;
  if (given.value.get(fields) != simdjson::SUCCESS) {
    return refuse(policy, "spec.weights", given.value, "a map of locality, topology, packing and proximity");
  }
  const Reading::Step step(reading, given.name);
  const auto [locality, topology, packing, proximity] =
      pick<4>(fields, {string_view("locality"), "topology", "packing", "proximity"}, reading);
  model::OptionalWeights& weights = policy.terms.weights;
  read_weight(policy, weights.locality, locality, "spec.weights.locality");
  read_weight(policy, weights.topology, topology, "spec.weights.topology");
  read_weight(policy, weights.packing, packing, "spec.weights.packing");
  read_weight(policy, weights.proximity, proximity, "spec.weights.proximity");
}

}  // namespace

void read_into(model::SchedulingPolicy& policy, simdjson::dom::object json, Reading& reading) {
  const auto [metadata, spec] = pick<2>(json, {string_view("metadata"), "spec"}, reading);
  if (const auto fields = object(metadata, reading)) {
    const Reading::Step step(reading, metadata.name);
    const auto [ns, name] = pick<2>(*fields, {string_view("namespace"), "name"}, reading);
    policy.ns = text(ns, reading);
    policy.name = text(name, reading);
  }
  if (!spec.given) return;
  simdjson::dom::object fields;
  if (spec.value.get(fields) != simdjson::SUCCESS) return refuse(policy, "spec", spec.value, "a map");
  const Reading::Step step(reading, spec.name);
  const auto [topology, datasets, memory, products, weights] = pick<5>(
      fields, {string_view("topologyPolicy"), "datasetPolicy", "minGpuMemory", "gpuProducts", "weights"}, reading);
  read_name(policy, policy.terms.topology_policy, topology, "spec.topologyPolicy", model::parse_topology_policy,
            "none, best-effort or restricted");
  read_name(policy, policy.terms.dataset_policy, datasets, "spec.datasetPolicy", model::parse_dataset_policy,
            "preferred or required");
  read_memory(policy, memory);
  read_products(policy, products);
  read_weights(policy, weights, reading);
}

}  // namespace berth::codec
