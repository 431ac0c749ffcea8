#include "berth/codec/alluxio.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "json_document.h"
#include "json_fields.h"

namespace berth::codec {
namespace {

constexpr std::size_t kMostWorkers = 10'000;
constexpr std::int64_t kMostCached = std::numeric_limits<std::int64_t>::max();

// nullopt if it is not there.
std::optional<std::int64_t> byte_count(const Field& field, Reading& reading) {
  if (!field.given) return std::nullopt;
  std::int64_t whole = 0;
  double number = 0;
  if (field.value.get(whole) == simdjson::SUCCESS) {
    number = static_cast<double>(whole);
  } else if (field.value.get(number) == simdjson::SUCCESS) {
    whole = number < 0x1p63 ? static_cast<std::int64_t>(std::max(number, 0.0)) : kMostCached;
  } else {
    reading.fail(wrong_type("a number", field.value), field.name);
    return std::nullopt;
  }
  if (number < 0) {
    reading.fail("must not be negative", field.name);
    return std::nullopt;
  }
  return whole;
}

std::string_view host_of(const Field& address, Reading& reading) {
  const auto fields = object(address, reading);
  if (!fields) return {};
  const Reading::Step step(reading, address.name);
  const auto [host] = pick<1>(*fields, {std::string_view("host")}, reading);
  return text(host, reading);
}

// The list of that name, at the top or one object deeper.
Field find_workers(simdjson::dom::object answer, Reading& reading) {
  constexpr std::string_view kWorkers = "workers";
  auto [workers] = pick<1>(answer, {kWorkers}, reading);
  if (workers.given) return workers;
  for (const auto& [key, value] : answer) {
    simdjson::dom::object inner;
    if (value.get(inner) != simdjson::SUCCESS) continue;
    auto [found] = pick<1>(inner, {kWorkers}, reading);
    if (found.given && found.value.is_array()) return found;
  }
  reading.fail("is missing", kWorkers);
  return workers;
}

}  // namespace

core::Result<std::vector<model::WorkerBytes>> read_master_info(std::string& json) {
  JsonDocument document;
  const auto root = document.parse(json);
  if (!root) return tl::unexpected(root.error());
  simdjson::dom::object answer;
  if (root->get(answer) != simdjson::SUCCESS) {
    return core::fail(core::ErrorCode::kInvalid, wrong_type("an object", *root));
  }
  Reading reading;
  const Field workers = find_workers(answer, reading);
  const auto items = array(workers, reading);
  if (reading.failed()) return tl::unexpected(reading.error());

  const Reading::Step in_list(reading, workers.name);
  std::vector<model::WorkerBytes> found;
  std::unordered_map<std::string_view, std::size_t> by_host;
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index);
    if (index++ == kMostWorkers) {
      return core::fail(core::ErrorCode::kTooLarge, "has more than " + std::to_string(kMostWorkers) + " entries",
                        std::string(workers.name));
    }
    const auto worker = item_object(item, reading);
    if (!worker) break;
    const auto [address, used] = pick<2>(*worker, {std::string_view("address"), "usedBytes"}, reading);
    const std::string_view host = host_of(address, reading);
    const auto bytes = byte_count(used, reading);
    if (host.empty() || !bytes) continue;
    const auto [place, is_new] = by_host.try_emplace(host, found.size());
    if (is_new) found.push_back({std::string(host), 0});
    std::int64_t& sum = found[place->second].bytes;
    sum = *bytes > kMostCached - sum ? kMostCached : sum + *bytes;
  }
  if (reading.failed()) return tl::unexpected(reading.error());
  return found;
}

}  // namespace berth::codec
