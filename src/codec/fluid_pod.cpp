#include "fluid_pod.h"

#include <algorithm>
#include <array>
#include <limits>

#include "berth/core/text.h"

namespace berth::codec {
namespace {

using model::CacheRole;
using std::string_view;

// More than any pod has; what a hostile one has beyond is not looked at.
constexpr std::size_t kMostDatasets = 64;

constexpr std::array<string_view, 7> kEngines = {"alluxio", "juicefs", "jindofs", "goosefs", "efc", "thin", "vineyard"};

struct Role {
  string_view engine;
  CacheRole role;
};

// "alluxio-worker" and so on; other charts use the label too.
std::optional<Role> parse_role(string_view label) {
  const auto dash = label.rfind('-');
  if (dash == string_view::npos) return std::nullopt;
  const string_view engine = label.substr(0, dash);
  const string_view part = label.substr(dash + 1);
  if (std::find(kEngines.begin(), kEngines.end(), engine) == kEngines.end()) return std::nullopt;
  if (part == "worker") return Role{engine, CacheRole::kWorker};
  if (part == "master") return Role{engine, CacheRole::kMaster};
  if (part == "fuse") return Role{engine, CacheRole::kFuse};
  return std::nullopt;
}

// Of "NAME-worker-3" or "NAME-jindofs-worker-3"; empty if the pod is named otherwise.
string_view dataset_in_name(string_view pod_name) {
  constexpr string_view kWorker = "-worker";
  constexpr string_view kJindo = "-jindofs";
  const auto last = pod_name.find_last_not_of("0123456789");
  if (last == string_view::npos || last + 1 == pod_name.size() || pod_name[last] != '-') return {};
  string_view name = pod_name.substr(0, last);
  if (!name.ends_with(kWorker)) return {};
  name.remove_suffix(kWorker.size());
  if (name.ends_with(kJindo)) name.remove_suffix(kJindo.size());
  return name;
}

void read_required(model::Pod& pod, string_view key, simdjson::dom::element value) {
  constexpr string_view kPrefix = "fluid.io/dataset.";
  constexpr string_view kSuffix = ".sched";
  if (!key.starts_with(kPrefix) || !key.ends_with(kSuffix) || key.size() <= kPrefix.size() + kSuffix.size()) return;
  string_view written;
  if (value.get(written) != simdjson::SUCCESS || written != "required") return;
  const string_view claim = key.substr(kPrefix.size(), key.size() - kPrefix.size() - kSuffix.size());
  if (core::is_name(claim) && pod.required_claims.size() < kMostDatasets) pod.required_claims.emplace_back(claim);
}

// Whether one of the objects of a list has this name; `with` gets it.
template <class With>
void find_named(const Field& list, string_view name, Reading& reading, With with) {
  const auto items = array(list, reading);
  if (!items) return;
  const Reading::Step in_list(reading, list.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    const auto fields = item_object(item, reading);
    if (!fields) return;
    const auto [found] = pick<1>(*fields, {string_view("name")}, reading);
    if (text(found, reading) == name) return with(*fields);
  }
}

}  // namespace

FluidPod read_labels(model::Pod& pod, simdjson::dom::object labels, Reading& reading) {
  const Reading::Step step(reading, "labels");
  const auto [role_label, release, dataset, runtime_name, component] =
      pick<5>(labels,
              {string_view("role"), "release", "fluid.io/dataset", "cacheruntime.fluid.io/name",
               "cacheruntime.fluid.io/component-name"},
              reading);
  for (const auto& [key, value] : labels) read_required(pod, key, value);

  const auto role = parse_role(text(role_label, reading));
  const string_view cache_runtime = text(runtime_name, reading);
  const string_view part = text(component, reading);
  // Fluid puts the label `dataset` on workers alone.
  const bool worker = dataset.given || (!cache_runtime.empty() && part.starts_with(cache_runtime) &&
                                        part.substr(cache_runtime.size()) == "-worker");
  if (!role && !worker) return {};
  string_view name = text(release, reading);
  if (name.empty()) name = cache_runtime;
  if (name.empty()) name = dataset_in_name(pod.name);
  if (name.empty()) return {};
  pod.cache.emplace();
  pod.cache->role = worker ? CacheRole::kWorker : role->role;
  pod.cache->dataset = name;
  return {role ? role->engine : string_view()};
}

void read_datasets_in_use(model::Pod& pod, string_view names) {
  while (!names.empty() && pod.datasets_in_use.size() < kMostDatasets) {
    const auto comma = names.find(',');
    const string_view name = core::trimmed(names.substr(0, comma));
    const auto& known = pod.datasets_in_use;
    if (core::is_name(name) && std::find(known.begin(), known.end(), name) == known.end()) {
      pod.datasets_in_use.emplace_back(name);
    }
    names = comma == string_view::npos ? string_view() : names.substr(comma + 1);
  }
}

void look_at(model::CachePod& cache, const FluidPod& fluid, const Container& container, Reading& reading) {
  if (fluid.engine == "juicefs") {
    // The community edition has no label of its own. It reads METAURL from a secret and serves metrics.
    const auto own = [&cache](simdjson::dom::object) { cache.own_cache = true; };
    find_named(container.env, "METAURL", reading, own);
    find_named(container.ports, "metrics", reading, own);
  }
  if (fluid.engine == "alluxio" && cache.role == CacheRole::kMaster && container.name == "alluxio-master") {
    find_named(container.ports, "web", reading, [&](simdjson::dom::object port) {
      const auto [at] = pick<1>(port, {string_view("containerPort")}, reading);
      cache.web_port = static_cast<std::uint16_t>(number(at, 1, std::numeric_limits<std::uint16_t>::max(), reading));
    });
  }
}

}  // namespace berth::codec
