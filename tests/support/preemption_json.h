// ExtenderPreemptionArgs as JSON text.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace berth::tests {

using UidsByNode = std::map<std::string, std::vector<std::string>>;

// As kube-scheduler sends it with nodeCacheCapable: true.
inline std::string preemption_args(const nlohmann::json& pod, const UidsByNode& victims) {
  nlohmann::json nodes = nlohmann::json::object();
  for (const auto& [node, uids] : victims) {
    nlohmann::json pods = nlohmann::json::array();
    for (const std::string& uid : uids) pods.push_back({{"UID", uid}});
    nodes[node] = {{"Pods", pods}, {"NumPDBViolations", 0}};
  }
  return nlohmann::json({{"Pod", pod}, {"NodeNameToVictims", nullptr}, {"NodeNameToMetaVictims", nodes}}).dump();
}

// The victims of an answer.
inline UidsByNode answered_victims(const std::string& body) {
  UidsByNode victims;
  const nlohmann::json answer = nlohmann::json::parse(body);
  for (const auto& [node, told] : answer.at("NodeNameToMetaVictims").items()) {
    auto& uids = victims[node];
    for (const auto& pod : told.at("Pods")) uids.push_back(pod.at("UID"));
  }
  return victims;
}

}  // namespace berth::tests
