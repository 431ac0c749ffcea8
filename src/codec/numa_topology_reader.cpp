#include "numa_topology_reader.h"

#include <algorithm>
#include <string_view>

#include "told_gpus.h"

namespace berth::codec {
namespace {

using std::string_view;

constexpr std::size_t kMostZones = 256;
constexpr std::int64_t kMostZoneGpus = 4096;

// Capacity of `resource` in a zone, 0 if it has none.
std::int64_t read_count(const Field& resources, string_view resource, Reading& reading) {
  const auto items = array(resources, reading);
  if (!items) return 0;
  const Reading::Step in_list(reading, resources.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    const auto fields = item_object(item, reading);
    if (!fields) return 0;
    const auto [name, capacity] = pick<2>(*fields, {string_view("name"), "capacity"}, reading);
    if (text(name, reading) == resource) return std::min(quantity(capacity, reading), kMostZoneGpus);
  }
  return 0;
}

// 3 of "node-3", -1 for any other name.
std::int8_t read_number(string_view name) {
  constexpr string_view kPrefix = "node-";
  if (!name.starts_with(kPrefix)) return -1;
  return numa_node(whole_number(name.substr(kPrefix.size())).value_or(-1));
}

}  // namespace

void read_into(NumaTopology& topology, simdjson::dom::object json, const model::ResourceNames& resources,
               Reading& reading) {
  const auto [metadata, zones] = pick<2>(json, {string_view("metadata"), "zones"}, reading);
  if (const auto fields = object(metadata, reading)) {
    const Reading::Step step(reading, metadata.name);
    const auto [name] = pick<1>(*fields, {string_view("name")}, reading);
    topology.node = text(name, reading);
  }
  topology.machine.source = model::TopologySource::kNodeResourceTopology;
  const auto items = array(zones, reading);
  if (!items) return;
  const Reading::Step in_zones(reading, zones.name);
  std::vector<std::int32_t>& counts = topology.machine.numa_gpus;
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_zone(reading, index);
    if (index++ >= kMostZones) break;
    const auto zone = item_object(item, reading);
    if (!zone) return;
    const auto [name, type, amounts] = pick<3>(*zone, {string_view("name"), "type", "resources"}, reading);
    const std::int8_t numa = read_number(text(name, reading));
    if (text(type, reading) != "Node" || numa < 0) continue;
    const std::int64_t gpus = read_count(amounts, resources.gpu, reading);
    if (gpus == 0) continue;
    const auto at = static_cast<std::size_t>(numa);
    if (counts.size() <= at) counts.resize(at + 1);
    counts[at] = static_cast<std::int32_t>(gpus);
  }
}

}  // namespace berth::codec
