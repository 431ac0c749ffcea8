#include "hami.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "json_document.h"
#include "json_fields.h"
#include "told_gpus.h"

namespace berth::codec {
namespace {

using core::ErrorCode;
using model::Gpu;
using model::Link;
using std::string_view;

constexpr std::int64_t kMostMib = std::int64_t{1} << 30U;
constexpr std::size_t kMostAnnotationBytes = std::size_t{256} << 10U;

// "NVIDIA-NVIDIA A40" in releases that put the vendor in front of NVML's name.
std::string product_of(string_view type) {
  constexpr string_view kVendor = "NVIDIA-";
  if (type.starts_with(kVendor)) {
    const string_view name = type.substr(kVendor.size());
    // Names with a blank are NVML's; without one the dash may be the name's own.
    if (name.starts_with("NVIDIA") || name.starts_with("Tesla ")) type = name;
  }
  return product_label(type);
}

struct Device {
  std::int64_t index = 0;
  Gpu gpu;
};

// Older releases tell no index, so that all are 0: then the order of the list counts.
std::vector<Gpu> in_order(std::vector<Device> devices) {
  std::map<std::int64_t, Gpu> by;
  for (const Device& device : devices) by.emplace(device.index, device.gpu);
  if (by.size() != devices.size()) {
    by.clear();
    for (Device& device : devices) by.emplace(static_cast<std::int64_t>(by.size()), std::move(device.gpu));
  }
  return by_index(std::move(by));
}

Gpu make_gpu(std::string uuid, string_view type, std::int64_t mib, std::int64_t numa, bool healthy, string_view mode) {
  return {.uuid = std::move(uuid),
          .product = product_of(type),
          .memory_mib = mib,
          .healthy = healthy,
          .numa = numa_node(numa),
          .pcie = {},
          .mig = mode == "mig",
          .instances = {}};
}

std::optional<Device> read_device(simdjson::dom::element item, Reading& reading) {
  const auto fields = item_object(item, reading);
  if (!fields) return std::nullopt;
  const auto [id, index, memory, type, numa, mode, health] =
      pick<7>(*fields, {string_view("id"), "index", "devmem", "type", "numa", "mode", "health"}, reading);
  std::string uuid = short_name(id, reading);
  if (uuid.empty()) reading.fail("is missing", "id");
  bool healthy = false;
  if (health.given && health.value.get(healthy) != simdjson::SUCCESS) {
    reading.fail(wrong_type("a boolean", health.value), health.name);
  }
  constexpr std::int64_t kMostIndex = 1 << 20;
  return Device{number(index, 0, kMostIndex, reading),
                make_gpu(std::move(uuid), short_name(type, reading), number(memory, 0, kMostMib, reading),
                         number(numa, -1, kMostIndex, reading), healthy, text(mode, reading))};
}

core::Result<std::vector<Gpu>> read_list(string_view json) {
  JsonDocument document;
  std::string bytes(json);
  const auto root = document.parse(bytes);
  if (!root) return tl::unexpected(root.error());
  Reading reading;
  std::vector<Device> devices;
  if (const auto items = array(Field{{}, true, *root}, reading)) {
    if (items->size() > kMostDevices) return std::vector<Gpu>{};
    std::size_t index = 0;
    for (const simdjson::dom::element item : *items) {
      const Reading::Step in_item(reading, index++);
      if (auto device = read_device(item, reading)) devices.push_back(*std::move(device));
      if (reading.failed()) break;
    }
  }
  if (reading.failed()) return tl::unexpected(reading.error());
  return in_order(std::move(devices));
}

// Calls `take`(part, index) for what stands between separators, empty parts left out.
template <class Take>
void split(string_view text, char separator, Take take) {
  std::size_t index = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) take(text.substr(0, end), index++);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<string_view> fields_of(string_view item) {
  std::vector<string_view> fields;
  while (true) {
    const std::size_t end = item.find(',');
    fields.push_back(item.substr(0, end));
    if (end == string_view::npos || fields.size() > 9) return fields;
    item.remove_prefix(end + 1);
  }
}

tl::unexpected<core::Error> wrong_item(std::size_t index, string_view what) {
  return core::fail(ErrorCode::kInvalid, std::string(what), "[" + std::to_string(index) + "]");
}

core::Result<Device> read_legacy_device(string_view item, std::size_t at) {
  const auto fields = fields_of(item);
  if (fields.size() != 7 && fields.size() != 9) return wrong_item(at, "must have 7 or 9 fields");
  const auto mib = whole_number(fields[2]);
  const auto numa = whole_number(fields[5]);
  const auto index = fields.size() == 9 ? whole_number(fields[7]) : 0;
  if (!mib || *mib < 0 || *mib > kMostMib || !numa || !index || *index < 0) {
    return wrong_item(at, "has a number that can't be read");
  }
  const bool named = !fields[0].empty() && fields[0].size() <= kLongestGpuName && fields[4].size() <= kLongestGpuName;
  if (!named) return wrong_item(at, "has a name that is missing or too long");
  if (fields[6] != "true" && fields[6] != "false") return wrong_item(at, "must say true or false of its health");
  const string_view mode = fields.size() == 9 ? fields[8] : string_view();
  return Device{*index, make_gpu(std::string(fields[0]), fields[4], *mib, *numa, fields[6] == "true", mode)};
}

core::Result<std::vector<Gpu>> read_legacy(string_view text) {
  std::vector<Device> devices;
  std::optional<core::Error> error;
  split(text, ':', [&](string_view item, std::size_t index) {
    if (error || devices.size() >= kMostDevices) return;
    auto device = read_legacy_device(item, index);
    if (device) {
      devices.push_back(*std::move(device));
    } else {
      error = std::move(device.error());
    }
  });
  if (error) return tl::unexpected(*std::move(error));
  return in_order(std::move(devices));
}

// HAMi scores a pair as go-gpuallocator does: 100 for each NVLink, and 10 to 60 for the way over PCIe. A pair without a
// level has met a bug of HAMi's: nothing is known of it.
std::optional<Link> link_of(std::int64_t score) {
  constexpr std::array kLevels = {Link::kSys, Link::kNode, Link::kPhb, Link::kPxb, Link::kPix, Link::kPix};
  if (score >= 100 && score < 1900) return model::nvlink(static_cast<int>(score / 100));
  if (score % 10 == 0 && score >= 10 && score <= 60) return kLevels[static_cast<std::size_t>(score / 10 - 1)];
  return std::nullopt;
}

using Scores = std::map<std::pair<int, int>, std::int64_t>;  // by indices of the GPUs

core::Result<Scores> read_scores(string_view json, const std::vector<Gpu>& gpus) {
  JsonDocument document;
  std::string bytes(json);
  const auto root = document.parse(bytes);
  if (!root) return tl::unexpected(root.error());
  const auto index_of = [&gpus](string_view uuid) {
    const auto found = std::ranges::find(gpus, uuid, &Gpu::uuid);
    return uuid.empty() || found == gpus.end() ? -1 : static_cast<int>(found - gpus.begin());
  };
  Scores scores;
  Reading reading;
  const auto items = array(Field{{}, true, *root}, reading);
  if (!items) return tl::unexpected(reading.error());
  std::size_t at = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, at++);
    const auto fields = item_object(item, reading);
    if (!fields) break;
    const auto [uuid, score] = pick<2>(*fields, {string_view("uuid"), "score"}, reading);
    const int one = index_of(text(uuid, reading));
    const auto pairs = object(score, reading);
    if (one < 0 || !pairs) continue;
    const Reading::Step in_pairs(reading, score.name);
    for (const auto& [peer, value] : *pairs) {
      const int other = index_of(peer);
      const std::int64_t known = number(Field{peer, true, value}, 0, 1 << 20, reading);
      if (other >= 0 && other != one) scores[{one, other}] = known;
    }
    if (reading.failed()) break;
  }
  if (reading.failed()) return tl::unexpected(reading.error());
  return scores;
}

