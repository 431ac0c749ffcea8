#include "pod_containers.h"

#include <string>
#include <utility>

#include "berth/model/resources.h"

namespace berth::codec {
namespace {

// Null for a resource that is no part of a GPU; one without a profile's name is none either.
std::optional<PartAmount> part_of(std::string_view resource, const model::ResourceNames& resources) {
  // "cpu", "memory" and their like, which nearly all are.
  if (resource.find('/') == std::string_view::npos) return std::nullopt;
  for (const model::ShareResource& share : resources.shares) {
    if (share.name == resource) return PartAmount{&share, {}, 0};
  }
  const std::string_view prefix = resources.mig_prefix;
  if (prefix.empty() || !resource.starts_with(prefix) || resource.size() == prefix.size()) return std::nullopt;
  return PartAmount{nullptr, resource.substr(prefix.size()), 0};
}

bool same_part(const PartAmount& a, const PartAmount& b) { return a.share == b.share && a.profile == b.profile; }

bool has(const std::vector<PartAmount>& parts, const PartAmount& part) {
  return std::any_of(parts.begin(), parts.end(), [&](const PartAmount& one) { return same_part(one, part); });
}

}  // namespace

GpuAmounts gpu_amounts(const Field& amounts, const model::ResourceNames& resources, Reading& reading) {
  GpuAmounts found;
  const auto fields = object(amounts, reading);
  if (!fields) return found;
  const Reading::Step step(reading, amounts.name);
  for (const auto& [key, value] : *fields) {
    if (value.is_null()) continue;
    const Field field{key, true, value};
    if (key == resources.gpu) {
      if (found.gpus) reading.fail("is given twice", key);
      found.gpus = quantity(field, reading);
    } else if (auto part = part_of(key, resources)) {
      if (has(found.parts, *part)) reading.fail("is given twice", key);
      if (found.parts.size() == kMostParts) {
        reading.fail("is one more than " + std::to_string(kMostParts) + " different parts of GPUs", key);
        break;
      }
      part->amount = quantity(field, reading);
      found.parts.push_back(*part);
    }
  }
  return found;
}

Amounts read_amounts(const Field& amounts, Reading& reading) {
  Amounts found;
  const auto fields = object(amounts, reading);
  if (!fields) return found;
  const Reading::Step step(reading, amounts.name);
  const auto take = [&](std::optional<std::int64_t>& into, const Field& field, auto parse) {
    if (into) reading.fail("is given twice", field.name);
    into = parse(field, reading);
  };
  for (const auto& [key, value] : *fields) {
    if (value.is_null()) continue;
    const Field field{key, true, value};
    if (key == "cpu") {
      take(found.cpu_milli, field, milli_quantity);
    } else if (key == "memory") {
      take(found.memory_bytes, field, capped_quantity);
    } else if (key == "ephemeral-storage") {
      take(found.ephemeral_storage_bytes, field, capped_quantity);
    } else if (key == "pods") {
      take(found.pods, field, capped_quantity);
    } else if (model::is_scalar_resource(key)) {
      if (std::ranges::find(found.scalars, key, &NamedAmount::name) != found.scalars.end()) {
        reading.fail("is given twice", key);
      }
      if (found.scalars.size() == kMostScalars) {
        reading.fail("is one more than " + std::to_string(kMostScalars) + " different resources", key);
        break;
      }
      found.scalars.push_back({key, capped_quantity(field, reading)});
    }
  }
  return found;
}

void fill_in(Amounts& amounts, const Amounts& defaults) {
  if (!amounts.cpu_milli) amounts.cpu_milli = defaults.cpu_milli;
  if (!amounts.memory_bytes) amounts.memory_bytes = defaults.memory_bytes;
  if (!amounts.ephemeral_storage_bytes) amounts.ephemeral_storage_bytes = defaults.ephemeral_storage_bytes;
  for (const NamedAmount& one : defaults.scalars) {
    const bool given = std::ranges::find(amounts.scalars, one.name, &NamedAmount::name) != amounts.scalars.end();
    if (!given) amounts.scalars.push_back(one);
  }
}

std::optional<Container> read_container(simdjson::dom::element item, const model::ResourceNames& resources_known,
                                        Reading& reading) {
  const auto fields = item_object(item, reading);
  if (!fields) return std::nullopt;
  const auto [name, image, resources, restart, env, ports] =
      pick<6>(*fields, {std::string_view("name"), "image", "resources", "restartPolicy", "env", "ports"}, reading);
  Container container;
  container.name = text(name, reading);
  container.image = text(image, reading);
  container.restarts = text(restart, reading) == "Always";
  container.env = env;
  container.ports = ports;
  if (const auto found = object(resources, reading)) {
    const Reading::Step in_resources(reading, "resources");
    const auto [requests, limits] = pick<2>(*found, {std::string_view("requests"), "limits"}, reading);
    // The API server copies a limit without a request into the requests; a manifest has not been there yet.
    const GpuAmounts limited = gpu_amounts(limits, resources_known, reading);
    GpuAmounts asked = gpu_amounts(requests, resources_known, reading);
    container.gpus = asked.gpus.value_or(limited.gpus.value_or(0));
    container.parts = std::move(asked.parts);
    for (const PartAmount& part : limited.parts) {
      if (!has(container.parts, part)) container.parts.push_back(part);
    }
    container.requests = read_amounts(requests, reading);
    fill_in(container.requests, read_amounts(limits, reading));
  }
  return container;
}

}  // namespace berth::codec
