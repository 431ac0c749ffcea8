#include "gang_reader.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "berth/core/text.h"

namespace berth::codec {
namespace {

using std::string_view;

// What is found of a pod's labels, annotations and so on; the first that is there counts.
enum Source : std::uint8_t {
  kKueue,
  kPodGroup,
  kLightPodGroup,
  kVolcano,
  kSchedulingGroup,
  kJobSet,
  kLeaderWorkerSet,
  kRay,
  kKubeflow,
  kJobLabel,
  kOwner,
  kGangSources,
};

struct NameKey {
  string_view key;
  Source source;
};
// As a label or as an annotation, whichever it was defined to be: nobody uses the same key for something else.
constexpr std::array kNames = {
    NameKey{"kueue.x-k8s.io/pod-group-name", kKueue},
    NameKey{"scheduling.x-k8s.io/pod-group", kPodGroup},
    NameKey{"pod-group.scheduling.sigs.k8s.io", kLightPodGroup},
    NameKey{"pod-group.scheduling.sigs.k8s.io/name", kLightPodGroup},
    NameKey{"scheduling.k8s.io/group-name", kVolcano},
    NameKey{"jobset.sigs.k8s.io/jobset-name", kJobSet},
    NameKey{"leaderworkerset.sigs.k8s.io/name", kLeaderWorkerSet},
    NameKey{"ray.io/cluster", kRay},
    NameKey{"training.kubeflow.org/job-name", kKubeflow},
    NameKey{"batch.kubernetes.io/job-name", kJobLabel},
};
// Names of one kind mean the same gang, whoever tells.
constexpr std::array<string_view, kGangSources> kKinds = {
    "kueue-pod-group",
    "pod-group",
    "pod-group",
    "volcano-pod-group",
    "scheduling-group",
    "jobset",
    "leaderworkerset",
    "ray-cluster",
    "kubeflow-job",
    "job",
    "job",
};

constexpr std::array kCounts = {
    NameKey{"kueue.x-k8s.io/pod-group-total-count", kKueue},
    NameKey{"pod-group.scheduling.sigs.k8s.io/min-available", kLightPodGroup},
    NameKey{"scheduling.volcano.sh/group-min-member", kVolcano},
    NameKey{"leaderworkerset.sigs.k8s.io/size", kLeaderWorkerSet},
};
constexpr string_view kGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";

struct FoundGangs {
  std::array<string_view, kGangSources> names;
  std::array<std::int32_t, kGangSources> counts{};
  string_view group_index;
};

std::int32_t count_in(string_view digits) {
  std::int32_t count = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return code == std::errc() && end == digits.data() + digits.size() && count > 0 ? count : 0;
}

void look_at(FoundGangs& found, string_view key, string_view value) {
  // Most keys are none of these, and all of these have a dot and a slash or an inner dot.
  for (const NameKey& name : kNames) {
    if (key == name.key && core::is_name(value)) found.names[name.source] = value;
  }
  for (const NameKey& count : kCounts) {
    if (key == count.key) found.counts[count.source] = count_in(value);
  }
  if (key == kGroupIndex && core::is_name(value)) found.group_index = value;
}

// Values of another type are told about by those who read labels and annotations for more than this.
void look_at_all(FoundGangs& found, const Field& field) {
  simdjson::dom::object map;
  if (!field.given || field.value.get(map) != simdjson::SUCCESS) return;
  for (const auto& [key, value] : map) {
    string_view written;
    if (value.get(written) == simdjson::SUCCESS) look_at(found, key, written);
  }
}

void look_at_owners(FoundGangs& found, const Field& owners) {
  simdjson::dom::array items;
  if (!owners.given || owners.value.get(items) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element owner : items) {
    string_view kind;
    string_view group;
    string_view name;
    const bool job = owner["kind"].get(kind) == simdjson::SUCCESS && kind == "Job" &&
                     owner["apiVersion"].get(group) == simdjson::SUCCESS && group.starts_with("batch/");
    if (job && owner["name"].get(name) == simdjson::SUCCESS && core::is_name(name)) found.names[kOwner] = name;
  }
}

}  // namespace

model::GangRef read_gang(string_view ns, simdjson::dom::object metadata, const Field& spec, Reading& reading) {
  const auto [labels, annotations, owners] =
      pick<3>(metadata, {string_view("labels"), "annotations", "ownerReferences"}, reading);
  FoundGangs found;
  look_at_all(found, annotations);
  look_at_all(found, labels);
  look_at_owners(found, owners);
  simdjson::dom::object fields;
  string_view group;
  if (spec.given && spec.value.get(fields) == simdjson::SUCCESS &&
      fields["schedulingGroup"]["podGroupName"].get(group) == simdjson::SUCCESS && core::is_name(group)) {
    found.names[kSchedulingGroup] = group;
  }
  for (std::size_t source = 0; source < kGangSources; ++source) {
    const string_view name = found.names[source];
    if (name.empty()) continue;
    model::GangRef gang;
    gang.name.append(ns).append("/").append(name);
    if (source == kLeaderWorkerSet && !found.group_index.empty()) gang.name.append("/").append(found.group_index);
    gang.name.append(" ").append(kKinds[source]);
    gang.members = found.counts[source];
    return gang;
  }
  return {};
}

}  // namespace berth::codec
