#include "resource_slice_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "told_gpus.h"

namespace berth::codec {
namespace {

using model::Gpu;
using std::string_view;
using Object = simdjson::dom::object;

constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();

// "gpu-3" and what follows it, "-mig-..." of a partition.
struct DeviceName {
  std::int64_t minor = 0;
  string_view rest;
};
std::optional<DeviceName> parse_name(string_view name) {
  constexpr string_view kPrefix = "gpu-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::size_t end = std::min(name.find('-'), name.size());
  const auto minor = whole_number(name.substr(0, end));
  if (!minor || *minor < 0) return std::nullopt;
  return DeviceName{*minor, name.substr(end)};
}

// An attribute is an object with one field for its type: {"string": "..."}.
template <class Get>
auto attribute(const Field& field, string_view type, Reading& reading, Get get) {
  const auto fields = object(field, reading);
  const Reading::Step step(reading, field.name);
  Field value{type, false, {}};
  if (fields) value = pick<1>(*fields, {type}, reading)[0];
  return get(value);
}
std::string text_attribute(const Field& field, Reading& reading) {
  return attribute(field, "string", reading, [&](const Field& value) { return short_name(value, reading); });
}
std::int8_t numa_attribute(const Field& field, Reading& reading) {
  return attribute(field, "int", reading, [&](const Field& value) {
    return value.given ? numa_node(number(value, -1, kMostNumber, reading)) : std::int8_t{-1};
  });
}

// The amount of memory in bytes, and the first memory slice of a partition.
struct Capacity {
  std::int64_t bytes = 0;
  std::int8_t start = -1;
};
Capacity read_capacity(const Field& capacity, Reading& reading) {
  Capacity found;
  const auto fields = object(capacity, reading);
  if (!fields) return found;
  constexpr string_view kSlice = "memorySlice";
  const Reading::Step step(reading, capacity.name);
  for (const auto& [name, value] : *fields) {
    if (name == "memory") {
      if (const auto amount = object(Field{name, true, value}, reading)) {
        const Reading::Step in_memory(reading, name);
        found.bytes = quantity(pick<1>(*amount, {string_view("value")}, reading)[0], reading);
      }
    } else if (name.starts_with(kSlice)) {
      const std::int64_t slice = whole_number(name.substr(kSlice.size())).value_or(-1);
      if (slice >= 0 && slice < 8 && (found.start < 0 || slice < found.start)) {
        found.start = static_cast<std::int8_t>(slice);
      }
    }
  }
  return found;
}

// A taint that keeps claims away is how the driver says that a GPU is lost or has failed.
bool is_kept_away(const Field& taints, Reading& reading) {
  const auto items = array(taints, reading);
  if (!items) return false;
  const Reading::Step in_list(reading, taints.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    const auto taint = item_object(item, reading);
    if (!taint) return false;
    const auto [effect] = pick<1>(*taint, {string_view("effect")}, reading);
    const string_view what = text(effect, reading);
    if (what == "NoSchedule" || what == "NoExecute") return true;
  }
  return false;
}

void read_device(ResourceSlice& slice, simdjson::dom::element item, Reading& reading) {
  const auto json = item_object(item, reading);
  if (!json) return;
  const auto [name_field, basic] = pick<2>(*json, {string_view("name"), "basic"}, reading);
  // v1beta1 has what the others have directly in a field of its own.
  const auto wrapped = object(basic, reading);
  const auto [attributes_field, capacity_field, taints, counters] =
      pick<4>(wrapped.value_or(*json), {string_view("attributes"), "capacity", "taints", "consumesCounters"}, reading);
  const auto name = parse_name(text(name_field, reading));
  const auto attributes = object(attributes_field, reading);
  if (!name || !attributes) return;
  const Reading::Step in_attributes(reading, attributes_field.name);
  const auto [type, uuid, parent, product, profile, pcie, numa] =
      pick<7>(*attributes,
              {string_view("type"), "uuid", "parentUUID", "productName", "profile", "resource.kubernetes.io/pcieRoot",
               "resource.kubernetes.io/numaNode"},
              reading);
  const bool partition = text_attribute(type, reading) == "mig";
  if (!partition && !name->rest.empty()) return;  // a GPU handed to virtual machines
  // A partition that is made when it is wanted draws on counters of its GPU; there is one for every place.
  if (partition && counters.given) return;
  const bool kept_away = is_kept_away(taints, reading);
  const Capacity capacity = read_capacity(capacity_field, reading);
  Gpu gpu{.uuid = text_attribute(partition ? parent : uuid, reading),
          .product = product_label(text_attribute(product, reading)),
          .memory_mib = partition ? 0 : mib_of(capacity.bytes),
          .healthy = partition || !kept_away,
          .numa = numa_attribute(numa, reading),
          .pcie = text_attribute(pcie, reading),
          .mig = partition,
          .instances = {}};
  if (partition && !kept_away) gpu.instances.push_back({text_attribute(profile, reading), capacity.start});
  slice.devices.push_back({name->minor, std::move(gpu)});
}

}  // namespace

void read_into(ResourceSlice& slice, simdjson::dom::object json, Reading& reading) {
  const auto [metadata, spec] = pick<2>(json, {string_view("metadata"), "spec"}, reading);
  if (const auto fields = object(metadata, reading)) {
    const Reading::Step step(reading, metadata.name);
    const auto [name] = pick<1>(*fields, {string_view("name")}, reading);
    slice.name = text(name, reading);
  }
  const auto fields = object(spec, reading);
  if (!fields) return;
  const Reading::Step in_spec(reading, spec.name);
  const auto [driver, node, pool, devices] =
      pick<4>(*fields, {string_view("driver"), "nodeName", "pool", "devices"}, reading);
  slice.driver = text(driver, reading);
  slice.node = text(node, reading);
  if (!slice.ours()) return;
  if (const auto of_pool = object(pool, reading)) {
    const Reading::Step in_pool(reading, pool.name);
    const auto [name, generation, count] =
        pick<3>(*of_pool, {string_view("name"), "generation", "resourceSliceCount"}, reading);
    slice.pool = text(name, reading);
    slice.generation = number(generation, 0, kMostNumber, reading);
    slice.slices = number(count, 0, kMostNumber, reading);
  }
  const auto items = array(devices, reading);
  if (!items) return;
  const Reading::Step in_devices(reading, devices.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index);
    if (index++ >= kMostDevices || reading.failed()) break;
    read_device(slice, item, reading);
  }
}

