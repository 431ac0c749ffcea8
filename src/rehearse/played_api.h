// The API server of a rehearsal: nodes, pods and SchedulingPolicies of a workload.
//
// Thread-safe. Pods are known by the number of their arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/codec/api_server_json.h"
#include "berth/core/result.h"
#include "berth/kube/watch_server.h"
#include "berth/simulate/trace.h"

namespace berth::rehearse {

inline constexpr std::string_view kNamespace = "simulated";
std::string pod_name(std::size_t arrival);
std::string pod_uid(std::size_t arrival);

class PlayedApi {
 public:
  // The workload must outlive it.
  PlayedApi(const simulate::Workload& workload, bool islands);

  core::Result<std::uint16_t> start() { return server_.start(); }

  // A pod that waits. Returns its JSON.
  std::string add(std::size_t arrival, const simulate::Task& task);
  void remove(std::size_t arrival);
  // As it is now; nullopt if it was removed.
  [[nodiscard]] std::optional<codec::PodObject> pod(std::size_t arrival) const;

 private:
  kube::ServedAnswer answer(const kube::ServedRequest& request);
  kube::ServedAnswer answer_pod(const kube::ServedRequest& request, std::string_view rest);
  kube::ServedAnswer bind(codec::PodObject& pod, std::string_view body);
  [[nodiscard]] std::string list_pods(std::string_view target) const;
  // With the mutex held.
  void publish(std::string_view type, const codec::PodObject& pod);

  const simulate::Workload& workload_;
  std::vector<std::string> nodes_;     // JSON
  std::vector<std::string> policies_;  // JSON
  std::vector<std::string> policy_of_kind_;
  mutable std::mutex mutex_;
  std::uint64_t version_;
  std::map<std::size_t, codec::PodObject> pods_;
  // Last: its threads end before all else.
  kube::WatchServer server_;
};

}  // namespace berth::rehearse
