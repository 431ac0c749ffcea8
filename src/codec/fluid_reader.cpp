#include "fluid_reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "berth/core/quantity.h"
#include "berth/core/text.h"

namespace berth::codec {
namespace {

using std::string_view;
using Json = simdjson::dom::object;

constexpr string_view kReferenceScheme = "dataset://";

// namespace and name, and what `more` reads of the metadata.
template <class More>
void read_metadata(std::string& ns, std::string& name, const Field& metadata, Reading& reading, More more) {
  const auto fields = object(metadata, reading);
  if (!fields) return;
  const Reading::Step step(reading, "metadata");
  const auto [ns_field, name_field] = pick<2>(*fields, {string_view("namespace"), "name"}, reading);
  ns = text(ns_field, reading);
  name = text(name_field, reading);
  more(*fields);
}
void read_metadata(std::string& ns, std::string& name, const Field& metadata, Reading& reading) {
  read_metadata(ns, name, metadata, reading, [](Json) {});
}

// "dataset://NAMESPACE/NAME[/SUBPATH]"; nothing if it is another mount point.
model::DatasetRef parse_reference(string_view mount_point) {
  if (!mount_point.starts_with(kReferenceScheme)) return {};
  mount_point.remove_prefix(kReferenceScheme.size());
  const auto slash = mount_point.find('/');
  if (slash == string_view::npos) return {};
  const string_view ns = mount_point.substr(0, slash);
  string_view name = mount_point.substr(slash + 1);
  name = name.substr(0, name.find('/'));
  if (!core::is_name(ns) || !core::is_name(name)) return {};
  return {std::string(ns), std::string(name)};
}

void read_mounts(model::Dataset& dataset, const Field& mounts, Reading& reading) {
  const auto items = array(mounts, reading);
  if (!items) return;
  const Reading::Step in_list(reading, mounts.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    const auto mount = item_object(item, reading);
    if (!mount) return;
    const auto [point] = pick<1>(*mount, {string_view("mountPoint")}, reading);
    dataset.physical = parse_reference(text(point, reading));
    if (!dataset.physical.name.empty()) return;
  }
}

void read_runtime_type(model::Dataset& dataset, const Field& runtimes, Reading& reading) {
  const auto items = array(runtimes, reading);
  if (!items || items->begin() == items->end()) return;
  const Reading::Step in_list(reading, runtimes.name);
  const Reading::Step in_item(reading, std::size_t{0});
  const auto first = item_object(*items->begin(), reading);
  if (!first) return;
  const auto [type] = pick<1>(*first, {string_view("type")}, reading);
  dataset.runtime = text(type, reading);
}

void read_status(model::Dataset& dataset, Json status, Reading& reading) {
  const Reading::Step step(reading, "status");
  const auto [phase, runtimes, total, states] =
      pick<4>(status, {string_view("phase"), "runtimes", "ufsTotal", "cacheStates"}, reading);
  dataset.phase = text(phase, reading);
  read_runtime_type(dataset, runtimes, reading);
  dataset.total_bytes = core::parse_size(text(total, reading)).value_or(0);
  const auto fields = object(states, reading);
  // Vineyard's percentage is of the cache's capacity.
  if (!fields || dataset.runtime == "vineyard") return;
  const Reading::Step in_states(reading, states.name);
  const auto [cached] = pick<1>(*fields, {string_view("cachedPercentage")}, reading);
  dataset.cached = core::parse_percentage(text(cached, reading));
  if (dataset.cached == 0) dataset.cached.reset();
}

// A value of quota or of an item of quotaList; 0 if it is not to be understood. Kubernetes' "2G" is 2,000,000,000
// bytes, and what Kubernetes does not know ("2GB") is read as Fluid would.
std::int64_t parse_quota(string_view quota) {
  quota = core::trimmed(quota);
  if (const auto bytes = core::parse_quantity(quota)) return std::max<std::int64_t>(*bytes, 0);
  return core::parse_size(quota).value_or(0);
}

// The sum of the levels; 0 where one of them has none, since then no bound is known.
std::int64_t read_quotas(simdjson::dom::array levels, Reading& reading) {
  const Reading::Step in_list(reading, "levels");
  std::int64_t sum = 0;
  std::size_t index = 0;
  const auto add = [&sum](std::int64_t bytes) {
    if (bytes <= 0 || __builtin_add_overflow(sum, bytes, &sum)) sum = -1;
    return sum > 0;
  };
  for (const simdjson::dom::element item : levels) {
    const Reading::Step in_item(reading, index++);
    const auto level = item_object(item, reading);
    if (!level) return 0;
    const auto [quota, list] = pick<2>(*level, {string_view("quota"), "quotaList"}, reading);
    string_view rest = text(list, reading);  // of several paths, in place of quota
    if (rest.empty()) {
      const std::int64_t bytes =
          quota.given && quota.value.is_string() ? parse_quota(text(quota, reading)) : quantity(quota, reading);
      if (!add(bytes)) return 0;
    }
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      if (!add(parse_quota(rest.substr(0, comma)))) return 0;
      rest = comma == string_view::npos ? string_view() : rest.substr(comma + 1);
    }
  }
  return sum;
}

// The dataset behind a claim, by what is told best first: the one a reference dataset refers to, Fluid's own claim of a
// dataset, a user's claim that a dataset wraps.
model::DatasetRef dataset_of(const model::Claim& claim, Json labels, Reading& reading) {
  const Reading::Step step(reading, "labels");
  const auto [referring_name, referring_ns, wrapped_by, managed_by] =
      pick<4>(labels,
              {string_view("fluid.io/dataset.referring-name"), "fluid.io/dataset.referring-namespace",
               "fluid.io/wrapped-by", "fluid.io/managed-by"},
              reading);
  if (const string_view name = text(referring_name, reading); core::is_name(name)) {
    const string_view ns = text(referring_ns, reading);
    return {core::is_name(ns) ? std::string(ns) : claim.ns, std::string(name)};
  }
  for (const auto& [key, value] : labels) {
    if (key.starts_with("fluid.io/s-")) return {claim.ns, claim.name};
  }
  if (const string_view name = text(wrapped_by, reading); core::is_name(name)) return {claim.ns, std::string(name)};
  // Fluid's own objects are managed by "fluid".
  const string_view name = text(managed_by, reading);
  if (core::is_name(name) && name != "fluid") return {claim.ns, std::string(name)};
  return {};
}

}  // namespace

