#include "node_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace berth::codec {
namespace {

constexpr std::string_view kWorkerLabelPrefix = "fluid.io/s-";
constexpr std::string_view kFuseLabelPrefix = "fluid.io/f-";

std::string_view required_name(const Field& name, Reading& reading) {
  const std::string_view value = text(name, reading);
  if (value.empty()) reading.fail("is missing", name.name);
  return value;
}

// GPU-feature-discovery writes MiB as plain digits.
std::int64_t parse_mib(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return code == std::errc() && end == digits.data() + digits.size() && value > 0 ? value : 0;
}

void read_labels(model::Node& node, simdjson::dom::object labels, const model::ResourceNames& resources,
                 Reading& reading) {
  const Reading::Step step(reading, "labels");
  const auto [product, memory, slurm, rack, zone] =
      pick<5>(labels,
              {std::string_view("nvidia.com/gpu.product"), "nvidia.com/gpu.memory", "berth.io/slurm-node",
               resources.rack_label, resources.zone_label},
              reading);
  node.gpu_product = text(product, reading);
  node.gpu_memory_mib = parse_mib(text(memory, reading));
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
    const auto [name, uid, labels] = pick<3>(*fields, {std::string_view("name"), "uid", "labels"}, reading);
    node.name = required_name(name, reading);
    node.uid = text(uid, reading);
    if (const auto found = object(labels, reading)) read_labels(node, *found, resources, reading);
  }
  if (const auto fields = object(status, reading)) {
    const Reading::Step in_status(reading, "status");
    const auto [allocatable, images] = pick<2>(*fields, {std::string_view("allocatable"), "images"}, reading);
    read_images(node, images);
    if (const auto amounts = object(allocatable, reading)) {
      const Reading::Step in_allocatable(reading, "allocatable");
      const auto [gpus] = pick<1>(*amounts, {std::string_view(resources.gpu)}, reading);
      node.gpus = quantity(gpus, reading);
    }
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
