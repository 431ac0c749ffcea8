#include "pod_reader.h"

#include <algorithm>
#include <optional>

#include "berth/core/quantity.h"

namespace berth::codec {
namespace {

using std::string_view;

model::PodPhase parse_phase(string_view name) {
  using model::PodPhase;
  if (name.empty() || name == "Pending") return PodPhase::kPending;
  if (name == "Running") return PodPhase::kRunning;
  if (name == "Succeeded") return PodPhase::kSucceeded;
  if (name == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

void read_annotations(model::Pod& pod, simdjson::dom::object annotations, Reading& reading) {
  const Reading::Step step(reading, "annotations");
  for (const auto& [key, value] : annotations) {
    if (!key.starts_with(model::kAnnotationPrefix)) continue;
    string_view written;
    if (!value.is_null() && value.get(written) != simdjson::SUCCESS) reading.fail(wrong_type("a string", value), key);
    pod.annotations.push_back({std::string(key), std::string(written)});
  }
  std::sort(pod.annotations.begin(), pod.annotations.end(),
            [](const model::Annotation& a, const model::Annotation& b) { return a.key < b.key; });
  const auto twice =
      std::adjacent_find(pod.annotations.begin(), pod.annotations.end(),
                         [](const model::Annotation& a, const model::Annotation& b) { return a.key == b.key; });
  if (twice != pod.annotations.end()) reading.fail("is given twice", twice->key);
}

void read_metadata(model::Pod& pod, simdjson::dom::object metadata, Reading& reading) {
  const Reading::Step step(reading, "metadata");
  const auto [name, ns, uid, created, deleted, annotations] = pick<6>(
      metadata, {string_view("name"), "namespace", "uid", "creationTimestamp", "deletionTimestamp", "annotations"},
      reading);
  pod.name = text(name, reading);
  pod.ns = text(ns, reading);
  pod.uid = text(uid, reading);
  pod.deleting = !text(deleted, reading).empty();
  if (const string_view written = text(created, reading); !written.empty()) {
    if (const auto time = core::parse_timestamp(written)) {
      pod.created = *time;
    } else {
      reading.fail(time.error().message, created.name);
    }
  }
  if (const auto found = object(annotations, reading)) read_annotations(pod, *found, reading);
}

// The GPUs that containers want together, by PodRequests of k8s.io/component-helpers resource/helpers.go.
class GpuCount {
 public:
  GpuCount(string_view resource, Reading& reading) : resource_(resource), reading_(reading) {}

  void add_containers(const Field& containers) {
    each(containers, [this](std::int64_t gpus, bool) { add(running_, gpus); });
  }
  // An init container that restarts is a sidecar: it stays beside all that start after it. The others run alone.
  void add_init_containers(const Field& containers) {
    each(containers, [this](std::int64_t gpus, bool restarts) {
      std::int64_t while_starting = sidecars_;
      add(while_starting, gpus);
      starting_ = std::max(starting_, while_starting);
      if (!restarts) return;
      sidecars_ = while_starting;
      add(running_, gpus);
    });
  }
  void add_overhead(const Field& overhead) { overhead_ = amount(overhead).value_or(0); }

  [[nodiscard]] std::int64_t total() {
    std::int64_t sum = std::max(running_, starting_);
    add(sum, overhead_);
    return sum;
  }

 private:
  void add(std::int64_t& sum, std::int64_t gpus) {
    if (__builtin_add_overflow(sum, gpus, &sum)) {
      reading_.fail("asks for more of " + std::string(resource_) + " than can be counted");
      sum = 0;
    }
  }

  std::optional<std::int64_t> amount(const Field& amounts) {
    const auto fields = object(amounts, reading_);
    if (!fields) return std::nullopt;
    const Reading::Step step(reading_, amounts.name);
    const auto [gpus] = pick<1>(*fields, {resource_}, reading_);
    if (!gpus.given) return std::nullopt;
    return quantity(gpus, reading_);
  }

  template <class Take>
  void each(const Field& containers, Take take) {
    const auto items = array(containers, reading_);
    if (!items) return;
    const Reading::Step in_list(reading_, containers.name);
    std::size_t index = 0;
    for (const simdjson::dom::element item : *items) {
      const Reading::Step in_item(reading_, index++);
      const auto container = item_object(item, reading_);
      if (!container) continue;
      const auto [resources, restart] = pick<2>(*container, {string_view("resources"), "restartPolicy"}, reading_);
      const bool restarts = text(restart, reading_) == "Always";
      std::int64_t gpus = 0;
      if (const auto found = object(resources, reading_)) {
        const Reading::Step in_resources(reading_, "resources");
        const auto [requests, limits] = pick<2>(*found, {string_view("requests"), "limits"}, reading_);
        // The API server copies a limit without a request into the requests; a manifest has not been there yet.
        const auto limit = amount(limits);
        gpus = amount(requests).value_or(limit.value_or(0));
      }
      take(gpus, restarts);
    }
  }

  string_view resource_;
  Reading& reading_;
  std::int64_t running_ = 0;   // containers and sidecars
  std::int64_t starting_ = 0;  // the most that any init container and the sidecars before it hold
  std::int64_t sidecars_ = 0;
  std::int64_t overhead_ = 0;
};

void read_spec(model::Pod& pod, simdjson::dom::object spec, const model::ResourceNames& resources, Reading& reading) {
  const Reading::Step step(reading, "spec");
  // spec.resources is left alone: it covers cpu, memory and huge pages, never an extended resource.
  const auto [node, scheduler, gates, containers, init_containers, overhead] = pick<6>(
      spec, {string_view("nodeName"), "schedulerName", "schedulingGates", "containers", "initContainers", "overhead"},
      reading);
  pod.node = text(node, reading);
  pod.scheduler_name = text(scheduler, reading);
  if (const auto found = array(gates, reading)) pod.gated = found->begin() != found->end();
  GpuCount count(resources.gpu, reading);
  count.add_containers(containers);
  count.add_init_containers(init_containers);
  count.add_overhead(overhead);
  pod.gpus = count.total();
}

}  // namespace

void read_into(model::Pod& pod, simdjson::dom::object json, const model::ResourceNames& resources, Reading& reading) {
  const auto [metadata, spec, status] = pick<3>(json, {string_view("metadata"), "spec", "status"}, reading);
  if (const auto fields = object(metadata, reading)) read_metadata(pod, *fields, reading);
  if (const auto fields = object(spec, reading)) read_spec(pod, *fields, resources, reading);
  if (const auto fields = object(status, reading)) {
    const Reading::Step step(reading, "status");
    const auto [phase, nominated] = pick<2>(*fields, {string_view("phase"), "nominatedNodeName"}, reading);
    pod.phase = parse_phase(text(phase, reading));
    pod.nominated_node = text(nominated, reading);
  }
}

}  // namespace berth::codec
