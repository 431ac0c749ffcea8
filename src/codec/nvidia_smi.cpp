#include "berth/codec/nvidia_smi.h"

#include <algorithm>
#include <array>
#include <optional>

#include "berth/core/text.h"
#include "text_lines.h"

namespace berth::codec {
namespace {

using core::ErrorCode;
using core::trimmed;

// More of anything than this is no machine.
constexpr std::size_t kMostRows = 1'024;
constexpr int kMostSmiGpus = 256;
constexpr std::size_t kLongestWord = 128;

constexpr std::string_view kLostHandle = "Unable to determine the device handle for";

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// "00000000:1B:00.0" as "0000:1b:00.0"; empty if it is none.
std::string bus_id(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || text.size() - colon != 8) return {};
  std::string_view domain = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);  // "1B:00.0"
  if (!is_hex(domain) || domain.size() > 8 || !is_hex(rest.substr(0, 2)) || rest[2] != ':' ||
      !is_hex(rest.substr(3, 2)) || rest[5] != '.' || !is_hex(rest.substr(6))) {
    return {};
  }
  while (domain.size() > 4 && domain.front() == '0') domain.remove_prefix(1);
  std::string id = std::string(domain) + ":" + std::string(rest);
  std::ranges::transform(id, id.begin(), [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
  return id;
}

// The first thing in a line that looks like a bus id.
std::string bus_id_in(std::string_view line) {
  // "GPU 0000:09:00.0: Unknown Error", "GPU0000:65:00.0: ...", "GPU0: 0000:65:00.0: ..."
  for (std::size_t at = 0; at < line.size(); ++at) {
    const auto end = line.find(':', at);
    if (end == std::string_view::npos || end + 8 > line.size()) return {};
    auto from = end;
    while (from > at && end - from < 8 && is_hex(line.substr(from - 1, 1))) --from;
    if (std::string found = bus_id(line.substr(from, end + 8 - from)); !found.empty()) return found;
    at = end;
  }
  return {};
}

// As GPU-feature-discovery makes a label of a product's name (internal/lm/resource.go of NVIDIA/k8s-device-plugin).
std::string label_of(std::string_view name) {
  std::string label;
  bool gap = false;
  for (const char c : name) {
    const bool letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == ' ') gap = true;
    if (!letter && c != '-' && c != '_' && c != '.') continue;
    if (gap && !label.empty()) label += '-';
    gap = false;
    label += c;
  }
  return label;
}

// nvidia-smi puts what it can't tell in brackets: "[N/A]", "[Unknown Error]", "[GPU is lost]".
bool told(std::string_view value) { return !value.empty() && value.front() != '[' && value != "N/A"; }
bool lost(std::string_view value) { return value == "[GPU is lost]" || value == "[Unknown Error]"; }

bool no_gpus(std::string_view line) {
  return line.starts_with("No devices were found") ||
         line.find("couldn't communicate with the NVIDIA driver") != std::string_view::npos;
}

// The parts between ", ", or none if they are not five.
std::optional<std::array<std::string_view, 5>> five_fields(std::string_view line) {
  std::array<std::string_view, 5> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == fields.size())) return std::nullopt;
    fields[i] = trimmed(line.substr(0, comma));
    if (fields[i].size() > kLongestWord) return std::nullopt;
    line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  }
  return fields;
}

core::Error too_many(std::string_view what, const TextLines& lines) {
  return {ErrorCode::kTooLarge, "too many " + std::string(what), lines.where()};
}

}  // namespace

