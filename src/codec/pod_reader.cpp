#include "pod_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "berth/model/reason.h"
#include "fluid_pod.h"
#include "gang_reader.h"
#include "hami.h"
#include "koordinator.h"
#include "pod_containers.h"
#include "pod_parts.h"
#include "pod_resources.h"

namespace berth::codec {
namespace {

using std::string_view;

// Claims, images and labels that are kept: more than any pod has, and a bound on what a hostile one costs.
constexpr std::size_t kMostOfAKind = 256;

constexpr string_view kHamiAllocated = "hami.io/vgpu-devices-allocated";
constexpr string_view kHamiPlanned = "hami.io/vgpu-devices-to-allocate";
constexpr string_view kKoordinatorDevices = "scheduling.koordinator.sh/device-allocated";

model::PodPhase parse_phase(string_view name) {
  using model::PodPhase;
  if (name.empty() || name == "Pending") return PodPhase::kPending;
  if (name == "Running") return PodPhase::kRunning;
  if (name == "Succeeded") return PodPhase::kSucceeded;
  if (name == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

// Which GPUs another scheduler gave the pod. A pod without it is still a pod.
void read_devices(model::Pod& pod, string_view key, string_view written, Reading& reading) {
  auto claims = key == kKoordinatorDevices ? read_koordinator_pod(written) : read_hami_pod(written);
  if (!claims) return reading.pass_over(claims.error(), key);
  // What HAMi has handed out comes before what it is about to hand out, which is empty by then.
  if (!claims->empty() && (pod.devices.empty() || key != kHamiPlanned)) pod.devices = *std::move(claims);
}

void read_annotations(model::Pod& pod, simdjson::dom::object annotations, Reading& reading) {
  const Reading::Step step(reading, "annotations");
  for (const auto& [key, value] : annotations) {
    const bool in_use = key == kDatasetsInUse;
    const bool devices = key == kHamiAllocated || key == kHamiPlanned || key == kKoordinatorDevices;
    if (!in_use && !devices && !key.starts_with(model::kAnnotationPrefix)) continue;
    string_view written;
    if (!value.is_null() && value.get(written) != simdjson::SUCCESS) reading.fail(wrong_type("a string", value), key);
    if (in_use) {
      read_datasets_in_use(pod, written);
    } else if (devices) {
      read_devices(pod, key, written, reading);
    } else {
      pod.annotations.push_back({std::string(key), std::string(written)});
    }
  }
  std::sort(pod.annotations.begin(), pod.annotations.end(),
            [](const model::Annotation& a, const model::Annotation& b) { return a.key < b.key; });
  const auto twice =
      std::adjacent_find(pod.annotations.begin(), pod.annotations.end(),
                         [](const model::Annotation& a, const model::Annotation& b) { return a.key == b.key; });
  if (twice != pod.annotations.end()) reading.fail("is given twice", twice->key);
}

// The UID of the owner that controls the pod.
string_view read_owner(const Field& owners, Reading& reading) {
  const auto items = array(owners, reading);
  if (!items) return {};
  const Reading::Step in_list(reading, owners.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    const auto owner = item_object(item, reading);
    if (!owner) return {};
    const auto [controller, uid] = pick<2>(*owner, {string_view("controller"), "uid"}, reading);
    bool controls = false;
    if (controller.given && controller.value.get(controls) != simdjson::SUCCESS) {
      reading.fail(wrong_type("a boolean", controller.value), controller.name);
    }
    if (controls) return text(uid, reading);
  }
  return {};
}

FluidPod read_metadata(model::Pod& pod, simdjson::dom::object metadata, Reading& reading) {
  const Reading::Step step(reading, "metadata");
  const auto [name, ns, uid, created, deleted, labels, annotations, owners] =
      pick<8>(metadata,
              {string_view("name"), "namespace", "uid", "creationTimestamp", "deletionTimestamp", "labels",
               "annotations", "ownerReferences"},
              reading);
  pod.name = text(name, reading);
  pod.ns = text(ns, reading);
  pod.uid = text(uid, reading);
  pod.deleting = !text(deleted, reading).empty();
  pod.created = timestamp(created, reading);
  pod.owner = read_owner(owners, reading);
  if (const auto found = object(annotations, reading)) read_annotations(pod, *found, reading);
  if (const auto found = object(labels, reading)) return read_labels(pod, *found, reading);
  return {};
}

// Names of claims, each once; an ephemeral volume's claim has a name of its own.
void read_volumes(model::Pod& pod, const Field& volumes, Reading& reading) {
  const auto items = array(volumes, reading);
  if (!items) return;
  const Reading::Step in_list(reading, volumes.name);
  const auto add = [&pod](std::string claim) {
    if (claim.empty() || std::find(pod.claims.begin(), pod.claims.end(), claim) != pod.claims.end()) return;
    pod.claims.push_back(std::move(claim));
  };
  std::size_t index = 0;
  std::size_t seen = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    const auto volume = item_object(item, reading);
    if (!volume) return;
    const auto [name, claim, ephemeral] =
        pick<3>(*volume, {string_view("name"), "persistentVolumeClaim", "ephemeral"}, reading);
    if ((!claim.given && !ephemeral.given) || ++seen > kMostOfAKind) continue;
    if (const auto fields = object(claim, reading)) {
      const Reading::Step in_claim(reading, claim.name);
      const auto [claim_name] = pick<1>(*fields, {string_view("claimName")}, reading);
      add(std::string(text(claim_name, reading)));
    }
    if (const auto fields = object(ephemeral, reading)) {
      const Reading::Step in_ephemeral(reading, ephemeral.name);
      const auto [claim_template] = pick<1>(*fields, {string_view("volumeClaimTemplate")}, reading);
      // A pod that is yet to be named by its generateName has no such claims.
      if (claim_template.given && !pod.name.empty()) add(pod.name + "-" + std::string(text(name, reading)));
    }
  }
}

void read_spec(model::Pod& pod, const FluidPod& fluid, simdjson::dom::object spec,
               const model::ResourceNames& resources, PodResources& asked, Reading& reading) {
  const Reading::Step step(reading, "spec");
  const auto [node, scheduler, gates, containers, init_containers, overhead, priority, deadline, volumes, devices,
              pod_level] =
      pick<11>(spec,
               {string_view("nodeName"), "schedulerName", "schedulingGates", "containers", "initContainers", "overhead",
                "priority", "activeDeadlineSeconds", "volumes", "resourceClaims", "resources"},
               reading);
  pod.node = text(node, reading);
  pod.scheduler_name = text(scheduler, reading);
  if (const auto found = array(gates, reading)) pod.gated = found->begin() != found->end();
  if (const auto found = array(devices, reading)) pod.resource_claims = found->begin() != found->end();
  using Limits = std::numeric_limits<std::int32_t>;
  pod.priority = static_cast<std::int32_t>(number(priority, Limits::min(), Limits::max(), reading));
  pod.deadline_seconds = number(deadline, 0, std::numeric_limits<std::int64_t>::max(), reading);
  read_volumes(pod, volumes, reading);

  GpuCount count(reading);
  PartCount parts(reading);
  const auto take_image = [&pod](string_view image) {
    if (!image.empty() && pod.images.size() < kMostOfAKind) pod.images.push_back(model::image_id(image));
  };
  each_container(containers, resources, reading, [&](const Container& container) {
    count.add_container(parts.add_container(container));
    asked.add_container(container);
    take_image(container.image);
    if (pod.cache) look_at(*pod.cache, fluid, container, reading);
  });
  each_container(init_containers, resources, reading, [&](const Container& container) {
    count.add_init_container(parts.add_init_container(container), container.restarts);
    asked.add_init_container(container);
    take_image(container.image);
  });
  count.add_overhead(parts.add_overhead(gpu_amounts(overhead, resources, reading)));
  pod.gpus = count.total();
  pod.parts = parts.total(pod.gpus);
  pod.requests = asked.total(pod_level, overhead);
  std::sort(pod.images.begin(), pod.images.end());
  pod.images.erase(std::unique(pod.images.begin(), pod.images.end()), pod.images.end());
}

void read_conditions(model::Pod& pod, const Field& conditions, PodResources& asked, Reading& reading) {
  const auto items = array(conditions, reading);
  if (!items) return;
  const Reading::Step in_list(reading, conditions.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    const auto fields = item_object(item, reading);
    if (!fields) return;
    const auto [type_field, status_field, reason, message] =
        pick<4>(*fields, {string_view("type"), "status", "reason", "message"}, reading);
    const string_view type = text(type_field, reading);
    const string_view status = text(status_field, reading);
    if (type == "PodResizePending" && text(reason, reading) == "Infeasible") asked.resize_is_infeasible();
    if (type == "Ready" && pod.cache) pod.cache->ready = status == "True";
    if (type == "PodScheduled" && status == "False" && text(reason, reading) == "Unschedulable") {
      pod.rejected_by_us = model::names_our_reason(text(message, reading));
    }
  }
}

void read_status(model::Pod& pod, simdjson::dom::object status, PodResources& asked, Reading& reading) {
  const Reading::Step step(reading, "status");
  const auto [phase, nominated, conditions, host_ip, pod_ip, started, reason, containers, init_containers, allotted,
              resources] =
      pick<11>(status,
               {string_view("phase"), "nominatedNodeName", "conditions", "hostIP", "podIP", "startTime", "reason",
                "containerStatuses", "initContainerStatuses", "allocatedResources", "resources"},
               reading);
  pod.phase = parse_phase(text(phase, reading));
  if (pod.phase == model::PodPhase::kFailed) pod.failed_reason = text(reason, reading);
  pod.nominated_node = text(nominated, reading);
  pod.started = timestamp(started, reading);
  read_conditions(pod, conditions, asked, reading);
  asked.read_container_statuses(containers);
  asked.read_container_statuses(init_containers);
  asked.read_pod_status(allotted, resources);
  if (!pod.cache) return;
  pod.cache->started = pod.started;
  pod.cache->host_ip = text(host_ip, reading);
  pod.cache->pod_ip = text(pod_ip, reading);
}

void keep_labels(model::Pod& pod, simdjson::dom::object metadata, Reading& reading) {
  const Reading::Step step(reading, "metadata");
  const auto [labels] = pick<1>(metadata, {string_view("labels")}, reading);
  const auto fields = object(labels, reading);
  if (!fields) return;
  const Reading::Step in_labels(reading, labels.name);
  for (const auto& [key, value] : *fields) {
    if (pod.labels.size() == kMostOfAKind) break;
    string_view written;
    if (!value.is_null() && value.get(written) != simdjson::SUCCESS) reading.fail(wrong_type("a string", value), key);
    pod.labels.push_back({std::string(key), std::string(written)});
  }
  std::ranges::sort(pod.labels, {}, &model::Label::key);
  const auto twice = std::ranges::adjacent_find(pod.labels, {}, &model::Label::key);
  if (twice != pod.labels.end()) reading.fail("is given twice", twice->key);
}

}  // namespace

void read_into(model::Pod& pod, simdjson::dom::object json, const model::ResourceNames& resources, Reading& reading) {
  const auto [metadata, spec, status] = pick<3>(json, {string_view("metadata"), "spec", "status"}, reading);
  FluidPod fluid;
  if (const auto fields = object(metadata, reading)) {
    fluid = read_metadata(pod, *fields, reading);
    pod.gang = read_gang(pod.ns, *fields, spec, reading);
  }
  PodResources asked(reading);
  if (const auto fields = object(status, reading)) read_status(pod, *fields, asked, reading);
  if (const auto fields = object(spec, reading)) read_spec(pod, fluid, *fields, resources, asked, reading);
  if (pod.gpus == 0 && !pod.parts.any()) return;
  if (const auto fields = object(metadata, reading)) keep_labels(pod, *fields, reading);
}

}  // namespace berth::codec
