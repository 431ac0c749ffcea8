#include "pod_containers.h"

namespace berth::codec {

std::optional<std::int64_t> amount(const Field& amounts, std::string_view resource, Reading& reading) {
  const auto fields = object(amounts, reading);
  if (!fields) return std::nullopt;
  const Reading::Step step(reading, amounts.name);
  const auto [gpus] = pick<1>(*fields, {resource}, reading);
  if (!gpus.given) return std::nullopt;
  return quantity(gpus, reading);
}

std::optional<Container> read_container(simdjson::dom::element item, std::string_view gpu_resource, Reading& reading) {
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
    const auto limit = amount(limits, gpu_resource, reading);
    container.gpus = amount(requests, gpu_resource, reading).value_or(limit.value_or(0));
  }
  return container;
}

}  // namespace berth::codec
