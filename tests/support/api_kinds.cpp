#include "support/api_kinds.h"

#include <map>
#include <nlohmann/json.hpp>

namespace berth::testing {

using nlohmann::json;

std::string kind_of(const std::string& path) {
  static const std::map<std::string, std::string> kKinds{{"nodes", "Node"},
                                                         {"pods", "Pod"},
                                                         {"persistentvolumeclaims", "PersistentVolumeClaim"},
                                                         {"datasets", "Dataset"},
                                                         {"databackups", "DataBackup"},
                                                         {"dataloads", "DataLoad"},
                                                         {"alluxioruntimes", "AlluxioRuntime"},
                                                         {"juicefsruntimes", "JuiceFSRuntime"},
                                                         {"jindoruntimes", "JindoRuntime"},
                                                         {"goosefsruntimes", "GooseFSRuntime"},
                                                         {"efcruntimes", "EFCRuntime"},
                                                         {"thinruntimes", "ThinRuntime"},
                                                         {"vineyardruntimes", "VineyardRuntime"},
                                                         {"devices", "Device"},
                                                         {"noderesourcetopologies", "NodeResourceTopology"},
                                                         {"resourceslices", "ResourceSlice"},
                                                         {"poddisruptionbudgets", "PodDisruptionBudget"},
                                                         {"schedulingpolicies", "SchedulingPolicy"}};
  return kKinds.at(path.substr(path.rfind('/') + 1));
}

std::string resource_list(const std::string& group_version, const std::set<std::string>& collections) {
  json resources = json::array();
  for (const std::string& name : collections) {
    const json verbs = {"get", "list", "watch"};
    const std::string kind = kind_of(name);
    resources.push_back({{"name", name}, {"namespaced", true}, {"kind", kind}, {"verbs", verbs}});
    resources.push_back({{"name", name + "/status"}, {"namespaced", true}, {"kind", kind}, {"verbs", {"get"}}});
  }
  return json{
      {"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", group_version}, {"resources", resources}}
      .dump();
}

json make_node(const std::string& name, int gpus) {
  return {{"kind", "Node"},
          {"apiVersion", "v1"},
          {"metadata", {{"name", name}, {"uid", "uid-" + name}}},
          {"status", {{"allocatable", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}};
}

json make_pod(const std::string& ns, const std::string& name, int gpus, const std::string& node) {
  const json limits = {{"limits", {{"nvidia.com/gpu", std::to_string(gpus)}}},
                       {"requests", {{"nvidia.com/gpu", std::to_string(gpus)}}}};
  json pod = {
      {"kind", "Pod"},
      {"apiVersion", "v1"},
      {"metadata",
       {{"name", name}, {"namespace", ns}, {"uid", "uid-" + name}, {"creationTimestamp", "2026-11-29T16:00:00Z"}}},
      {"spec", {{"containers", json::array({{{"name", "main"}, {"resources", limits}}})}}},
      {"status", {{"phase", node.empty() ? "Pending" : "Running"}}}};
  if (!node.empty()) pod["spec"]["nodeName"] = node;
  return pod;
}

}  // namespace berth::testing
