#include "berth/codec/machine_json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "json_document.h"
#include "json_fields.h"

namespace berth::codec {
namespace {

using core::ErrorCode;
using model::Link;

constexpr std::size_t kMostMachineBytes = std::size_t{256} << 10U;
constexpr std::size_t kMostPods = 4096;
constexpr std::size_t kMostSlices = 8;
constexpr std::size_t kMostNameBytes = 253;
constexpr std::int64_t kMostMemoryMib = std::int64_t{1} << 30U;
constexpr std::int64_t kVersion = 1;

std::string name_of(const Field& field, Reading& reading) {
  const std::string_view name = text(field, reading);
  if (name.size() > kMostNameBytes) reading.fail("is longer than 253 bytes", field.name);
  return std::string(name.substr(0, kMostNameBytes));
}

std::string needed_name(const Field& field, Reading& reading) {
  std::string name = name_of(field, reading);
  if (name.empty()) reading.fail("is missing", field.name);
  return name;
}

bool boolean(const Field& field, bool otherwise, Reading& reading) {
  bool value = otherwise;
  if (field.given && field.value.get(value) != simdjson::SUCCESS) {
    reading.fail(wrong_type("a boolean", field.value), field.name);
  }
  return value;
}

std::int8_t small_number(const Field& field, std::int64_t most, Reading& reading) {
  return static_cast<std::int8_t>(field.given ? number(field, 0, most, reading) : -1);
}

// A whole number that stands in a list.
std::int64_t listed_number(simdjson::dom::element value, std::int64_t least, std::int64_t most, Reading& reading) {
  return number(Field{{}, true, value}, least, most, reading);
}

// Reads the items of a list with `read(item)`, at most `most` of them.
template <class Read>
void each_item(const Field& field, std::size_t most, Reading& reading, const Read& read) {
  const auto list = array(field, reading);
  if (!list) return;
  const Reading::Step in_list(reading, field.name);
  if (list->size() > most) {
    reading.fail("has " + std::to_string(list->size()) + " items; at most " + std::to_string(most) + " are read");
    return;
  }
  std::size_t index = 0;
  for (const auto item : *list) {
    const Reading::Step in_item(reading, index++);
    read(item);
    if (reading.failed()) return;
  }
}

// A list of `size` items, which all have to be there.
std::optional<simdjson::dom::array> tuple_of(simdjson::dom::element item, std::size_t size, std::string_view wanted,
                                             Reading& reading) {
  simdjson::dom::array list;
  if (item.get(list) == simdjson::SUCCESS && list.size() == size) return list;
  reading.fail("must be " + std::string(wanted));
  return std::nullopt;
}

Link link_of(simdjson::dom::element item, Reading& reading) {
  std::string_view name;
  if (item.get(name) == simdjson::SUCCESS) {
    if (const auto link = model::parse_link(name)) return *link;
  }
  reading.fail("must be one of NV1 to NV99, PIX, PXB, PHB, NODE and SYS");
  return Link::kSys;
}

void read_gpus(model::Machine& machine, const Field& field, Reading& reading) {
  each_item(field, model::kMaxGpus, reading, [&](simdjson::dom::element item) {
    const auto object = item_object(item, reading);
    if (!object) return;
    const auto [uuid, product, memory, healthy, numa, pcie, mig, instances] =
        pick<8>(*object, {"uuid", "product", "memoryMiB", "healthy", "numa", "pcie", "mig", "instances"}, reading);
    model::Gpu gpu;
    gpu.uuid = name_of(uuid, reading);
    gpu.product = name_of(product, reading);
    gpu.memory_mib = number(memory, 0, kMostMemoryMib, reading);
    gpu.healthy = boolean(healthy, true, reading);
    gpu.numa = small_number(numa, 127, reading);
    gpu.pcie = name_of(pcie, reading);
    gpu.mig = boolean(mig, false, reading);
    each_item(instances, kMostSlices, reading, [&](simdjson::dom::element made) {
      const auto instance = item_object(made, reading);
      if (!instance) return;
      const auto [profile, start] = pick<2>(*instance, {"profile", "start"}, reading);
      gpu.instances.push_back({needed_name(profile, reading), small_number(start, kMostSlices - 1, reading)});
    });
    machine.gpus.push_back(std::move(gpu));
  });
}

void read_links(model::Machine& machine, const Field& field, Reading& reading) {
  if (!field.given) return;
  const auto gpus = static_cast<int>(machine.gpus.size());
  const auto pairs = static_cast<std::size_t>(gpus) * (machine.gpus.size() - 1) / 2;
  if (gpus == 0) {
    reading.fail("are of GPUs, and there are none", field.name);
    return;
  }
  model::LinkMatrix links;
  links.gpus = gpus;
  std::size_t given = 0;
  each_item(field, pairs, reading, [&](simdjson::dom::element item) {
    const auto pair = tuple_of(item, 3, "two GPUs and their link, [0,1,\"NV18\"]", reading);
    if (!pair) return;
    const auto a = static_cast<int>(listed_number(pair->at(0), 0, gpus - 1, reading));
    const auto b = static_cast<int>(listed_number(pair->at(1), 0, gpus - 1, reading));
    if (a == b) reading.fail("is no pair of GPUs");
    if (links.at(a, b) != Link::kSelf) reading.fail("is given twice");
    const Link link = link_of(pair->at(2), reading);
    if (reading.failed()) return;
    links.set(a, b, link);
    ++given;
  });
  if (given != pairs) {
    reading.fail("has " + std::to_string(given) + " of " + std::to_string(pairs) + " pairs", field.name);
  }
  machine.links = links;
}

void read_nics(model::Machine& machine, const Field& field, Reading& reading) {
  each_item(field, model::kMaxNics, reading, [&](simdjson::dom::element item) {
    const auto object = item_object(item, reading);
    if (!object) return;
    const auto [name, links] = pick<2>(*object, {"name", "links"}, reading);
    model::Nic nic;
    nic.name = needed_name(name, reading);
    std::size_t gpu = 0;
    each_item(links, machine.gpus.size(), reading, [&](simdjson::dom::element link) {
      nic.links[gpu++] = link.is_null() ? Link::kSelf : link_of(link, reading);
    });
    machine.nics.push_back(std::move(nic));
  });
}

void check_version(const Field& field, Reading& reading) {
  if (!field.given) {
    reading.fail("is missing", field.name);
  } else if (number(field, 0, INT64_MAX, reading) != kVersion) {
    reading.fail("is not one that this Berth reads; it reads 1", field.name);
  }
}

// The GPUs in the list, each once.
model::GpuMask read_gpu_set(const Field& field, Reading& reading) {
  model::GpuMask set = 0;
  each_item(field, model::kMaxGpus, reading, [&](simdjson::dom::element item) {
    const model::GpuMask bit = model::GpuMask{1} << listed_number(item, 0, model::kMaxGpus - 1, reading);
    if ((set & bit) != 0) reading.fail("is given twice");
    set |= bit;
  });
  return set;
}

void read_slots(std::vector<model::MigSlot>& slots, const Field& field, Reading& reading) {
  each_item(field, kMostSlices * model::kMaxGpus, reading, [&](simdjson::dom::element item) {
    const auto slot = tuple_of(item, 3, "GPU, start and size, [0,4,2]", reading);
    if (!slot) return;
    const auto at = [&](std::size_t i, std::int64_t least, std::int64_t most) {
      return static_cast<std::int8_t>(listed_number(slot->at(i), least, most, reading));
    };
    const model::MigSlot read{at(0, 0, model::kMaxGpus - 1), at(1, 0, kMostSlices - 1), at(2, 1, kMostSlices)};
    if (static_cast<std::size_t>(read.start + read.size) > kMostSlices) reading.fail("ends past the last slice, 7");
    slots.push_back(read);
  });
  std::ranges::sort(slots, {}, [](const model::MigSlot& slot) { return std::tie(slot.gpu, slot.start, slot.size); });
}

void read_pods(model::GpuHolders& holders, const Field& field, Reading& reading) {
  each_item(field, kMostPods, reading, [&](simdjson::dom::element item) {
    const auto object = item_object(item, reading);
    if (!object) return;
    const auto [ns, pod, gpus, slots] = pick<4>(*object, {"namespace", "pod", "gpus", "slots"}, reading);
    model::GpuHolder holder;
    holder.ns = needed_name(ns, reading);
    holder.pod = needed_name(pod, reading);
    holder.holds.gpus = read_gpu_set(gpus, reading);
    read_slots(holder.holds.slots, slots, reading);
    holders.pods.push_back(std::move(holder));
  });
  std::ranges::sort(holders.pods, {}, [](const model::GpuHolder& holder) { return std::tie(holder.ns, holder.pod); });
  const auto twice = std::ranges::adjacent_find(
      holders.pods, [](const auto& a, const auto& b) { return a.ns == b.ns && a.pod == b.pod; });
  if (twice != holders.pods.end()) reading.fail("has " + twice->ns + "/" + twice->pod + " twice", field.name);
}

// Parses `json` and fills what `read(object, reading)` makes of it.
template <class T, class Read>
core::Result<T> read_object(std::string_view json, const Read& read) {
  if (json.size() > kMostMachineBytes) {
    return core::fail(ErrorCode::kTooLarge, "is " + std::to_string(json.size()) + " bytes; 262144 are read");
  }
  std::string copy;
  copy.reserve(json.size() + simdjson::SIMDJSON_PADDING);
  copy = json;
  JsonDocument document;
  const auto root = document.parse(copy);
  if (!root) return tl::unexpected(root.error());
  simdjson::dom::object object;
  if (root->get(object) != simdjson::SUCCESS) return core::fail(ErrorCode::kInvalid, wrong_type("an object", *root));
  Reading reading;
  T result;
  read(result, object, reading);
  if (reading.failed()) return tl::unexpected(reading.error());
  return result;
}

}  // namespace

core::Result<model::Machine> read_machine(std::string_view json) {
  return read_object<model::Machine>(json, [](model::Machine& machine, simdjson::dom::object object, Reading& reading) {
    const auto [version, at, gpus, links, nics, clique] =
        pick<6>(object, {"version", "at", "gpus", "links", "nics", "clique"}, reading);
    check_version(version, reading);
    if (reading.failed()) return;
    machine.source = model::TopologySource::kAgent;
    machine.at = timestamp(at, reading);
    read_gpus(machine, gpus, reading);
    if (reading.failed()) return;
    read_links(machine, links, reading);
    read_nics(machine, nics, reading);
    machine.clique = name_of(clique, reading);
  });
}

core::Result<model::GpuHolders> read_holders(std::string_view json) {
  return read_object<model::GpuHolders>(
      json, [](model::GpuHolders& holders, simdjson::dom::object object, Reading& reading) {
        const auto [version, at, pods] = pick<3>(object, {"version", "at", "pods"}, reading);
        check_version(version, reading);
        if (reading.failed()) return;
        holders.at = timestamp(at, reading);
        read_pods(holders, pods, reading);
      });
}

}  // namespace berth::codec
