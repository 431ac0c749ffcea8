#include "served_groups.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "berth/codec/kubernetes_objects.h"
#include "machine_kinds.h"
#include "object_kinds.h"
#include "object_target.h"

namespace berth::sources {
namespace {

// Makes a row for kinds of one source.
class Rows {
 public:
  Rows(const ApiSourceOptions& options, model::UpdateSink& sink) : resources_(options.resources), sink_(sink) {}

  template <class Kind>
  ServedKind operator()(const std::string& resource, const Kind& kind, const ListHooks& hooks = {}) const {
    return {.resource = resource,
            .target = [kind, hooks, resources = resources_,
                       sink = &sink_] { return std::make_unique<ObjectTarget<Kind>>(kind, resources, *sink, hooks); },
            .none = [empty = kind]() mutable { return empty.all({}); }};
  }

 private:
  model::ResourceNames resources_;
  model::UpdateSink& sink_;
};

// FluidServed{true} comes with the first list of Datasets, so that node labels keep telling of datasets for as long as
// the objects can't be read. (Group version and resource names: config/crd/bases of fluid-cloudnative/fluid, 0.9 to
// 1.0.8.)
ServedGroup fluid(const Rows& row, model::UpdateSink& sink, FirstLists& first_lists) {
  const auto listed = [&first_lists] { first_lists.note(FirstLists::What::kDatasets); };
  const ListHooks hooks{.before = [&sink] { sink.push(model::FluidServed{true}); }, .after = listed};
  ServedGroup group{.name = "data.fluid.io", .versions = {"v1alpha1"}, .kinds = {}};
  group.kinds = {row("datasets", DatasetKind{}, hooks), row("dataloads", DataLoadKind{})};
  for (const codec::RuntimeKind& runtime : codec::runtime_kinds()) {
    group.kinds.push_back(row(std::string(runtime.resource), RuntimeKind{std::string(runtime.type)}));
  }
  group.absent = [&sink, listed] {
    spdlog::info("data.fluid.io: Fluid is not installed, or gone; datasets are known by node labels alone");
    sink.push(model::FluidServed{false});
    listed();
  };
  return group;
}

// (deploy/crds/schedulingpolicies.yaml.)
ServedGroup policies(const Rows& row, FirstLists& first_lists) {
  const auto listed = [&first_lists] { first_lists.note(FirstLists::What::kPolicies); };
  ServedGroup group{.name = "berth.io", .versions = {"v1alpha1"}, .kinds = {}, .absent = listed};
  group.kinds = {row("schedulingpolicies", PolicyKind{}, {.before = {}, .after = listed})};
  return group;
}

}  // namespace

std::vector<ServedGroup> served_groups(const ApiSourceOptions& options, model::UpdateSink& sink,
                                       FirstLists& first_lists) {
  const Rows row(options, sink);
  std::vector<ServedGroup> groups;
  const auto add = [&groups](std::string name, std::vector<std::string> versions, ServedKind kind) {
    groups.push_back({.name = std::move(name), .versions = std::move(versions), .kinds = {std::move(kind)}});
  };
  groups.push_back(fluid(row, sink, first_lists));
  groups.push_back(policies(row, first_lists));
  add("scheduling.koordinator.sh", {"v1alpha1"}, row("devices", KoordinatorKind{}));
  add("topology.node.k8s.io", {"v1alpha2", "v1alpha1"}, row("noderesourcetopologies", NumaTopologyKind{}));
  add("resource.k8s.io", {"v1", "v1beta2", "v1beta1"}, row("resourceslices", ResourceSliceKind{}));
  if (options.budgets) add("policy", {"v1"}, row("poddisruptionbudgets", BudgetKind{}));
  return groups;
}

}  // namespace berth::sources
