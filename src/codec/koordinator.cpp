#include "koordinator.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "json_document.h"
#include "told_gpus.h"

namespace berth::codec {
namespace {

using model::Gpu;
using model::Link;
using std::string_view;

constexpr std::int64_t kMostMinor = 1 << 20;

struct Place {
  std::int8_t numa = -1;
  std::string pcie;
};

bool boolean(const Field& field, Reading& reading) {
  bool value = false;
  if (field.given && field.value.get(value) != simdjson::SUCCESS) {
    reading.fail(wrong_type("a boolean", field.value), field.name);
  }
  return value;
}

Place read_place(const Field& topology, Reading& reading) {
  const auto fields = object(topology, reading);
  if (!fields) return {};
  const Reading::Step step(reading, topology.name);
  const auto [node, pcie] = pick<2>(*fields, {string_view("nodeID"), "pcieID"}, reading);
  const std::int64_t numa = node.given ? number(node, -1, kMostMinor, reading) : -1;
  return {numa_node(numa), short_name(pcie, reading)};
}

std::int64_t read_memory(const Field& resources, Reading& reading) {
  const auto fields = object(resources, reading);
  if (!fields) return 0;
  const Reading::Step step(reading, resources.name);
  const auto [memory] = pick<1>(*fields, {string_view("koordinator.sh/gpu-memory")}, reading);
  return mib_of(quantity(memory, reading));
}

struct FoundDevices {
  std::map<std::int64_t, Gpu> gpus;  // by minor
  std::vector<std::pair<std::string, Place>> nics;
};

void read_device(FoundDevices& found, simdjson::dom::element item, string_view product, Reading& reading) {
  const auto fields = item_object(item, reading);
  if (!fields) return;
  const auto [type_field, id, minor, health, resources, topology] =
      pick<6>(*fields, {string_view("type"), "id", "minor", "health", "resources", "topology"}, reading);
  const string_view type = text(type_field, reading);
  if (type == "gpu") {
    const std::int64_t index = number(minor, 0, kMostMinor, reading);
    const Place place = read_place(topology, reading);
    const Gpu gpu{.uuid = short_name(id, reading),
                  .product = product_label(product),
                  .memory_mib = read_memory(resources, reading),
                  .healthy = boolean(health, reading),
                  .numa = place.numa,
                  .pcie = place.pcie,
                  .instances = {}};
    if (!found.gpus.emplace(index, gpu).second) reading.fail("is the minor of two GPUs", minor.name);
  } else if (type == "rdma" && boolean(health, reading) && found.nics.size() < model::kMaxNics) {
    std::string name = short_name(id, reading);
    if (name.empty()) name = "rdma-" + std::to_string(number(minor, 0, kMostMinor, reading));
    found.nics.emplace_back(std::move(name), read_place(topology, reading));
  }
}

Link link_between(const Place& a, const Place& b) {
  if (a.pcie.empty() || b.pcie.empty() || a.numa < 0 || b.numa < 0) return Link::kSelf;
  if (a.numa != b.numa) return Link::kSys;
  return a.pcie == b.pcie ? Link::kPix : Link::kNode;
}

void join(model::Machine& machine, const FoundDevices& found) {
  machine.gpus = by_index(found.gpus);
  const int size = static_cast<int>(machine.gpus.size());
  std::vector<Place> places;
  places.reserve(machine.gpus.size());
  for (const Gpu& gpu : machine.gpus) places.push_back({gpu.numa, gpu.pcie});
  for (const auto& [name, place] : found.nics) {
    model::Nic& nic = machine.nics.emplace_back();
    nic.name = name;
    for (std::size_t gpu = 0; gpu < places.size(); ++gpu) nic.links[gpu] = link_between(place, places[gpu]);
  }
  // Without its product nobody can say that a GPU has no NVLink.
  const bool pcie_only = size > 1 && std::ranges::all_of(machine.gpus, [size](const Gpu& gpu) {
                           return !gpu.product.empty() && model::find_shape(gpu.product, size) != nullptr &&
                                  !has_nvlink(gpu.product, size);
                         });
  if (!pcie_only) return;
  model::LinkMatrix links = model::LinkMatrix::uniform(size, Link::kSys);
  for (int a = 0; a < size; ++a) {
    for (int b = a + 1; b < size; ++b) {
      const Link link = link_between(places[static_cast<std::size_t>(a)], places[static_cast<std::size_t>(b)]);
      if (link == Link::kSelf) return;
      links.set(a, b, link);
    }
  }
  machine.links = links;
}

std::optional<model::DeviceClaim> read_claim(simdjson::dom::element item, Reading& reading) {
  constexpr std::int64_t kMostPercent = 100;
  const auto fields = item_object(item, reading);
  if (!fields) return std::nullopt;
  const auto [minor, id, resources] = pick<3>(*fields, {string_view("minor"), "id", "resources"}, reading);
  model::DeviceClaim claim{.uuid = short_name(id, reading),
                           .index = static_cast<std::int32_t>(number(minor, 0, kMostMinor, reading)),
                           .source = model::TopologySource::kKoordinator};
  if (const auto amounts = object(resources, reading)) {
    const Reading::Step in_resources(reading, resources.name);
    const auto [core, memory] =
        pick<2>(*amounts, {string_view("koordinator.sh/gpu-core"), "koordinator.sh/gpu-memory"}, reading);
    claim.milli = static_cast<std::int32_t>(std::min(quantity(core, reading), kMostPercent)) * 10;
    claim.mib = mib_of(quantity(memory, reading));
  }
  return claim;
}

}  // namespace

void read_into(KoordinatorDevice& device, simdjson::dom::object json, Reading& reading) {
  const auto [metadata, spec] = pick<2>(json, {string_view("metadata"), "spec"}, reading);
  string_view product;
  if (const auto fields = object(metadata, reading)) {
    const Reading::Step step(reading, metadata.name);
    const auto [name, labels] = pick<2>(*fields, {string_view("name"), "labels"}, reading);
    device.node = text(name, reading);
    if (const auto found = object(labels, reading)) {
      const Reading::Step in_labels(reading, labels.name);
      const auto [model] = pick<1>(*found, {string_view("node.koordinator.sh/gpu-model")}, reading);
      product = text(model, reading);
      if (product.size() > kLongestGpuName) product = {};
    }
  }
  device.machine.source = model::TopologySource::kKoordinator;
  const auto fields = object(spec, reading);
  if (!fields) return;
  const Reading::Step in_spec(reading, spec.name);
  const auto [devices] = pick<1>(*fields, {string_view("devices")}, reading);
  const auto items = array(devices, reading);
  if (!items) return;
  const Reading::Step in_list(reading, devices.name);
  FoundDevices found;
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index);
    if (index++ >= kMostDevices || reading.failed()) break;
    read_device(found, item, product, reading);
  }
  join(device.machine, found);
}

core::Result<std::vector<model::DeviceClaim>> read_koordinator_pod(string_view json) {
  constexpr std::size_t kMostClaims = 256;
  JsonDocument document;
  std::string bytes(json);
  const auto root = document.parse(bytes);
  if (!root) return tl::unexpected(root.error());
  Reading reading;
  std::vector<model::DeviceClaim> claims;
  const auto fields = object(Field{{}, true, *root}, reading);
  if (!fields) return tl::unexpected(reading.error());
  const auto [gpus] = pick<1>(*fields, {string_view("gpu")}, reading);
  if (const auto items = array(gpus, reading)) {
    const Reading::Step in_list(reading, gpus.name);
    std::size_t index = 0;
    for (const simdjson::dom::element item : *items) {
      const Reading::Step in_item(reading, index);
      if (index++ >= kMostClaims || reading.failed()) break;
      if (auto claim = read_claim(item, reading)) add_claim(claims, *std::move(claim));
    }
  }
  if (reading.failed()) return tl::unexpected(reading.error());
  return claims;
}

}  // namespace berth::codec
