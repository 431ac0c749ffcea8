#include "berth/model/dataset.h"

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
  const auto slash = reference.find('/');
  const std::string_view first = reference.substr(0, slash);
  const bool names_registry =
      slash != std::string_view::npos && (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  const bool names_version = reference.substr(reference.rfind('/') + 1).find_first_of(":@") != std::string_view::npos;
  constexpr std::hash<std::string_view> kHash;
  if (names_registry && names_version) return kHash(reference);
  std::string full(reference);
  if (!names_registry) full.insert(0, slash == std::string_view::npos ? "docker.io/library/" : "docker.io/");
  if (!names_version) full += ":latest";
  return kHash(full);
}

}  // namespace berth::model
