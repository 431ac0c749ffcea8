#include <algorithm>
#include <array>
#include <charconv>

#include "berth/core/quantity.h"
#include "berth/core/text.h"
#include "berth/model/pod.h"

namespace berth::model {
namespace {

constexpr std::size_t kMaxDatasets = 64;

void invalid(PodRequest& request, const Annotation& annotation, std::string_view allowed) {
  if (request.invalid) return;
  request.invalid =
      core::Error{core::ErrorCode::kInvalid,
                  "\"" + annotation.value.substr(0, 128) + "\" is not allowed; use " + std::string(allowed),
                  "annotation " + annotation.key};
}

void add_dataset(PodRequest& request, DatasetRef dataset, bool required) {
  const auto same = std::find_if(request.datasets.begin(), request.datasets.end(),
                                 [&](const WantedDataset& wanted) { return wanted.ref == dataset; });
  if (same == request.datasets.end()) {
    request.datasets.push_back({std::move(dataset), required});
  } else {
    same->required = same->required || required;
  }
}

void read_datasets(PodRequest& request, const Annotation& annotation) {
  constexpr std::string_view kAllowed = "NAME or NAMESPACE/NAME, comma separated, at most 64";
  std::string_view rest = annotation.value;
  while (true) {
    const auto comma = rest.find(',');
    const std::string_view item = core::trimmed(rest.substr(0, comma));
    auto dataset = parse_dataset_ref(item, request.ns);
    if (!dataset || request.datasets.size() == kMaxDatasets) {
      invalid(request, annotation, kAllowed);
      return;
    }
    add_dataset(request, *std::move(dataset), false);
    if (comma == std::string_view::npos) return;
    rest.remove_prefix(comma + 1);
  }
}

void read_dataset_policy(PodRequest& request, const Annotation& annotation) {
  const auto policy = parse_dataset_policy(annotation.value);
  if (policy) request.given.dataset_policy = request.dataset_policy = *policy;
  if (!policy) invalid(request, annotation, "preferred or required");
}

void read_dataset_wait(PodRequest& request, const Annotation& annotation) {
  const auto wait = core::parse_duration(annotation.value);
  if (wait) request.dataset_wait = *wait;
  if (!wait) invalid(request, annotation, "a duration such as 90s, 10m or 1h30m");
}

void read_min_coverage(PodRequest& request, const Annotation& annotation) {
  double percent = 0;
  const std::string_view text = annotation.value;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (code == std::errc() && end == text.data() + text.size() && percent > 0 && percent <= 100) {
    request.min_coverage = percent / 100;
  } else {
    invalid(request, annotation, "per cent above 0 and up to 100, such as 80");
  }
}

void read_expected_duration(PodRequest& request, const Annotation& annotation) {
  const auto duration = core::parse_duration(annotation.value);
  if (duration) request.expected_duration = std::chrono::ceil<std::chrono::seconds>(*duration);
  if (!duration) invalid(request, annotation, "a duration such as 90s, 10m or 1h30m");
}

// Of running pods, which it is too late to reject: a broken value is named, and counts for nothing.
void read_checkpointed_at(PodRequest& request, const Annotation& annotation) {
  const auto time = core::parse_timestamp(annotation.value);
  if (time) request.saved = *time;
  if (!time) request.ignored_keys.push_back(annotation.key);
}

void read_topology_policy(PodRequest& request, const Annotation& annotation) {
  const auto policy = parse_topology_policy(annotation.value);
  if (policy) request.given.topology_policy = request.topology_policy = *policy;
  if (!policy) invalid(request, annotation, "none, best-effort or restricted");
}

void read_min_gpu_memory(PodRequest& request, const Annotation& annotation) {
  const auto memory = parse_gpu_memory(annotation.value);
  if (memory) request.given.min_gpu_memory_mib = request.min_gpu_memory_mib = *memory;
  if (!memory) invalid(request, annotation, "a quantity such as 80Gi, or whole GiB such as 80");
}

void read_policy_name(PodRequest& request, const Annotation& annotation) {
  if (!core::is_name(annotation.value)) {
    return invalid(request, annotation, "the name of a SchedulingPolicy of the namespace");
  }
  request.policy_name = annotation.value;
}

std::string allowed_topologies(const std::vector<std::string>& levels) {
  std::string allowed = "preferred=LABEL or required=LABEL, where LABEL is ";
  for (const std::string& level : levels) allowed.append(level).append(", ");
  if (!levels.empty()) allowed.replace(allowed.size() - 2, 2, " or ");
  return allowed.append(kHostnameLabel);
}

void read_gang_topology(PodRequest& request, const Annotation& annotation, const std::vector<std::string>& levels) {
  constexpr std::string_view kPreferred = "preferred=";
  constexpr std::string_view kRequired = "required=";
  std::string_view label = annotation.value;
  const bool required = label.starts_with(kRequired);
  const bool form = required || label.starts_with(kPreferred);
  if (form) label.remove_prefix(required ? kRequired.size() : kPreferred.size());
  const auto level = std::find(levels.begin(), levels.end(), label);
  const bool by_node = label == kHostnameLabel;
  if (form && (by_node || level != levels.end())) {
    const auto index = by_node ? -1 : static_cast<std::int32_t>(level - levels.begin());
    request.gang_topology = {std::string(label), required, index};
  } else {
    invalid(request, annotation, allowed_topologies(levels));
  }
}

// Of bound pods, and written by Berth itself.
void read_nothing(PodRequest&, const Annotation&) {}

constexpr std::string_view kGangTopology = "gang-topology";

struct KnownAnnotation {
  std::string_view key;
  void (*read)(PodRequest&, const Annotation&);
};
constexpr std::array kKnown = {
    KnownAnnotation{"datasets", read_datasets},
    KnownAnnotation{"dataset-policy", read_dataset_policy},
    KnownAnnotation{"dataset-wait", read_dataset_wait},
    KnownAnnotation{"min-coverage", read_min_coverage},
    KnownAnnotation{"expected-duration", read_expected_duration},
    KnownAnnotation{"checkpointed-at", read_checkpointed_at},
    KnownAnnotation{"topology-policy", read_topology_policy},
    KnownAnnotation{"min-gpu-memory", read_min_gpu_memory},
    KnownAnnotation{"scheduling-policy", read_policy_name},
    KnownAnnotation{kGangTopology, read_nothing},  // needs more than its value: read_annotation()
    KnownAnnotation{"gpus", read_nothing},
    KnownAnnotation{"mig-slots", read_nothing},
    KnownAnnotation{kWakeKey, read_nothing},
};

void read_annotation(PodRequest& request, const Annotation& annotation, const PodDefaults& defaults) {
  const std::string_view key = std::string_view(annotation.key).substr(kAnnotationPrefix.size());
  if (key == kGangTopology) return read_gang_topology(request, annotation, defaults.gang_levels);
  const auto known = std::find_if(kKnown.begin(), kKnown.end(), [&](const auto& one) { return one.key == key; });
  if (known == kKnown.end()) {
    request.ignored_keys.push_back(annotation.key);
  } else {
    known->read(request, annotation);
  }
}

}  // namespace

std::span<const std::string_view> annotation_keys() {
  static constexpr auto kKeys = [] {
    std::array<std::string_view, kKnown.size()> keys;
    std::transform(kKnown.begin(), kKnown.end(), keys.begin(), [](const auto& one) { return one.key; });
    return keys;
  }();
  return kKeys;
}

core::Result<std::int64_t> parse_gpu_memory(std::string_view text) {
  const bool digits = !text.empty() && text.size() <= 9 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits) {
    std::int64_t gib = 0;
    std::from_chars(text.data(), text.data() + text.size(), gib);
    return gib * 1024;
  }
  return core::parse_quantity(text).and_then([&](std::int64_t bytes) -> core::Result<std::int64_t> {
    if (bytes < 0) return core::fail(core::ErrorCode::kInvalid, "GPU memory can't be negative");
    constexpr std::int64_t kMib = 1 << 20;
    return bytes / kMib + (bytes % kMib != 0 ? 1 : 0);
  });
}

