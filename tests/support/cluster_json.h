// Kubernetes objects and ExtenderArgs as JSON text, for tests of the whole program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace berth::tests {

inline nlohmann::json node_json(const std::string& name, int gpus = 8, const std::vector<std::string>& datasets = {}) {
  nlohmann::json labels = {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"}, {"nvidia.com/gpu.memory", "81559"}};
  for (const auto& dataset : datasets) labels["fluid.io/s-" + dataset] = "true";
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"uid", "node-" + name}, {"labels", labels}}},
          {"status", {{"allocatable", {{"cpu", "96"}, {"nvidia.com/gpu", std::to_string(gpus)}}}}}};
}

// `node` empty: unbound.
inline nlohmann::json pod_json(const std::string& name, int gpus, const std::string& node = {},
                               const nlohmann::json& annotations = nlohmann::json::object()) {
  nlohmann::json pod = {{"apiVersion", "v1"},
                        {"kind", "Pod"},
                        {"metadata",
                         {{"namespace", "team"},
                          {"name", name},
                          {"uid", "pod-" + name},
                          {"creationTimestamp", "2026-11-01T00:00:00Z"},
                          {"annotations", annotations}}},
                        {"spec", {{"containers", nlohmann::json::array({{{"name", "main"}}})}}},
                        {"status", {{"phase", node.empty() ? "Pending" : "Running"}}}};
  if (gpus > 0) pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = std::to_string(gpus);
  if (!node.empty()) pod["spec"]["nodeName"] = node;
  return pod;
}

inline std::string list_json(const std::vector<nlohmann::json>& items) {
  return nlohmann::json({{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}}).dump();
}

// As kube-scheduler sends it with nodeCacheCapable: true.
inline std::string names_args(const nlohmann::json& pod, const std::vector<std::string>& names) {
  return nlohmann::json({{"Pod", pod}, {"Nodes", nullptr}, {"NodeNames", names}}).dump();
}

// As kube-scheduler sends it with nodeCacheCapable: false.
inline std::string nodes_args(const nlohmann::json& pod, const std::vector<nlohmann::json>& nodes) {
  return nlohmann::json({{"Pod", pod},
                         {"Nodes", {{"metadata", nlohmann::json::object()}, {"items", nodes}}},
                         {"NodeNames", nullptr}})
      .dump();
}

}  // namespace berth::tests