core::Result<std::vector<GpuRow>> read_gpu_rows(std::string_view csv) {
  std::vector<std::optional<GpuRow>> by_index;
  std::vector<std::string> gone;  // bus ids, empty if the line has none
  TextLines lines(csv);
  for (std::string_view line; lines.next(line);) {
    line = trimmed(line);
    if (line.empty() || line.starts_with("WARNING")) continue;  // "WARNING: infoROM is corrupted at gpu ..."
    if (no_gpus(line)) return core::fail(ErrorCode::kNotFound, std::string(line.substr(0, 256)));
    if (line.starts_with(kLostHandle)) {
      if (gone.size() == kMostRows) return tl::unexpected(too_many("GPUs", lines));
      gone.push_back(bus_id_in(line.substr(kLostHandle.size())));
      continue;
    }
    const auto fields = five_fields(line);
    if (!fields)
      return core::fail(ErrorCode::kInvalid, "should be five values, " + std::string(kGpuFields), lines.where());
    const auto& [index, uuid, name, memory, bus] = *fields;
    const auto at = lost(index) ? static_cast<std::int64_t>(by_index.size()) : whole_number(index).value_or(-1);
    if (at < 0 || at >= kMostSmiGpus) return core::fail(ErrorCode::kInvalid, "has no index", lines.where());
    const auto place = static_cast<std::size_t>(at);
    if (by_index.size() <= place) by_index.resize(place + 1);
    if (by_index[place]) return core::fail(ErrorCode::kInvalid, "has an index for the second time", lines.where());
    GpuRow row;
    if (told(uuid)) row.uuid = uuid;
    if (told(name)) row.product = label_of(name);
    row.memory_mib = std::max<std::int64_t>(0, told(memory) ? whole_number(memory).value_or(0) : 0);
    row.bus_id = bus_id(bus);
    row.answers = !std::ranges::any_of(*fields, lost);
    by_index[place] = std::move(row);
  }
  if (by_index.empty() && gone.empty()) return core::fail(ErrorCode::kInvalid, "is empty");
  std::vector<GpuRow> rows;
  auto next_gone = gone.begin();
  const auto put_gone = [&] {
    GpuRow row;
    row.answers = false;
    if (next_gone != gone.end()) row.bus_id = std::move(*next_gone++);
    rows.push_back(std::move(row));
  };
  for (auto& row : by_index) {
    if (row) {
      rows.push_back(*std::move(row));
    } else {
      put_gone();
    }
  }
  while (next_gone != gone.end()) put_gone();
  return rows;
}

core::Result<std::vector<GpuDetails>> read_gpu_details(std::string_view text) {
  std::vector<GpuDetails> found;
  std::string_view section;
  std::string_view fabric_state;
  std::string_view clique;
  TextLines lines(text);
  for (std::string_view line; lines.next(line);) {
    if (line.starts_with("GPU ")) {
      const std::string id = bus_id(trimmed(line.substr(4)));
      if (id.empty()) return core::fail(ErrorCode::kInvalid, "should be \"GPU \" and a bus id", lines.where());
      if (found.size() == kMostSmiGpus) return tl::unexpected(too_many("GPUs", lines));
      found.emplace_back().bus_id = id;
      section = {};
      continue;
    }
    if (found.empty()) continue;  // the head: driver, number of GPUs
    GpuDetails& gpu = found.back();
    const auto indent = std::min(line.find_first_not_of(' '), line.size());
    const auto colon = line.find(" : ");
    const std::string_view key = trimmed(line.substr(0, colon));
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view() : trimmed(line.substr(colon + 3));
    if (key.empty()) continue;
    if (indent <= 4) {
      section = value.empty() ? key : std::string_view();
      fabric_state = clique = {};
      if (section == "MIG Device") {
        if (gpu.mig_devices.size() == kMostRows) return tl::unexpected(too_many("partitions", lines));
        gpu.mig_devices.emplace_back();
      }
      if (key == "Minor Number")
        gpu.minor = static_cast<int>(std::clamp<std::int64_t>(whole_number(value).value_or(-1), -1, kMostSmiGpus));
      if (key == "GPU Recovery Action" && (core::has_word(value, "Reset") || core::has_word(value, "Reboot")))
        gpu.usable = false;
    } else if (section == "MIG Mode") {
      if (key == "Current") gpu.mig = value == "Enabled";
    } else if (section == "MIG Device" && indent <= 8) {
      const auto number = static_cast<int>(std::clamp<std::int64_t>(whole_number(value).value_or(-1), -1, 255));
      if (key == "Index") gpu.mig_devices.back().index = number;
      if (key == "GPU Instance ID") gpu.mig_devices.back().gpu_instance = number;
    } else if (section == "Remapped Rows") {
      if (key == "Remapping Failure Occurred" && value == "Yes") gpu.usable = false;
    } else if (section == "Fabric") {
      if (key == "State") fabric_state = value;
      if (key == "CliqueId") clique = value;
      // One machine's NVSwitches are a fabric too, of a cluster without a name.
      if (key == "ClusterUUID" && fabric_state == "Completed" && whole_number(clique) && value.size() <= kLongestWord &&
          told(value) && value.find_first_not_of("0-") != std::string_view::npos) {
        gpu.clique = std::string(value) + "." + std::string(clique);
      }
    }
  }
  if (found.empty()) return core::fail(ErrorCode::kInvalid, "no line begins with \"GPU \" and a bus id");
  return found;
}