std::shared_ptr<const model::Machine> assemble(std::span<const ResourceSlice* const> slices) {
  struct Pool {
    std::int64_t generation = -1;
    std::int64_t wanted = 0;
    std::vector<const ResourceSlice*> newest;
  };
  std::map<string_view, Pool> pools;
  for (const ResourceSlice* const slice : slices) {
    Pool& pool = pools[slice->pool];
    if (slice->generation < pool.generation) continue;
    if (slice->generation > pool.generation) pool = {slice->generation, slice->slices, {}};
    pool.newest.push_back(slice);
  }
  std::map<std::int64_t, Gpu> gpus;
  for (const auto& [name, pool] : pools) {
    if (static_cast<std::int64_t>(pool.newest.size()) < pool.wanted) return nullptr;
    for (const ResourceSlice* const slice : pool.newest) {
      for (const ResourceSlice::Device& device : slice->devices) {
        const auto [at, first] = gpus.emplace(device.minor, device.gpu);
        if (first) continue;
        Gpu& gpu = at->second;
        gpu.healthy = gpu.healthy && device.gpu.healthy;
        gpu.mig = gpu.mig || device.gpu.mig;
        gpu.memory_mib = std::max(gpu.memory_mib, device.gpu.memory_mib);
        gpu.instances.insert(gpu.instances.end(), device.gpu.instances.begin(), device.gpu.instances.end());
      }
    }
  }
  auto machine = std::make_shared<model::Machine>();
  machine->source = model::TopologySource::kResourceSlices;
  machine->gpus = by_index(std::move(gpus));
  for (Gpu& gpu : machine->gpus) {
    std::ranges::sort(gpu.instances, {},
                      [](const model::MigInstance& one) { return std::pair(one.start, one.profile); });
  }
  return machine;
}

}  // namespace berth::codec
