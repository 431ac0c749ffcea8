#include "berth/model/dataset.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "berth/core/text.h"
#include "berth/model/node.h"

namespace berth::model {
namespace {

// A label's name may have 63 characters; Fluid counts its prefix in.
constexpr std::size_t kLongestKey = 62;

std::string label(std::string prefix, const DatasetRef& dataset, std::string_view uid) {
  std::string key = prefix + dataset.ns + "-" + dataset.name;
  if (key.size() <= kLongestKey || uid.empty()) return key;
  return prefix.append(uid);
}

}  // namespace

std::optional<DatasetRef> parse_dataset_ref(std::string_view text, std::string_view ns) {
  const auto slash = text.find('/');
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (!core::is_name(name) || (slash != std::string_view::npos && !core::is_name(text.substr(0, slash))))
    return std::nullopt;
  return DatasetRef{std::string(slash == std::string_view::npos ? ns : text.substr(0, slash)), std::string(name)};
}

std::string worker_label(const DatasetRef& dataset, std::string_view uid) { return label("fluid.io/s-", dataset, uid); }

std::string runtime_label(const DatasetRef& dataset, std::string_view uid, std::string_view runtime) {
  return label("fluid.io/s-" + std::string(runtime) + "-", dataset, uid);
}

std::string fuse_label(const DatasetRef& dataset, std::string_view uid) { return label("fluid.io/f-", dataset, uid); }

std::uint64_t image_id(std::string_view reference) {
  constexpr std::string_view kHub = "docker.io";
  constexpr std::hash<std::string_view> kHash;
  const auto at = reference.find('@');
  std::string_view name = reference.substr(0, at);
  const auto last = name.rfind('/');
  const auto colon = name.find(':', last == std::string_view::npos ? 0 : last);
  const std::string_view tag = colon == std::string_view::npos ? std::string_view() : name.substr(colon);
  name = name.substr(0, colon);
  const auto slash = name.find('/');
  const std::string_view first = name.substr(0, slash);
  const bool names_registry =
      slash != std::string_view::npos && (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  const bool on_hub = !names_registry || first == kHub;
  if (!on_hub && tag.empty() != (at == std::string_view::npos)) return kHash(reference);

  std::string full(on_hub ? kHub : std::string_view());
  const std::string_view path = names_registry && on_hub ? name.substr(slash + 1) : name;
  if (on_hub) full += path.find('/') == std::string_view::npos ? "/library/" : "/";
  full += path;
  if (at != std::string_view::npos) {
    full += reference.substr(at);
  } else {
    full += tag.empty() ? std::string_view(":latest") : tag;
  }
  return kHash(full);
}

std::string age_text(core::WallTime observed, core::WallTime now) {
  const auto age = std::chrono::floor<std::chrono::seconds>(now - observed).count();
  const std::int64_t seconds = std::max<std::int64_t>(0, age);
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 7'200) return std::to_string(seconds / 60) + "m";
  if (seconds < 172'800) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86'400) + "d";
}

}  // namespace berth::model