core::Result<std::vector<MigName>> read_mig_names(std::string_view text) {
  std::vector<MigName> found;
  int gpu = -1;
  TextLines lines(text);
  for (std::string_view line; lines.next(line);) {
    // GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-...)
    if (line.starts_with("GPU ")) {
      const auto number = whole_number(line.substr(4, std::min(line.find(':'), line.size()) - 4));
      if (!number || *number < 0 || *number >= kMostSmiGpus) {
        return core::fail(ErrorCode::kInvalid, "should be \"GPU \" and an index", lines.where());
      }
      gpu = static_cast<int>(*number);
      continue;
    }
    //   MIG 1g.5gb      Device  0: (UUID: MIG-...)
    std::string_view rest = trimmed(line);
    if (!rest.starts_with("MIG ")) continue;
    const auto device = rest.find(" Device ");
    const auto colon = rest.find(": (UUID: ");
    if (gpu < 0 || device == std::string_view::npos || colon == std::string_view::npos || colon < device + 8 ||
        !rest.ends_with(')') || rest.size() < colon + 10) {
      return core::fail(ErrorCode::kInvalid, "should be \"MIG PROFILE Device N: (UUID: ...)\" below its GPU",
                        lines.where());
    }
    MigName name;
    name.gpu = gpu;
    name.profile = trimmed(rest.substr(4, device - 4));
    const auto index = whole_number(trimmed(rest.substr(device + 8, colon - device - 8)));
    name.uuid = rest.substr(colon + 9, rest.size() - colon - 10);
    if (!index || *index < 0 || *index > 255 || name.profile.size() > kLongestWord || name.uuid.size() > kLongestWord) {
      return core::fail(ErrorCode::kInvalid, "has no device number, or too long a name", lines.where());
    }
    name.index = static_cast<int>(*index);
    if (found.size() == kMostRows) return tl::unexpected(too_many("partitions", lines));
    found.push_back(std::move(name));
  }
  return found;
}

core::Result<std::vector<GpuInstance>> read_gpu_instances(std::string_view text) {
  std::vector<GpuInstance> found;
  TextLines lines(text);
  bool table = false;
  for (std::string_view line; lines.next(line);) {
    line = trimmed(line);
    if (line.starts_with("No GPU instances found") || line.starts_with("No MIG-enabled devices found")) return found;
    if (line.starts_with('+')) table = true;
    // |   0  MIG 1g.5gb          19        9          2:1     |
    const auto mig = line.find(" MIG ");
    if (!line.starts_with('|') || mig == std::string_view::npos) continue;
    std::array<std::string_view, 4> words;  // profile, ID of the profile, ID, place
    std::string_view rest = line.substr(mig + 5);
    for (std::string_view& word : words) {
      rest = trimmed(rest);
      const auto end = std::min(rest.find(' '), rest.size());
      word = rest.substr(0, end);
      rest.remove_prefix(end);
    }
    const auto gpu = whole_number(trimmed(line.substr(1, mig - 1)));
    const auto id = whole_number(words[2]);
    const auto colon = std::min(words[3].find(':'), words[3].size());
    const auto start = whole_number(words[3].substr(0, colon));
    const auto size = whole_number(words[3].substr(std::min(colon + 1, words[3].size())));
    const auto within = [](const auto& number, int least, int most) {
      return number && *number >= least && *number <= most;
    };
    if (!within(gpu, 0, kMostSmiGpus - 1) || !within(id, 0, 255) || !within(start, 0, 7) || !within(size, 1, 8) ||
        *start + *size > 8 || words[0].size() > kLongestWord) {
      return core::fail(ErrorCode::kInvalid, "should be GPU, profile, ID of the profile, ID and START:SIZE",
                        lines.where());
    }
    if (found.size() == kMostRows) return tl::unexpected(too_many("GPU instances", lines));
    found.push_back({static_cast<int>(*gpu), static_cast<int>(*id), std::string(words[0]), static_cast<int>(*start),
                     static_cast<int>(*size)});
  }
  if (!table) return core::fail(ErrorCode::kInvalid, "is no table of GPU instances");
  return found;
}

}  // namespace berth::codec
