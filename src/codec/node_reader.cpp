#include "node_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "berth/codec/machine_json.h"
#include "hami.h"
#include "pod_containers.h"

namespace berth::codec {
namespace {

constexpr std::string_view kWorkerLabelPrefix = "fluid.io/s-";
constexpr std::string_view kFuseLabelPrefix = "fluid.io/f-";

std::string_view required_name(const Field& name, Reading& reading) {
  const std::string_view value = text(name, reading);
  if (value.empty()) reading.fail("is missing", name.name);
  return value;
}

// GPU-feature-discovery writes plain digits.
std::int64_t parse_amount(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // sums can't overflow
  return code == std::errc() && end == digits.data() + digits.size() && value > 0 ? std::min(value, kMost) : 0;
}

// What tells of the node's GPUs. A node without it is still a node.
void read_annotations(model::Node& node, simdjson::dom::object annotations, Reading& reading) {
  const Reading::Step step(reading, "annotations");
  const auto [topology, holders, devices, scores, handshake] =
      pick<5>(annotations,
              {std::string_view("berth.io/topology"), "berth.io/gpu-holders", "hami.io/node-nvidia-register",
               "hami.io/node-nvidia-score", "hami.io/node-handshake"},
              reading);
  if (const std::string_view json = text(topology, reading); !json.empty()) {
    auto machine = read_machine(json);
    if (!machine) reading.pass_over(machine.error(), topology.name);
    if (machine) node.agent = std::make_shared<const model::Machine>(*std::move(machine));
  }
  if (const std::string_view json = text(holders, reading); !json.empty()) {
    auto read = read_holders(json);
    if (!read) reading.pass_over(read.error(), holders.name);
    if (read) node.holders = std::make_shared<const model::GpuHolders>(*std::move(read));
  }
  // HAMi leaves the devices on a node whose plugin no longer answers, and says so: "Deleted_2026.01.31 12:00:00".
  const bool silent = text(handshake, reading).starts_with("Deleted");
  if (const std::string_view told = text(devices, reading); !told.empty() && !silent) {
    auto machine = read_hami_node(told, text(scores, reading));
    if (!machine) reading.pass_over(machine.error(), devices.name);
    if (machine) node.hami = *std::move(machine);
  }
}

// Amounts of partitions by profile.
void read_mig(model::Node& node, simdjson::dom::object amounts, std::string_view prefix, Reading& reading) {
  constexpr std::size_t kMostProfiles = 64;
  if (prefix.empty()) return;
  for (const auto& [key, value] : amounts) {
    if (!key.starts_with(prefix) || key.size() == prefix.size() || node.mig.size() >= kMostProfiles) continue;
    const std::int64_t count = quantity(Field{key, true, value}, reading);
    if (count <= 0) continue;
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    node.mig.push_back({std::string(key.substr(prefix.size())), static_cast<std::int32_t>(std::min(count, kMost))});
  }
  std::ranges::sort(node.mig, {}, &model::MigDemand::profile);
}

model::Resources read_allocatable(const Field& allocatable, Reading& reading) {
  model::Resources there;
  const Amounts amounts = read_amounts(allocatable, reading);
  there.basic = {amounts.cpu_milli.value_or(0), amounts.memory_bytes.value_or(0),
                 amounts.ephemeral_storage_bytes.value_or(0), amounts.pods.value_or(0)};
  for (const NamedAmount& one : amounts.scalars) {
    if (one.amount > 0) there.scalars.push_back({std::string(one.name), one.amount});
  }
  std::ranges::sort(there.scalars, {}, &model::ScalarAmount::name);
  return within_bounds(std::move(there), model::kMostThere);
}

void read_labels(model::Node& node, simdjson::dom::object labels, const model::ResourceNames& resources,
                 Reading& reading) {
  const Reading::Step step(reading, "labels");
  const auto [product, memory, count, slurm, rack, zone] =
      pick<6>(labels,
              {std::string_view("nvidia.com/gpu.product"), "nvidia.com/gpu.memory", "nvidia.com/gpu.count",
               "berth.io/slurm-node", resources.rack_label, resources.zone_label},
              reading);
  node.gpu_product = text(product, reading);
  node.gpu_memory_mib = parse_amount(text(memory, reading));
  node.gpu_count = parse_amount(text(count, reading));
  node.slurm_name = text(slurm, reading);
  node.rack = text(rack, reading);
  node.zone = text(zone, reading);
  for (const auto& [key, value] : labels) {
    // Fluid's quotas, "fluid.io/s-h-...", have a size as their value.
    std::string_view label;
    const bool of_fluid = key.starts_with(kWorkerLabelPrefix) || key.starts_with(kFuseLabelPrefix);
    if (of_fluid && value.get(label) == simdjson::SUCCESS && label == "true") {
      node.fluid_labels.emplace_back(key);
    }
    const auto level = std::find(resources.levels.begin(), resources.levels.end(), key);
    if (level != resources.levels.end() && value.get(label) == simdjson::SUCCESS && !label.empty()) {
      node.levels.resize(resources.levels.size());
      node.levels[static_cast<std::size_t>(level - resources.levels.begin())] = label;
    }
  }
  std::sort(node.fluid_labels.begin(), node.fluid_labels.end());
  node.fluid_labels.erase(std::unique(node.fluid_labels.begin(), node.fluid_labels.end()), node.fluid_labels.end());
}

// Images only help to choose: an entry that is not as it should be is left out, and the node stays.
void read_images(model::Node& node, const Field& images) {
  simdjson::dom::array items;
  if (!images.given || images.value.get(items) != simdjson::SUCCESS) return;
  node.images.reserve(2 * items.size());  // a digest and a tag each
  for (const simdjson::dom::element item : items) {
    std::int64_t bytes = 0;
    simdjson::dom::array names;
    if (item["sizeBytes"].get(bytes) != simdjson::SUCCESS || bytes <= 0) continue;
    if (item["names"].get(names) != simdjson::SUCCESS) continue;
    for (const simdjson::dom::element name : names) {
      std::string_view reference;
      if (name.get(reference) != simdjson::SUCCESS || reference.empty()) continue;
      node.images.push_back({model::image_id(reference), bytes});
    }
  }
  std::sort(node.images.begin(), node.images.end(), [](const model::NodeImage& a, const model::NodeImage& b) {
    return a.id != b.id ? a.id < b.id : a.bytes > b.bytes;
  });
  const auto same = [](const model::NodeImage& a, const model::NodeImage& b) { return a.id == b.id; };
  node.images.erase(std::unique(node.images.begin(), node.images.end(), same), node.images.end());
}

}  // namespace

void read_into(model::Node& node, simdjson::dom::object json, const model::ResourceNames& resources, Reading& reading) {
  const auto [metadata, status] = pick<2>(json, {std::string_view("metadata"), "status"}, reading);
  {
    const auto fields = object(metadata, reading);
    const Reading::Step step(reading, "metadata");
    if (!fields) return reading.fail("is missing", "name");
    const auto [name, uid, labels, annotations] =
        pick<4>(*fields, {std::string_view("name"), "uid", "labels", "annotations"}, reading);
    node.name = required_name(name, reading);
    node.uid = text(uid, reading);
    if (const auto found = object(labels, reading)) read_labels(node, *found, resources, reading);
    if (const auto found = object(annotations, reading)) read_annotations(node, *found, reading);
  }
  if (const auto fields = object(status, reading)) {
    const Reading::Step in_status(reading, "status");
    const auto [allocatable, images] = pick<2>(*fields, {std::string_view("allocatable"), "images"}, reading);
    read_images(node, images);
    if (const auto amounts = object(allocatable, reading)) {
      const Reading::Step in_allocatable(reading, "allocatable");
      const auto [gpus] = pick<1>(*amounts, {std::string_view(resources.gpu)}, reading);
      node.gpus = quantity(gpus, reading);
      read_mig(node, *amounts, resources.mig_prefix, reading);
    }
    node.allocatable = read_allocatable(allocatable, reading);
  }
}

std::string_view read_node_name(simdjson::dom::object json, Reading& reading) {
  const auto [metadata] = pick<1>(json, {std::string_view("metadata")}, reading);
  const auto fields = object(metadata, reading);
  const Reading::Step step(reading, "metadata");
  if (!fields) {
    reading.fail("is missing", "name");
    return {};
  }
  const auto [name] = pick<1>(*fields, {std::string_view("name")}, reading);
  return required_name(name, reading);
}

}  // namespace berth::codec