std::optional<model::LinkMatrix> links_of(const Scores& scores, const std::vector<Gpu>& gpus) {
  const int size = static_cast<int>(gpus.size());
  model::LinkMatrix links = model::LinkMatrix::uniform(size, Link::kSys);
  bool nvlink = false;
  for (int a = 0; a < size; ++a) {
    for (int b = a + 1; b < size; ++b) {
      // One that HAMi does not hand out is never chosen.
      if (gpus[static_cast<std::size_t>(a)].uuid.empty() || gpus[static_cast<std::size_t>(b)].uuid.empty()) continue;
      const auto there = scores.find({a, b});
      const auto back = scores.find({b, a});
      if (there == scores.end() || back == scores.end()) return std::nullopt;
      const auto link = link_of(std::min(there->second, back->second));
      if (!link) return std::nullopt;
      links.set(a, b, *link);
      nvlink = nvlink || model::is_nvlink(*link);
    }
  }
  if (!nvlink && size > 1 && has_nvlink(gpus.back().product, size)) return std::nullopt;
  return links;
}

}  // namespace

core::Result<std::shared_ptr<const model::Machine>> read_hami_node(string_view devices, string_view scores) {
  if (devices.size() > kMostAnnotationBytes || scores.size() > kMostAnnotationBytes) {
    return core::fail(ErrorCode::kInvalid, "is longer than " + std::to_string(kMostAnnotationBytes) + " bytes");
  }
  const std::size_t begin = std::min(devices.find_first_not_of(" \t\r\n"), devices.size());
  const bool is_json = begin < devices.size() && devices[begin] == '[';
  auto gpus = is_json ? read_list(devices) : read_legacy(devices);
  if (!gpus) return tl::unexpected(std::move(gpus.error()));
  if (gpus->empty()) return nullptr;
  auto machine = std::make_shared<model::Machine>();
  machine->source = model::TopologySource::kHami;
  machine->gpus = *std::move(gpus);
  if (!scores.empty()) {
    const auto pairs = read_scores(scores, machine->gpus);
    if (!pairs) return tl::unexpected(pairs.error());
    machine->links = links_of(*pairs, machine->gpus);
  }
  return machine;
}

