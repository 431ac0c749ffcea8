// What holds of every object and error that the codec gives, whatever it read.
#pragma once

#include <algorithm>

#include "berth/codec/gpu_objects.h"
#include "berth/core/result.h"
#include "berth/core/text.h"
#include "berth/model/dataset.h"
#include "berth/model/disruption_budget.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"
#include "require.h"

namespace berth::model {
inline bool operator==(const SchedulingPolicy& a, const SchedulingPolicy& b) {
  return a.ns == b.ns && a.name == b.name && a.terms == b.terms && a.invalid.has_value() == b.invalid.has_value();
}
}  // namespace berth::model

namespace berth::fuzz {

inline void check(const core::Error& error) {
  require(error.code == core::ErrorCode::kInvalid, "what is wrong with a small input is kInvalid");
  require(!error.message.empty(), "an error has a message");
}

inline void check(const model::Machine& machine) {
  require(machine.gpus.size() <= model::kMaxGpus, "a machine has no more GPUs than can be told apart");
  require(!machine.links || machine.links->gpus == static_cast<int>(machine.gpus.size()), "links are of all GPUs");
  if (machine.links) {
    require(model::BestSetTable::build(*machine.links, model::NumaNodes{}).has_value(), "links make a table");
  }
  for (const model::Gpu& gpu : machine.gpus) {
    require(gpu.memory_mib >= 0 && gpu.numa >= -1, "figures of a GPU are not negative");
    require(gpu.uuid.size() <= 256 && gpu.product.size() <= 256 && gpu.pcie.size() <= 256, "names are bounded");
    for (const model::MigInstance& one : gpu.instances) require(one.start >= -1 && one.start < 8, "a place on a GPU");
  }
  require(machine.nics.size() <= 64, "NICs are bounded");
  for (const std::int32_t gpus : machine.numa_gpus) require(gpus >= 0, "a count is not negative");
}

inline void check(const model::DeviceClaim& claim) {
  require(claim.mib >= 0 && claim.milli >= 0, "a claim is not negative");
  require(!claim.uuid.empty() || claim.index >= 0, "a claim names a GPU");
}

inline void check(const codec::KoordinatorDevice& device) {
  require(!device.node.empty(), "a device has a node");
  check(device.machine);
}

inline void check(const codec::NumaTopology& topology) {
  require(!topology.node.empty(), "a topology has a node");
  check(topology.machine);
}

inline void check(const codec::ResourceSlice& slice) {
  require(!slice.name.empty(), "a slice has a name");
  require(slice.ours() || slice.devices.empty(), "devices of others are not read");
  const codec::ResourceSlice* const all[] = {&slice};
  if (const auto machine = codec::assemble(all)) check(*machine);
}

inline void check(const model::Node& node) {
  if (node.hami) check(*node.hami);
  if (node.agent) check(*node.agent);
  require(node.gpu_count >= 0, "a label's count is not negative");
  require(!node.name.empty(), "a node has a name");
  require(node.gpus >= 0 && node.gpu_memory_mib >= 0, "amounts of a node are not negative");
  require(std::is_sorted(node.fluid_labels.begin(), node.fluid_labels.end(), std::less_equal<>()) ||
              node.fluid_labels.size() < 2,
          "dataset labels are sorted and unique");
  for (const std::string& label : node.fluid_labels) {
    require(label.starts_with("fluid.io/s-") || label.starts_with("fluid.io/f-"), "a dataset label has Fluid's prefix");
  }
  for (std::size_t i = 0; i < node.images.size(); ++i) {
    require(node.images[i].bytes > 0, "an image has a size");
    require(i == 0 || node.images[i - 1].id < node.images[i].id, "images are sorted and unique");
  }
}

inline void check(const model::Pod& pod) {
  for (const model::DeviceClaim& claim : pod.devices) check(claim);
  require(pod.gpus >= 0, "a pod's count is not negative");
  for (std::size_t i = 0; i < pod.annotations.size(); ++i) {
    require(pod.annotations[i].key.starts_with(model::kAnnotationPrefix), "an annotation has our prefix");
    require(i == 0 || pod.annotations[i - 1].key < pod.annotations[i].key, "annotations are sorted and unique");
  }
  require(pod.deadline_seconds >= 0, "a deadline is not negative");
  require(pod.claims.size() <= 256 && pod.images.size() <= 256, "claims and images are bounded");
  require(pod.labels.size() <= 256 && (pod.labels.empty() || pod.gpus > 0 || pod.parts.any()),
          "labels are bounded and of pods that hold GPUs");
  for (std::size_t i = 1; i < pod.labels.size(); ++i) {
    require(pod.labels[i - 1].key < pod.labels[i].key, "labels are sorted and unique");
  }
  require(pod.required_claims.size() <= 64 && pod.datasets_in_use.size() <= 64, "datasets are bounded");
  for (const std::string& claim : pod.claims) require(!claim.empty(), "a claim has a name");
  for (const std::string& name : pod.datasets_in_use) require(core::is_name(name), "a dataset in use has a name");
  for (const std::string& name : pod.required_claims) require(core::is_name(name), "a required claim has a name");
  if (pod.cache) {
    require(!pod.cache->dataset.empty() && pod.cache->started == pod.started, "a cache pod is of a dataset");
  }
  require(pod.gang.members >= 0, "a gang has no negative size");
  require(pod.gang.name.empty() || pod.gang.name.find('/') < pod.gang.name.rfind(' '),
          "a gang's name ends with its kind");
  model::make_request(pod, {});
}

inline void check(const model::Dataset& dataset) {
  require(!dataset.ref.name.empty() && dataset.total_bytes >= 0, "a dataset has a name and no negative size");
  require(!dataset.cached || (*dataset.cached > 0 && *dataset.cached <= 1),
          "a known part is more than 0 and at most 1");
  require(dataset.physical.name.empty() == dataset.physical.ns.empty(), "a reference is whole");
}

inline void check(const model::SchedulingPolicy& policy) {
  require(!policy.name.empty(), "a policy has a name");
  require(!policy.invalid || (!policy.invalid->message.empty() && policy.invalid->where.starts_with("spec")),
          "what is wrong in a policy is told with its field");
  const model::OptionalWeights& weights = policy.terms.weights;
  for (const auto& weight : {weights.locality, weights.topology, weights.packing, weights.proximity}) {
    require(!weight || (*weight >= 0 && *weight <= 1000), "a weight is in its range");
  }
  require(policy.terms.min_gpu_memory_mib.value_or(0) >= 0, "a policy's memory is not negative");
}

inline void check(const model::Claim& claim) { require(!claim.name.empty(), "a claim has a name"); }

inline void check(const model::CacheRuntime& runtime) {
  require(!runtime.dataset.name.empty() && !runtime.type.empty(), "a runtime has a name and a type");
  require(runtime.workers >= 0 && runtime.worker_bytes >= 0, "amounts of a runtime are not negative");
}

inline void check(const model::DisruptionBudget& budget) {
  require(!budget.name.empty() && budget.allowed >= 0, "a budget has a name and allows no negative number");
  require(budget.selects || budget.selector.empty(), "a budget without a selector has no terms");
  static_cast<void>(budget.matches({}));
}

inline void check(const model::DataLoad& load) { require(!load.name.empty(), "a load has a name"); }

}  // namespace berth::fuzz