void read_into(model::Dataset& dataset, Json json, Reading& reading) {
  const auto [metadata, spec, status] = pick<3>(json, {string_view("metadata"), "spec", "status"}, reading);
  read_metadata(dataset.ref.ns, dataset.ref.name, metadata, reading, [&](Json fields) {
    const auto [uid] = pick<1>(fields, {string_view("uid")}, reading);
    dataset.uid = text(uid, reading);
  });
  if (const auto fields = object(spec, reading)) {
    const Reading::Step step(reading, "spec");
    const auto [mounts] = pick<1>(*fields, {string_view("mounts")}, reading);
    read_mounts(dataset, mounts, reading);
  }
  if (const auto fields = object(status, reading)) read_status(dataset, *fields, reading);
}

void read_into(model::Claim& claim, Json json, Reading& reading) {
  const auto [metadata, spec] = pick<2>(json, {string_view("metadata"), "spec"}, reading);
  read_metadata(claim.ns, claim.name, metadata, reading, [&](Json fields) {
    const auto [labels] = pick<1>(fields, {string_view("labels")}, reading);
    if (const auto found = object(labels, reading)) claim.dataset = dataset_of(claim, *found, reading);
  });
  const auto fields = object(spec, reading);
  if (!fields || !claim.dataset.name.empty()) return;
  const Reading::Step step(reading, "spec");
  const auto [storage_class] = pick<1>(*fields, {string_view("storageClassName")}, reading);
  if (text(storage_class, reading) == "fluid") claim.dataset = {claim.ns, claim.name};
}

void read_into(model::CacheRuntime& runtime, Json json, Reading& reading) {
  const auto [metadata, spec] = pick<2>(json, {string_view("metadata"), "spec"}, reading);
  read_metadata(runtime.dataset.ns, runtime.dataset.name, metadata, reading);
  const auto fields = object(spec, reading);
  if (!fields) return;
  const Reading::Step step(reading, "spec");
  const auto [replicas, store] = pick<2>(*fields, {string_view("replicas"), "tieredstore"}, reading);
  runtime.workers = static_cast<std::int32_t>(number(replicas, 0, std::numeric_limits<std::int32_t>::max(), reading));
  const auto tiers = object(store, reading);
  if (!tiers) return;
  const Reading::Step in_store(reading, store.name);
  const auto [levels] = pick<1>(*tiers, {string_view("levels")}, reading);
  if (const auto items = array(levels, reading)) runtime.worker_bytes = read_quotas(*items, reading);
}

void read_into(model::DataLoad& load, Json json, Reading& reading) {
  const auto [metadata, spec, status] = pick<3>(json, {string_view("metadata"), "spec", "status"}, reading);
  read_metadata(load.ns, load.name, metadata, reading);
  if (const auto fields = object(spec, reading)) {
    const Reading::Step step(reading, "spec");
    const auto [dataset] = pick<1>(*fields, {string_view("dataset")}, reading);
    if (const auto target = object(dataset, reading)) {
      const Reading::Step in_dataset(reading, dataset.name);
      const auto [ns, name] = pick<2>(*target, {string_view("namespace"), "name"}, reading);
      load.dataset = {std::string(text(ns, reading)), std::string(text(name, reading))};
      if (load.dataset.ns.empty()) load.dataset.ns = load.ns;
    }
  }
  if (const auto fields = object(status, reading)) {
    const Reading::Step step(reading, "status");
    const auto [phase] = pick<1>(*fields, {string_view("phase")}, reading);
    load.running = text(phase, reading) == "Executing";
  }
}

}  // namespace berth::codec