core::Result<std::vector<model::DeviceClaim>> read_hami_pod(string_view allocated) {
  constexpr std::int64_t kMostPercent = 100;
  constexpr std::size_t kMostClaims = 256;
  std::vector<model::DeviceClaim> claims;
  std::optional<core::Error> error;
  split(allocated, ';', [&](string_view container, std::size_t) {
    split(container, ':', [&](string_view item, std::size_t index) {
      if (error || claims.size() >= kMostClaims) return;
      const auto fields = fields_of(item);
      if (fields.size() < 4) {
        error = wrong_item(index, "must have 4 fields").value();
        return;
      }
      if (!fields[1].starts_with("NVIDIA")) return;
      const auto mib = whole_number(fields[2]);
      const auto percent = whole_number(fields[3]);
      // A partition is named by its GPU and a place: "GPU-...[0-1]".
      const string_view uuid = fields[0].substr(0, fields[0].find('['));
      const bool good = mib && *mib >= 0 && *mib <= kMostMib && percent && *percent >= 0 && *percent <= kMostPercent &&
                        !uuid.empty() && uuid.size() <= kLongestGpuName;
      if (!good) {
        error = wrong_item(index, "must be UUID, type, MiB and per cent of cores").value();
        return;
      }
      add_claim(claims, {.uuid = std::string(uuid),
                         .index = -1,
                         .mib = *mib,
                         .milli = static_cast<std::int32_t>(*percent) * 10,
                         .source = model::TopologySource::kHami});
    });
  });
  if (error) return tl::unexpected(*std::move(error));
  return claims;
}

}  // namespace berth::codec