bool PodRequest::requires_claim(std::string_view claim) const {
  return std::find(required_claims.begin(), required_claims.end(), claim) != required_claims.end();
}

bool PodRequest::requires_dataset(const WantedDataset& dataset, core::WallTime now) const {
  if (dataset_policy != DatasetPolicy::kRequired && !dataset.required) return false;
  // A manifest that was never created has no time yet.
  const bool exists = created != core::WallTime{};
  return !(dataset_wait && exists && now - created >= *dataset_wait);
}

bool PodRequest::requires_any_dataset(core::WallTime now) const {
  return std::any_of(datasets.begin(), datasets.end(),
                     [&](const WantedDataset& dataset) { return requires_dataset(dataset, now); });
}

bool PodRequest::has_hard_rule(core::WallTime now) const {
  return invalid.has_value() || min_gpu_memory_mib > 0 || !gpu_products.empty() ||
         (topology_policy == TopologyPolicy::kRestricted && gpus > 0) || parts.any() || requires_any_dataset(now) ||
         (gang_topology.required && !gang.name.empty());
}

PodRequest make_request(const Pod& pod, const PodDefaults& defaults) {
  PodRequest request;
  request.ns = pod.ns;
  request.name = pod.name;
  request.uid = pod.uid;
  request.nominated_node = pod.nominated_node;
  request.created = pod.created;
  request.priority = pod.priority;
  request.owner = pod.owner;
  request.gpus = pod.gpus;
  request.parts = pod.parts;
  request.requests = pod.requests;
  request.resource_claims = pod.resource_claims;
  request.gang = pod.gang;
  request.dataset_policy = defaults.dataset_policy;
  request.topology_policy = defaults.topology_policy;
  request.weights = defaults.weights;
  if (pod.gpus > 0 || pod.parts.any()) {
    request.min_gpu_memory_mib = defaults.min_gpu_memory_mib;
    request.gpu_products = defaults.gpu_products;
  }
  request.claims = pod.claims;
  request.required_claims = pod.required_claims;
  request.images = pod.images;
  for (const std::string& name : pod.datasets_in_use) add_dataset(request, {pod.ns, name}, false);
  // The label names a claim, which has the name of its dataset unless it was wrapped or refers to another.
  for (const std::string& claim : pod.required_claims) {
    const bool mounted = std::find(pod.claims.begin(), pod.claims.end(), claim) != pod.claims.end();
    if (!mounted) add_dataset(request, {pod.ns, claim}, true);
  }
  for (const Annotation& annotation : pod.annotations) {
    if (!annotation.key.starts_with(kAnnotationPrefix)) continue;
    // A pod that was woken once is not ours for ever because of that.
    request.has_key_of_ours = request.has_key_of_ours || annotation.key.substr(kAnnotationPrefix.size()) != kWakeKey;
    read_annotation(request, annotation, defaults);
  }
  if (pod.parts.uneven && !request.invalid) {
    request.invalid = core::Error{core::ErrorCode::kInvalid,
                                  "containers want shares of different sizes, or whole GPUs beside shares; a pod may "
                                  "have whole GPUs or equal shares of so many",
                                  "resources"};
  }
  return request;
}

}  // namespace berth::model
