#include "berth/codec/cluster_dump.h"

#include <optional>

#include "object_reader.h"

namespace berth::codec {
namespace {

using std::string_view;

std::vector<model::Node>& of_kind(ClusterDump& dump, const model::Node*) { return dump.nodes; }
std::vector<model::Pod>& of_kind(ClusterDump& dump, const model::Pod*) { return dump.pods; }
std::vector<model::Claim>& of_kind(ClusterDump& dump, const model::Claim*) { return dump.claims; }
std::vector<model::Dataset>& of_kind(ClusterDump& dump, const model::Dataset*) { return dump.datasets; }
std::vector<model::CacheRuntime>& of_kind(ClusterDump& dump, const model::CacheRuntime*) { return dump.runtimes; }
std::vector<model::DataLoad>& of_kind(ClusterDump& dump, const model::DataLoad*) { return dump.data_loads; }
std::vector<model::DisruptionBudget>& of_kind(ClusterDump& dump, const model::DisruptionBudget*) {
  return dump.budgets;
}
std::vector<KoordinatorDevice>& of_kind(ClusterDump& dump, const KoordinatorDevice*) { return dump.devices; }
std::vector<NumaTopology>& of_kind(ClusterDump& dump, const NumaTopology*) { return dump.topologies; }
std::vector<ResourceSlice>& of_kind(ClusterDump& dump, const ResourceSlice*) { return dump.slices; }
std::vector<model::SchedulingPolicy>& of_kind(ClusterDump& dump, const model::SchedulingPolicy*) {
  return dump.policies;
}

// Other API groups have Nodes too.
template <class T>
bool is_object(string_view kind, string_view version) {
  return is_kind<T>(kind) && (version.empty() || Kind<T>::in_group(version));
}

// Runs `with`(const T*) for the kind that is named; false if it is none of ours.
template <class With, class... T>
bool with_kind(string_view kind, string_view version, With with, Kinds<T...>) {
  return ((is_object<T>(kind, version) && (with(static_cast<const T*>(nullptr)), true)) || ...);
}

// What tells the kind of a list's items, where they don't.
struct Origin {
  string_view kind;
  string_view version;
};

std::optional<core::Error> add_item(ClusterDump& dump, simdjson::dom::element item, Origin list, std::size_t index,
                                    const model::ResourceNames& resources, PassedOver& passed_over) {
  Reading reading;
  const Reading::Step in_items(reading, "items");
  const Reading::Step in_item(reading, index);
  const auto json = item_object(item, reading);
  if (!json) return reading.error();
  const auto [kind_field, version_field] = pick<2>(*json, {string_view("kind"), "apiVersion"}, reading);
  string_view version = text(version_field, reading);
  string_view kind = text(kind_field, reading);
  if (kind.empty()) kind = list.kind;
  if (kind.empty()) reading.fail("is missing", "kind");
  if (version.empty()) version = list.version;
  if (reading.failed()) return reading.error();
  std::optional<core::Error> error;
  const auto add = [&]<class T>(const T* which) {
    auto object = read_item<T>(item, kind, index, resources, passed_over);
    if (object) of_kind(dump, which).push_back(std::move(*object));
    if (!object) error = object.error();
  };
  if (!with_kind(kind, version, add, AllKinds())) ++dump.skipped;
  return error;
}

}  // namespace

core::Result<ClusterDump> ObjectReader::read_cluster_dump(std::string& json) {
  const auto root = parse_object(state_->document, json);
  if (!root) {
    core::Error error = root.error();
    error.message += " (a cluster file is what kubectl get ... -o json prints)";
    return tl::unexpected(std::move(error));
  }
  Reading reading;
  const auto [kind_field, version_field, items] = pick<3>(*root, {string_view("kind"), "apiVersion", "items"}, reading);
  const string_view kind = text(kind_field, reading);
  const string_view version = text(version_field, reading);
  ClusterDump dump;
  PassedOver passed_over;
  const bool single = with_kind(
      kind, version,
      [&]<class T>(const T* which) {
        T& object = of_kind(dump, which).emplace_back();
        read_object(object, *root, {}, state_->resources, reading);
        passed_over.note(object, reading);
      },
      AllKinds());
  const string_view item_kind = kind_of_items(kind);
  const bool mixed = kind == "List";
  const bool known = single || mixed || with_kind(item_kind, version, [](const auto*) {}, AllKinds());
  if (!known) {
    reading.fail((kind.empty() ? "is missing" : "is " + std::string(kind.substr(0, 64))) +
                     ": a cluster file holds a List of nodes, pods, claims, datasets and so on, or one of these",
                 "kind");
  }
  const auto list = single ? std::nullopt : array(items, reading);
  if (reading.failed()) return tl::unexpected(reading.error());
  if (list) {
    const Origin origin = mixed ? Origin{} : Origin{item_kind, version};
    std::size_t index = 0;
    for (const simdjson::dom::element item : *list) {
      if (auto error = add_item(dump, item, origin, index++, state_->resources, passed_over)) {
        return tl::unexpected(std::move(*error));
      }
    }
  }
  dump.broken = passed_over.objects;
  dump.first_broken_why = std::move(passed_over.first_why);
  dump.fluid_served = !dump.datasets.empty() || is_object<model::Dataset>(item_kind, version);
  return dump;
}

void push_dump(ClusterDump dump, model::UpdateSink& sink) {
  sink.push(model::AllNodes{std::move(dump.nodes)});
  sink.push(all_machines(std::move(dump.devices)));
  sink.push(all_machines(std::move(dump.topologies)));
  sink.push(all_machines(dump.slices));
  sink.push(model::AllClaims{std::move(dump.claims)});
  sink.push(model::AllDatasets{std::move(dump.datasets)});
  for (const RuntimeKind& kind : runtime_kinds()) {
    model::AllRuntimes all{std::string(kind.type), {}};
    for (const model::CacheRuntime& runtime : dump.runtimes) {
      if (runtime.type == kind.type) all.runtimes.push_back(runtime);
    }
    sink.push(std::move(all));
  }
  sink.push(model::AllDataLoads{std::move(dump.data_loads)});
  sink.push(model::AllBudgets{std::move(dump.budgets)});
  sink.push(model::AllPolicies{std::move(dump.policies)});
  sink.push(model::AllPods{std::move(dump.pods)});
  sink.push(model::FluidServed{dump.fluid_served});
  sink.push(model::DataListed{});
}

}  // namespace berth::codec
